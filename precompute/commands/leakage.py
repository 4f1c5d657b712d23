"""``sfumato leakage quantify | allocate | learn``: what repeated releases leak together."""

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from precompute.commands.leakage_learn import learn_matrix

if TYPE_CHECKING:
    from precompute.leakage.quantification import Adversary, Leakage, Suprema

HELP = "what repeated releases leak when the state is a Markov chain, and budgets that bound it"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Three subcommands."""
    commands = parser.add_subparsers(dest="action", metavar="ACTION", required=True)

    quantify = commands.add_parser("quantify", help="leakage of each release of a sequence")
    _add_matrices(quantify)
    budgets = quantify.add_mutually_exclusive_group(required=True)
    budgets.add_argument("--epsilon", type=float, help="budget of every release (with --steps)")
    budgets.add_argument("--epsilons", type=Path, metavar="FILE", help="a file of budgets")
    quantify.add_argument("--steps", type=int, help="number of releases with --epsilon")
    quantify.add_argument("--window", type=int, metavar="W", help="also the w-event leakage")
    _add_outputs(quantify)

    allocate = commands.add_parser("allocate", help="budgets that keep the leakage within a limit")
    allocate.add_argument("--alpha", type=float, required=True, help="limit of TPL, nats")
    _add_matrices(allocate)
    allocate.add_argument(
        "--user-alpha",
        action="append",
        default=[],
        metavar="NAME=ALPHA",
        help="a limit of that user's own, instead of --alpha",
    )
    allocate.add_argument("--steps", type=int, help="number of releases; for ever when not given")
    _add_outputs(allocate)

    learn = commands.add_parser("learn", help="a transition matrix from traces or state logs")
    learn.add_argument("inputs", nargs="+", type=Path, metavar="TRACE", help="traces of one person")
    learn.add_argument("--cell", help="side of a region, for example 1km; for traces")
    learn.add_argument("--states", action="store_true", help="the inputs are logs of states")
    learn.add_argument("--step", default="10 min", help="time between releases (10 min)")
    learn.add_argument("--hold", help="how long the last fix stands in for a missing one")
    learn.add_argument("--smoothing", type=float, default=0.05, help="added to counts (0.05)")
    learn.add_argument("--most-states", type=int, default=100, help="others are 'elsewhere' (100)")
    learn.add_argument("--repair", action="store_true", help="drop rows that cannot be used")
    learn.add_argument("-o", "--output", type=Path, required=True, help="forward matrix, CSV")
    learn.add_argument("--backward", type=Path, help="also write the backward matrix")
    learn.add_argument("--json", action="store_true", help="one JSON object on stdout")


def run(arguments: argparse.Namespace) -> int:
    """Dispatch to the action."""
    actions = {"quantify": _quantify, "allocate": _allocate, "learn": learn_matrix}
    return actions[arguments.action](arguments)


def _add_matrices(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--backward", type=Path, metavar="P.csv", help="Pr(before | now)")
    parser.add_argument("--forward", type=Path, metavar="P.csv", help="Pr(next | now)")
    parser.add_argument(
        "--user",
        action="append",
        default=[],
        metavar="NAME=BACKWARD[,FORWARD]",
        help="one of several people, instead of --backward and --forward; may be repeated",
    )


def _add_outputs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="picture over time, .png or .svg")


def _observers(arguments: argparse.Namespace) -> dict[str, "Adversary"]:
    """The observer of each user, by name; of the only one, with the name "".

    Notes on the files go to stderr.
    """
    from precompute.leakage.errors import LeakageError
    from precompute.leakage.users import UserFiles, parse_users, read_adversary

    users = parse_users(arguments.user)
    if users and (arguments.backward is not None or arguments.forward is not None):
        raise LeakageError(
            "--user: found with --backward or --forward; expected one of the two forms: "
            "give everybody's files with --user"
        )
    if users and arguments.plot is not None:
        raise LeakageError(
            "--plot: found with --user; expected one person in a picture: "
            "give that person's files with --backward and --forward"
        )
    observers = {}
    for user in users or (UserFiles("", arguments.backward, arguments.forward),):
        observers[user.name], notes = read_adversary(user.backward, user.forward)
        for note in notes:
            print(note, file=sys.stderr)
    return observers


def _budgets(arguments: argparse.Namespace) -> tuple[float, ...]:
    from precompute.leakage.errors import LeakageError
    from precompute.leakage.matrix_files import read_budgets
    from precompute.leakage.quantification import MAX_RELEASES

    if arguments.epsilons is not None:
        if arguments.steps is not None:
            raise LeakageError("--steps belongs to --epsilon; the file already says how many")
        return read_budgets(arguments.epsilons)
    if arguments.steps is None:
        raise LeakageError(
            f"--epsilon: found {arguments.epsilon:g} without --steps; expected also the number of "
            "releases: add, for example, --steps 10"
        )
    if not 1 <= arguments.steps <= MAX_RELEASES:
        raise LeakageError(
            f"--steps: found {arguments.steps}; expected the number of releases, "
            f"1 to {MAX_RELEASES}"
        )
    return (arguments.epsilon,) * int(arguments.steps)


def _quantify(arguments: argparse.Namespace) -> int:
    from precompute.leakage.printed import amount, bound, release_table
    from precompute.leakage.quantification import quantify, quantify_suprema
    from precompute.leakage.users import worst_over

    _check_plot(arguments)
    budgets = _budgets(arguments)
    observers = _observers(arguments)
    leakages = {name: quantify(observer, budgets) for name, observer in observers.items()}
    constant = len(set(budgets)) == 1
    suprema = {
        name: quantify_suprema(observer, budgets[0]) if constant else None
        for name, observer in observers.items()
    }
    window = arguments.window
    if window is not None and window > len(budgets):
        print(
            f"--window {window}: there are only {len(budgets)} releases; "
            "shown is the leakage about all of them",
            file=sys.stderr,
        )
    reports = {
        name: _quantified(leakage, suprema[name], window) for name, leakage in leakages.items()
    }
    if arguments.plot is not None:
        from precompute.leakage.plots import plot_leakage

        plot_leakage(arguments.plot, leakages[""], suprema[""])
    together = {"epsilons": list(budgets), "users": reports} | worst_over(leakages, suprema)
    if arguments.json:
        report = together if arguments.user else reports[""]
        print(json.dumps(report, sort_keys=True, allow_nan=False))
        return 0
    for name, leakage in leakages.items():
        if arguments.user:
            print(f"user {name}")
        print("\n".join(release_table(leakage)))
        known = suprema[name]
        if known is None:
            print("suprema: only a constant budget has them")
        else:
            print(f"supremum of backward leakage: {bound(known.backward)}")
            print(f"supremum of forward leakage: {bound(known.forward)}")
            print(f"supremum of total leakage: {bound(known.total)}")
        if window is not None:
            among = f"any {window} successive" if window <= len(budgets) else f"all {len(budgets)}"
            print(f"leakage about {among} states: {amount(reports[name]['w_event'])}")
        print(f"leakage about all states together: {amount(reports[name]['user_level'])}")
    if arguments.user:
        print(
            f"worst over {len(leakages)} users: TPL {amount(together['worst_tpl'])}, "
            f"of user {together['worst_user']}"
        )
    return 0


def _quantified(
    leakage: "Leakage", suprema: "Suprema | None", window: int | None
) -> dict[str, Any]:
    """JSON values; null with ``unbounded: true`` for no finite bound, never an infinity."""
    from precompute.leakage.composition import user_level_leakage, w_event_leakage

    report: dict[str, Any] = {
        "epsilons": list(leakage.epsilons),
        "bpl": list(leakage.bpl),
        "fpl": list(leakage.fpl),
        "tpl": list(leakage.tpl),
        "worst_tpl": leakage.worst,
        "user_level": user_level_leakage(leakage),
        "supremum_backward": None if suprema is None else suprema.backward,
        "supremum_forward": None if suprema is None else suprema.forward,
        "supremum": None if suprema is None else suprema.total,
        "unbounded": None if suprema is None else suprema.total is None,
    }
    if window is not None:
        report["w_event"] = w_event_leakage(leakage, window)
    return report


def _allocate(arguments: argparse.Namespace) -> int:
    from precompute.leakage.allocation import allocate_known_horizon, steady_state
    from precompute.leakage.errors import LeakageError
    from precompute.leakage.printed import amount, release_table
    from precompute.leakage.quantification import quantify, quantify_suprema

    _check_plot(arguments)
    observers = _observers(arguments)
    if arguments.user:
        return _allocate_for_users(arguments, observers)
    if arguments.user_alpha:
        raise LeakageError("--user-alpha: found without --user; expected a user of that name")
    (adversary,) = observers.values()
    if arguments.steps is None:
        steady = steady_state(adversary, arguments.alpha)
        epsilons: tuple[float, ...] = (steady.epsilon,)
        suprema = quantify_suprema(adversary, steady.epsilon)
        report: dict[str, object] = {
            "alpha": arguments.alpha,
            "horizon": None,
            "epsilons": list(epsilons),
            "tpl": [suprema.total],
            "meaning": "one budget for every release, for ever; tpl is its supremum",
        }
    else:
        epsilons = allocate_known_horizon(adversary, arguments.alpha, arguments.steps)
        report = {
            "alpha": arguments.alpha,
            "horizon": arguments.steps,
            "epsilons": list(epsilons),
            "tpl": list(quantify(adversary, epsilons).tpl),
            "meaning": "one budget for each release; tpl is what each then leaks",
        }
    if arguments.plot is not None:
        from precompute.leakage.plots import plot_leakage

        shown = epsilons if arguments.steps is not None else epsilons * 100
        plot_leakage(arguments.plot, quantify(adversary, shown), limit=arguments.alpha)
    if arguments.json:
        print(json.dumps(report, sort_keys=True, allow_nan=False))
    elif arguments.steps is None:
        print(f"budget of every release, for ever: {amount(epsilons[0])}")
        print(f"then no release ever leaks more than {arguments.alpha:g} nats")
    else:
        print("\n".join(release_table(quantify(adversary, epsilons))))
    return 0


def _allocate_for_users(arguments: argparse.Namespace, observers: "Mapping[str, Adversary]") -> int:
    from precompute.leakage.printed import amount, plan_text
    from precompute.leakage.users import allocate_for_users, parse_limits

    limits = parse_limits(arguments.user_alpha, list(observers), arguments.alpha)
    report = allocate_for_users(observers, limits, arguments.steps) | {"alpha": arguments.alpha}
    if arguments.json:
        print(json.dumps(report, sort_keys=True, allow_nan=False))
        return 0
    often = "every release, for ever" if arguments.steps is None else "each release"
    print(f"personalised budgets of {often}")
    for name, plan in report["users"].items():
        print(
            f"  {name}: {plan_text(plan['epsilons'])}; TPL at most {amount(max(plan['tpl']))} of "
            f"{plan['alpha']:g}"
        )
    print(f"one plan for all, the least of them: {plan_text(report['epsilons'])}")
    print(f"worst over {len(limits)} users under that plan: TPL {amount(max(report['tpl']))}")
    return 0


def _check_plot(arguments: argparse.Namespace) -> None:
    if arguments.plot is not None:
        from precompute.leakage.plots import check_plot_path

        given = (arguments.backward, arguments.forward, getattr(arguments, "epsilons", None))
        check_plot_path(arguments.plot, [path for path in given if path is not None])
