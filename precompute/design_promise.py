"""What every design says, whatever its kind: the channel, what is protected, against whom.

    name: location
    axes: [east, north]            # default [value]
    unit: m                        # default m for east and north, else 1
    grid: 1 cm                     # step of release arithmetic; default 0.01 of the unit
    secret: {radius: 500 m}        # hypotheses about a secret differ by at most this
    segments: 1                    # independent pieces of noise that the promise covers
    prior: ...                     # see precompute.priors.prior_class

and one of

    protect: {epsilon: 1.0, delta: 1.0e-3}    # the noise follows; or {rho: 0.03}, whose delta
                                              # (default 1e-3) only states the epsilon it means;
                                              # a window takes a list, one rho a secret
    noise: {std: 200 m}                       # the promise follows; ``budget: {std: ...}`` too
    budget: {mse: 0.02}                       # noise variance of a reading on an axis, unit squared

The radius may stand inside ``protect`` instead. Where the noise is given and no radius is, the
promise is stated at the radius of one standard deviation.
"""

import math
from dataclasses import dataclass
from pathlib import Path

from agent.formats.designs import MAX_AXES, Guarantee
from agent.formats.documents import Section, count, list_of, number, positive, text
from agent.formats.errors import FormatError, shown
from agent.formats.quantities import parse_in_unit, parse_squared
from precompute.cip.accounting import (
    epsilon_at,
    information_for,
    radius_on_grid,
    rho_for,
    rho_from_information,
    rho_over_segments,
)
from precompute.errors import DesignError
from precompute.priors.prior_class import PriorClass, parse_prior

DEFAULT_DELTA = 1e-3
DEFAULT_GRID = 0.01
MAX_SEGMENTS = 1_000_000
# Beyond these nothing is promised, or nothing is published; and float64 holds all between.
MAX_EPSILON = 1e6
MIN_EPSILON = 1e-9
MIN_DELTA = 1e-100
# The device counts in grid steps, exactly up to 2^52: noise and value have to fit in.
MAX_STD_STEPS = 2.0**40
PLANE = ("east", "north")


@dataclass(frozen=True, slots=True)
class Promise:
    """The part that all kinds of design share. Exactly one of ``rho`` and ``power`` is given.

    Attributes:
        radius: unit; None when the noise is given without one.
        rho: loss per order that may be spent, all segments together; the largest of ``rhos``.
        rhos: the same for each secret of a window, in their order; empty: ``rho`` for each.
        power: noise variance of a reading on one axis, unit^2.
        delta: at which epsilon is stated.
    """

    name: str
    axes: tuple[str, ...]
    unit: str
    grid: float
    radius: float | None
    rho: float | None
    power: float | None
    segments: int
    delta: float
    prior: PriorClass
    rhos: tuple[float, ...] = ()

    @property
    def information_limit(self) -> float | None:
        """K (1/unit^2) at which ``rho`` is spent; None when the noise is given instead."""
        return None if self.rho is None else self._limit_for(self.rho)

    @property
    def information_limits(self) -> tuple[float, ...]:
        """K at which each of ``rhos`` is spent."""
        return tuple(self._limit_for(rho) for rho in self.rhos)

    def _limit_for(self, rho: float) -> float:
        assert self.radius is not None
        return information_for(rho / self.segments, self._radius_on_grid(self.radius))

    def guarantee(
        self,
        *,
        prior: tuple[str, ...],
        secrets: str,
        information_limit: float,
        worst_information: float,
        power: float,
        variance_free: bool,
    ) -> Guarantee:
        """In numbers, from the certified worst information.

        Raises:
            DesignError: figures so extreme that they are no longer numbers.
        """
        std = math.sqrt(power)
        if not std < MAX_STD_STEPS * self.grid:
            raise DesignError(
                f"design {shown(self.name)}: noise of standard deviation {std:.3g} {self.unit} is "
                f"over 2^40 steps of the grid of {self.grid:g} {self.unit}; write a coarser grid"
            )
        radius = std if self.radius is None else self.radius
        each = rho_from_information(worst_information, self._radius_on_grid(radius))
        rho = rho_over_segments(each, self.segments)
        try:
            return Guarantee(
                prior=prior,
                secrets=secrets,
                radius=radius,
                information_limit=information_limit,
                worst_information=worst_information,
                segments=self.segments,
                rho=rho,
                epsilon=epsilon_at(rho, self.delta),
                delta=self.delta,
                variance_free=variance_free,
            )
        except FormatError as error:
            raise DesignError(
                f"design {shown(self.name)}: {error}; check radius and noise"
            ) from None

    def _radius_on_grid(self, radius: float) -> float:
        return radius_on_grid(radius, self.grid, len(self.axes))


