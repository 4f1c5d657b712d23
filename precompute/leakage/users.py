"""Several people: the files of each, what a common mechanism leaks about them, and their budgets.

A population's leakage is the largest over its people. Personalised budgets give each their own
plan; one release for all takes the least budget of each step, which keeps everybody's limit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from precompute.leakage.allocation import (
    allocate_personalised,
    allocate_unknown_horizon,
    common_budgets,
)
from precompute.leakage.errors import LeakageError
from precompute.leakage.matrix_files import read_matrix_file
from precompute.leakage.matrix_heads import require_same_chain
from precompute.leakage.quantification import (
    Adversary,
    Leakage,
    Suprema,
    quantify,
    quantify_suprema,
    worst_of_users,
)

MAX_USERS = 1000


@dataclass(frozen=True, slots=True)
class UserFiles:
    """A name for the output and the files of a person's matrices; at least one is given."""

    name: str
    backward: Path | None
    forward: Path | None

    @property
    def paths(self) -> tuple[Path, ...]:
        """Those that are given."""
        return tuple(path for path in (self.backward, self.forward) if path is not None)


def parse_users(words: Sequence[str]) -> tuple[UserFiles, ...]:
    """``NAME=BACKWARD[,FORWARD]`` each; ``NAME=,FORWARD`` for the forward matrix alone.

    Raises:
        LeakageError: another form, a name twice, or too many.
    """
    users: dict[str, UserFiles] = {}
    for word in words:
        name, equals, files = word.partition("=")
        backward, _, forward = files.partition(",")
        if not (name.strip() and name.isprintable() and equals and (backward or forward)):
            raise LeakageError(
                f"--user: found {word!a}; expected NAME=BACKWARD.csv, "
                "NAME=BACKWARD.csv,FORWARD.csv or NAME=,FORWARD.csv"
            )
        if "," in forward:
            raise LeakageError(
                f"--user: found {files.count(',') + 1} files for {name!a}; expected one or two, "
                "backward first; rename files that have a comma in their name"
            )
        if name in users:
            raise LeakageError(
                f"--user: found the name {name!a} twice; expected a different name for each: "
                "give both files in one --user"
            )
        users[name] = UserFiles(
            name, Path(backward) if backward else None, Path(forward) if forward else None
        )
    if len(users) > MAX_USERS:
        raise LeakageError(f"--user: found {len(users)}; expected at most {MAX_USERS}")
    return tuple(users.values())


def parse_limits(words: Sequence[str], names: Sequence[str], alpha: float) -> dict[str, float]:
    """Everybody's limit: ``alpha``, or what ``NAME=ALPHA`` says.

    Raises:
        LeakageError: another form, or a name that no user has.
    """
    limits = dict.fromkeys(names, alpha)
    for word in words:
        name, _, amount = word.partition("=")
        if name not in limits:
            raise LeakageError(
                f"--user-alpha: found {word!a}; expected NAME=ALPHA with the name of a --user"
            )
        try:
            limits[name] = float(amount)
        except ValueError:
            raise LeakageError(
                f"--user-alpha: found {word!a}; expected a number after the name, in nats"
            ) from None
    return limits


def read_adversary(
    backward: Path | None, forward: Path | None
) -> tuple[Adversary, tuple[str, ...]]:
    """The observer who knows the matrices of these files, and notes on reading them.

    Raises:
        FormatError: a file cannot be read.
        LeakageError: no file, not a matrix, or files that disagree (matrix_heads).
    """
    before = None if backward is None else read_matrix_file(backward, "backward")
    after = None if forward is None else read_matrix_file(forward, "forward")
    files = [file for file in (before, after) if file is not None]
    require_same_chain(files)
    notes = tuple(f"{file.path}: {note}" for file in files for note in file.matrix.notes)
    observer = Adversary.knowing(
        None if before is None else before.matrix, None if after is None else after.matrix
    )
    return observer, notes


def worst_over(
    leakages: Mapping[str, Leakage], suprema: Mapping[str, Suprema | None]
) -> dict[str, Any]:
    """JSON values: TPL of the mechanism at each release, its largest, whose that is, its supremum.

    ``unbounded`` is null where the budgets are not constant, so that nobody has suprema.
    """
    worst = max(leakages, key=lambda name: leakages[name].worst)
    known = [found for found in suprema.values() if found is not None]
    totals = [found.total for found in known if found.total is not None]
    return {
        "tpl": list(worst_of_users(list(leakages.values()))),
        "worst_tpl": leakages[worst].worst,
        "worst_user": worst,
        "supremum": max(totals) if totals and len(totals) == len(suprema) else None,
        "unbounded": len(totals) < len(known) if known else None,
    }


def allocate_for_users(
    observers: Mapping[str, Adversary], limits: Mapping[str, float], steps: int | None
) -> dict[str, Any]:
    """JSON values: each person's own plan, and the one plan that keeps everybody's limit.

    Without ``steps`` a plan is one budget for every release, and ``tpl`` its supremum.

    Raises:
        LeakageError: a limit that cannot be met.
    """
    names = list(observers)
    plans: tuple[tuple[float, ...], ...]
    if steps is None:
        plans = tuple((allocate_unknown_horizon(observers[n], limits[n]),) for n in names)
    else:
        plans = allocate_personalised(
            list(observers.values()), [limits[name] for name in names], steps
        )
    common = common_budgets(plans)
    together = [_leaks(observers[name], common, steps) for name in names]
    return {
        "horizon": steps,
        "users": {
            name: {
                "alpha": limits[name],
                "epsilons": list(plan),
                "tpl": _leaks(observers[name], plan, steps),
            }
            for name, plan in zip(names, plans, strict=True)
        },
        "epsilons": list(common),
        "tpl": [max(values) for values in zip(*together, strict=True)],
        "meaning": "users: budgets of each; epsilons: one plan for all, tpl its largest leakage",
    }


def _leaks(observer: Adversary, budgets: Sequence[float], steps: int | None) -> list[float]:
    if steps is not None:
        return list(quantify(observer, budgets).tpl)
    total = quantify_suprema(observer, budgets[0]).total
    assert total is not None  # a budget within a steady one has a supremum
    return [total]
