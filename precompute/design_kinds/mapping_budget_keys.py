"""The keys of what is kept: the budgets of a step, and how repeats are treated."""

from dataclasses import dataclass

from agent.formats.documents import Section, positive
from agent.formats.errors import FormatError
from agent.formats.quantities import parse_duration
from precompute.design_kinds import mapping_values as values
from precompute.mapping.solution import Architecture, Budgets

DEFAULT_CHAIN_SMOOTHING = 0.05


@dataclass(frozen=True, slots=True)
class Repeats:
    """``memoise_seconds``, or alpha of the account and the smoothing of its chains."""

    memoise_seconds: float | None
    alpha: float | None
    smoothing: float


def read_budgets(section: Section, architecture: Architecture, repeats: Repeats) -> Budgets:
    """The section ``protect``; an account makes the local budget needless.

    Raises:
        FormatError: unknown, missing, of the wrong type, or that does not fit the rest.
    """
    found = {}
    for key in ("information", "local"):
        needed = architecture not in ("local", "information") or architecture == key
        if key == "local" and repeats.alpha is not None:
            needed = False  # the account gives one
        if section.has(key):
            found[key] = section.take(key, values.nats)
        elif needed:
            raise FormatError(
                f"{section.where}: the key {key!r} is missing; architecture {architecture} needs "
                "it, in nats, for example {information: 0.2, local: 1.0}"
            )
    section.close()
    return Budgets(**found)


def read_repeats(
    section: Section, step_seconds: float, *, by_joint: bool, architecture: Architecture
) -> Repeats:
    """``memoise`` or ``account``, exactly one of them.

    Raises:
        FormatError: unknown, missing, of the wrong type, or that does not fit the rest.
    """
    if section.has("memoise") == section.has("account"):
        found = "both" if section.has("memoise") else "neither"
        raise FormatError(
            f"{section.where}: found {found} of memoise and account; expected one: memoise: 1 d "
            "(the same symbol for a cell all day) or account: {alpha: 2} (fresh ones, counted)"
        )
    if section.has("memoise"):
        period = section.take("memoise", parse_duration)
        steps = period / step_seconds
        if steps < 1 or abs(steps - round(steps)) > 1e-9 * steps:
            raise section.fail("memoise", f"found {steps:g} steps; expected a whole number of them")
        return Repeats(period, None, 0.0)
    account = section.section("account")
    if by_joint:
        raise section.fail(
            "account", "a stated joint says nothing about repeats; use memoise, or a log"
        )
    if architecture == "information":
        raise section.fail(
            "account",
            "architecture information bounds nothing about single readings, so that no account "
            "can be kept; use memoise, or direct",
        )
    repeats = Repeats(
        None,
        account.take("alpha", positive),
        account.take_or("smoothing", positive, DEFAULT_CHAIN_SMOOTHING),
    )
    account.close()
    return repeats