def read_promise(section: Section, folder: Path) -> Promise:
    """The shared keys of one design; the kind takes the rest and closes the section.

    Raises:
        FormatError: anything missing, unknown, without its unit, or said twice.
    """
    axes = tuple(section.take_or("axes", _axes, ["value"]))
    unit = section.take_or("unit", text, "m" if axes == PLANE else "1")
    if axes == PLANE and unit != "m":
        raise section.fail(
            "unit", f"found {shown(unit)}; east and north are in m: leave the unit out"
        )
    radius, rhos, power, delta = _what_is_asked(section, unit)
    grid = section.take_or("grid", lambda value: parse_in_unit(value, unit), DEFAULT_GRID)
    segments = section.take_or("segments", count, 1)
    if segments > MAX_SEGMENTS:
        raise section.fail("segments", f"found {segments}; expected at most {MAX_SEGMENTS}")
    return Promise(
        name=section.take("name", _name),
        axes=axes,
        unit=unit,
        grid=grid,
        radius=radius,
        rho=max(rhos, default=None),
        power=power,
        segments=segments,
        delta=delta,
        prior=parse_prior(section, folder, unit=unit),
        rhos=rhos if len(rhos) > 1 else (),
    )


def _what_is_asked(
    section: Section, unit: str
) -> tuple[float | None, tuple[float, ...], float | None, float]:
    """radius, rho (none, one, or one a secret), power, delta."""
    given = [key for key in ("protect", "noise", "budget") if section.has(key)]
    if len(given) != 1:
        found = " and ".join(given) if given else "none of them"
        raise FormatError(
            f"{section.where}: found {found}; expected one of protect (the noise follows), "
            "noise or budget (the promise follows)"
        )
    radii = []
    if section.has("secret"):
        secret = section.section("secret")
        radii.append(secret.take("radius", lambda value: parse_in_unit(value, unit)))
        secret.close()
    asked = section.section(given[0])
    if asked.has("radius"):
        radii.append(asked.take("radius", lambda value: parse_in_unit(value, unit)))
    if len(radii) == 2:
        raise asked.fail("radius", "stands in 'secret' too; write it once")
    delta = section.take_or("delta", _probability, DEFAULT_DELTA)
    if (
        given[0] == "protect"
        and asked.has("epsilon")
        and not (asked.has("delta") or section.has("delta"))
    ):
        raise FormatError(
            f"{asked.where}: epsilon is given without delta; write both, for example "
            "{epsilon: 1.0, delta: 1.0e-3}: delta is the probability with which epsilon may fail"
        )
    if asked.has("delta"):
        if section.has("delta"):
            raise asked.fail("delta", "stands beside it too; write it once")
        delta = asked.take("delta", _probability)
    rhos: tuple[float, ...] = ()
    power = None
    if given[0] == "protect":
        rhos = _rhos(asked, delta)
    else:
        power = _power(asked, unit)
    asked.close()
    if rhos and not radii:
        _refuse_without_radius(section)
    return (radii[0] if radii else None), rhos, power, delta


def _refuse_without_radius(section: Section) -> None:
    try:
        section.raw("secret")  # its refusal names a key that looks like it
    except FormatError as error:
        raise FormatError(
            f"{error}; write secret: {{radius: ...}}: values of a secret that lie up to so far "
            "apart are kept alike"
        ) from None


def _rhos(asked: Section, delta: float) -> tuple[float, ...]:
    if asked.has("rho") == asked.has("epsilon"):
        raise FormatError(f"{asked.where}: expected one of epsilon and rho")
    if asked.has("rho"):
        return asked.take("rho", _budgets)
    return (rho_for(asked.take("epsilon", _budget), delta),)


def _budgets(value: object) -> tuple[float, ...]:
    if isinstance(value, list):
        return tuple(list_of(_budget)(value))
    return (_budget(value),)


def _budget(value: object) -> float:
    amount = positive(value)
    if not MIN_EPSILON <= amount <= MAX_EPSILON:
        raise FormatError(
            f"found {amount:g}; expected {MIN_EPSILON:g} to {MAX_EPSILON:g}, for example 1.0"
        )
    return amount


def _power(asked: Section, unit: str) -> float:
    if asked.has("std") == asked.has("mse"):
        raise FormatError(f"{asked.where}: expected one of std and mse")
    if asked.has("std"):
        return asked.take("std", lambda value: parse_in_unit(value, unit)) ** 2
    return asked.take("mse", lambda value: parse_squared(value, unit))


def _axes(value: object) -> list[str]:
    expected = f"expected 1 to {MAX_AXES} different names, such as [east, north] or [value]"
    try:
        axes = list_of(text)(value)
    except FormatError:
        axes = []
    if not axes or len(set(axes)) != len(axes) or len(axes) > MAX_AXES:
        raise FormatError(f"found {shown(value)}; {expected}")
    return axes


def _name(value: object) -> str:
    name = text(value)
    if not all(letter.isalnum() or letter in "-_" for letter in name):
        raise FormatError(f"found {shown(name)}; expected letters, digits, - and _")
    return name


def _probability(value: object) -> float:
    amount = number(value)
    if not MIN_DELTA <= amount < 1:
        raise FormatError(
            f"found {amount:g}; expected a number between 0 and 1, such as 1.0e-3, and at least "
            f"{MIN_DELTA:g}"
        )
    return amount
