"""What is refused before a design is searched for, and after."""

from precompute.mapping.errors import MappingError
from precompute.mapping.joint import Joint
from precompute.mapping.solution import Achieved, Architecture, Budgets, Options

# A design holds p(h, z) for every z, because the fusion centre decides by it.
MOST_OUTCOMES = 1 << 20
# What rounding may add to a budget.
EXCESS = 1e-9


def require_kept(reached: Achieved, budgets: Budgets, architecture: Architecture) -> None:
    """Fail closed: no design leaves here that exceeds what was asked."""
    pairs = []
    if architecture != "local":
        pairs.append(("information", reached.guarded, budgets.information))
    if architecture != "information":
        pairs.append(("local", max(reached.local), budgets.local))
    for name, found, asked in pairs:
        if found > asked + EXCESS:
            raise MappingError(
                f"mapping: the design found has the {name} budget {found:.12g}; expected at most "
                f"{asked:.12g}; this is a mistake of ours: report it, and ask for less meanwhile"
            )


def require_sizes(joint: Joint, options: Options) -> None:
    """Refuses sizes that no design can have."""
    for name in ("symbols", "middle"):
        if getattr(options, name) < 1:
            raise MappingError(f"options: {name} is {getattr(options, name)}; expected at least 1")
    outcomes = max(options.symbols, options.middle) ** len(joint.sizes)
    if outcomes > MOST_OUTCOMES:
        raise MappingError(
            f"mapping: {len(joint.sizes)} sensors would say {outcomes} different things together; "
            f"at most {MOST_OUTCOMES} can be listed and decided by; use fewer symbols, or design "
            "groups of sensors apart"
        )


def require_no_surrogate(joint: Joint, options: Options) -> None:
    """Regimes are guarded exactly or not at all: the stand-in compares values of G only."""
    symbols = max(options.symbols, options.middle)
    exact = options.constraint == "exact" or (
        options.constraint == "auto" and symbols ** len(joint.sizes) <= options.exact_outcomes
    )
    if joint.value_of is not None and not exact:
        raise MappingError(
            f"regimes: found {len(joint.sizes)} nodes with {symbols} symbols; expected at most "
            f"{options.exact_outcomes} outcomes together, all of which can be looked at; use fewer "
            "nodes or symbols, or leave regimes out"
        )
