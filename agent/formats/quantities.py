"""Quantities written with their units: ``30 s``, ``14 d``, ``500 m``.

Times become seconds and lengths become metres. A bare number is refused where a unit is due,
because ``lengthscale: 30`` has been read as minutes before. Amounts outside 1e-30 to 1e30 are
refused where they are read: their squares and quotients are what float64 can still hold.
"""

import math
import re

from agent.formats.errors import FormatError, shown

SECONDS = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
METRES = {"cm": 1e-2, "m": 1.0, "km": 1e3}
SMALLEST, LARGEST = 1e-30, 1e30

_QUANTITY = re.compile(r"^\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(\S.*?)?\s*$")


def parse_duration(text: object) -> float:
    """Seconds from text such as ``30 s``, ``15 min``, ``14 d``.

    Raises:
        FormatError: no number, no unit, an unknown unit, or not a finite positive time.
    """
    return _parse(text, SECONDS, "a time", "30 s")


def parse_length(text: object) -> float:
    """Metres from text such as ``500 m`` or ``1.5 km``.

    Raises:
        FormatError: no number, no unit, an unknown unit, or not a finite positive length.
    """
    return _parse(text, METRES, "a length", "500 m")


def parse_in_unit(text: object, unit: str) -> float:
    """A positive amount in a channel's own unit: ``0.5 Cel``, or ``0.5`` for the unit ``1``.

    A channel whose unit is ``m`` takes any length. For another named unit the unit must be
    written; for the unit ``1`` (dimensionless) none may be.

    Raises:
        FormatError: no number, a missing or different unit, or not a finite positive amount.
    """
    if unit == "m":
        return parse_length(text)
    if unit == "1":
        return _positive(_split(text, "a number", "0.5", unit_expected=False)[0], text)
    return _parse(text, {unit: 1.0}, f"an amount in {unit}", f"0.5 {unit}")


def parse_squared(text: object, unit: str) -> float:
    """A positive amount in a unit squared: ``4 m2``, ``4 m^2`` or ``4 m²``; ``4`` for the unit 1.

    Raises:
        FormatError: no number, a missing or different unit, or not a finite positive amount.
    """
    if unit == "1":
        return parse_in_unit(text, "1")
    sizes = METRES if unit == "m" else {unit: 1.0}
    units = {f"{name}{two}": size**2 for name, size in sizes.items() for two in ("2", "^2", "²")}
    return _parse(text, units, f"an amount in {unit} squared", f"4 {unit}2")


def format_duration(seconds: float) -> str:
    """The shortest exact-looking text: 90 -> ``90 s``, 3600 -> ``1 h``, 1209600 -> ``14 d``."""
    for unit in ("d", "h", "min"):
        amount = seconds / SECONDS[unit]
        if amount >= 1 and abs(amount - round(amount, 1)) < 1e-9:
            return f"{amount:g} {unit}"
    return f"{seconds:.4g} s" if seconds >= 1e-3 or seconds == 0 else f"{seconds * 1e3:.4g} ms"


def _parse(text: object, units: dict[str, float], what: str, example: str) -> float:
    amount, unit = _split(text, what, example, unit_expected=True)
    if unit not in units:
        raise FormatError(
            f"{shown(text)} has the unit {shown(unit)}; expected {what} in {', '.join(units)}, "
            f"for example '{example}'"
        )
    amount = _positive(amount, text) * units[unit]
    require_sane(amount)
    return amount


def _split(text: object, what: str, example: str, *, unit_expected: bool) -> tuple[float, str]:
    match = _QUANTITY.match(text) if isinstance(text, str) else None
    if isinstance(text, (int, float)) and not isinstance(text, bool):
        if unit_expected:
            raise FormatError(
                f"{shown(text)} has no unit; expected {what} with its unit, for example '{example}'"
            )
        return _float(text), ""
    if match is None:
        raise FormatError(f"{shown(text)} is not {what}; write for example '{example}'")
    unit = match.group(2) or ""
    if unit_expected and not unit:
        raise FormatError(
            f"{shown(text)} has no unit; expected {what} with its unit, for example '{example}'"
        )
    if unit and not unit_expected:
        raise FormatError(
            f"{shown(text)} has the unit {shown(unit)}; expected {what} without one, for example "
            f"'{example}'"
        )
    return _float(match.group(1)), unit


def _positive(amount: float, text: object) -> float:
    if not (math.isfinite(amount) and amount > 0):
        raise FormatError(f"{shown(text)} is not finite and positive; write an amount above zero")
    require_sane(amount)
    return amount


def require_sane(amount: float) -> None:
    """Refuse amounts that nothing in the world has, before arithmetic on them overflows.

    Raises:
        FormatError: outside 1e-30 to 1e30.
    """
    if not SMALLEST <= amount <= LARGEST:
        raise FormatError(
            f"found {amount:g}; expected an amount between {SMALLEST:g} and {LARGEST:g}"
        )


def _float(number: str | float) -> float:
    try:
        return float(number)
    except OverflowError:  # an integer of hundreds of digits
        return math.inf
