"""Which columns of a table hold the time, the position, the value and the trace they belong to.

Header names are guessed (and the guess is shown in the notes) or given: a name from the header,
a number counted from 1 as in ``cut`` and ``awk``, or for the time a list of both (date, time).
"""

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from agent.formats.errors import FormatError, shown

Column: TypeAlias = str | int
ColumnNames: TypeAlias = Mapping[str, Column | Sequence[Column]]

POSITION_ROLES = ("latitude", "longitude")
VALUE_ROLES = ("value",)
STATE_ROLES = ("state",)
# One column or several.
VALUES_ROLES = ("values",)

# Names as they are after `_plain`: lower case, letters and digits only. Earlier ones win.
_STAMPS = (
    "tunix", "timestamp", "unixtime", "unix", "epoch", "tst", "datetime", "timestamputc",
    "datetimeutc", "utctimestamp", "timeutc", "utctime", "gpstime", "isotime", "tseconds",
    "timeseconds", "utc", "tms", "timems", "timestampms", "epochms", "t",
)  # fmt: skip
_DATES = ("date", "day", "dateutc", "utcdate")
_TIMES = ("time",)
_GUESSES = {
    "latitude": ("lat", "latitude", "latdeg", "latitudedeg", "latitudedegrees", "latdegrees"),
    "longitude": (
        "lon", "lng", "long", "longitude", "londeg", "lngdeg", "longitudedeg",
        "longitudedegrees", "londegrees",
    ),
}  # fmt: skip
# In this order; a file with both is split by both.
_SPLITTERS = ("user", "trace")


@dataclass(frozen=True, slots=True)
class ColumnPlan:
    """Indices (from 0) of the columns to read, what values are for, and the choice in words."""

    time: tuple[int, ...]
    values: tuple[int, ...]
    roles: tuple[str, ...]
    keys: tuple[int, ...]
    note: str


def plan_columns(
    names: tuple[str, ...] | None,
    fields: int,
    roles: tuple[str, ...],
    given: ColumnNames | None,
    where: str,
) -> ColumnPlan:
    """Where each role stands.

    Args:
        names: the header's, or None without a header.
        fields: how many fields the rows have.
        roles: the value columns wanted: POSITION_ROLES, VALUE_ROLES, STATE_ROLES or VALUES_ROLES.
        given: ``time``, each of the roles, and optionally ``trace``; None to guess.
        where: the file, for messages.

    Raises:
        FormatError: a column that is not there, an unknown or missing key, or nothing to go by.
    """
    if given is None:
        return _guess(names, roles, where)
    allowed = ("time", *roles, "trace")
    for key in given:
        if key not in allowed:
            raise FormatError(
                f"{where}: columns has the key {shown(str(key))}; expected {', '.join(allowed)}"
            )
    for key in allowed[:-1]:
        if key not in given:
            raise FormatError(f"{where}: columns lacks {key!r}; expected {', '.join(allowed[:-1])}")

    def indices(key: str) -> tuple[int, ...]:
        wanted = given.get(key, ())
        listed = [wanted] if isinstance(wanted, (str, int)) else list(wanted)
        return tuple(_index(column, key, names, fields, where) for column in listed)

    time, values, keys = indices("time"), tuple(map(indices, roles)), indices("trace")
    if roles == VALUES_ROLES and values[0]:
        roles = tuple(f"value {number}" for number in range(1, len(values[0]) + 1))
        values = tuple((index,) for index in values[0])
    if len(time) not in (1, 2) or any(len(value) != 1 for value in values):
        raise FormatError(
            f"{where}: columns takes one column a key, and one or two for 'time' (date, time)"
        )
    return _plan(names, roles, time, tuple(value[0] for value in values), keys)


def _guess(names: tuple[str, ...] | None, roles: tuple[str, ...], where: str) -> ColumnPlan:
    if names is None:
        example = ", ".join(f"{role}: {i + 2}" for i, role in enumerate(roles))
        raise FormatError(
            f"{where}: has no header line to tell its columns by; give columns by number, counted "
            f"from 1, for example columns: {{time: 1, {example}}}"
        )
    plain = [_plain(name) for name in names]

    def first(candidates: Sequence[str]) -> int | None:
        return next((plain.index(name) for name in candidates if name in plain), None)

    stamp, day, clock = first(_STAMPS), first(_DATES), first(_TIMES)
    if stamp is not None:
        time: tuple[int, ...] = (stamp,)
    elif day is not None and clock is not None:
        time = (day, clock)
    else:
        time = tuple(index for index in (clock, day) if index is not None)[:1]
    values = [first(_GUESSES.get(role, (role,))) for role in roles]
    for role, found in zip(("time", *roles), (*time, *values) if time else (None,), strict=False):
        if found is None:
            raise FormatError(
                f"{where}: no column looks like the {role}; the header has {show_names(names)}; "
                f"name the columns: {{time: …, {', '.join(f'{r}: …' for r in roles)}}}"
            )
    keys = tuple(plain.index(name) for name in _SPLITTERS if name in plain)
    return _plan(names, roles, time, tuple(v for v in values if v is not None), keys)


def _plan(
    names: tuple[str, ...] | None,
    roles: tuple[str, ...],
    time: tuple[int, ...],
    values: tuple[int, ...],
    keys: tuple[int, ...],
) -> ColumnPlan:
    def shown(index: int) -> str:
        return f"column {index + 1}" if names is None else _show(names[index])

    note = f"time from {' and '.join(map(shown, time))}"
    note += "".join(f", {role} from {shown(v)}" for role, v in zip(roles, values, strict=True))
    if keys:
        note += f", one trace for each {' and '.join(map(shown, keys))}"
    return ColumnPlan(time, values, roles, keys, note)


def _index(column: object, key: str, names: tuple[str, ...] | None, fields: int, where: str) -> int:
    if isinstance(column, int) and not isinstance(column, bool):
        if not 1 <= column <= fields:
            raise FormatError(
                f"{where}: columns.{key} is {column}; expected a number from 1 (the first) to "
                f"{fields}"
            )
        return column - 1
    if not isinstance(column, str):
        raise FormatError(f"{where}: columns.{key}: expected a header's name or a number")
    if names is None:
        raise FormatError(
            f"{where}: columns.{key} is {shown(column)}, but the file has no header line; "
            "give a number counted from 1"
        )
    if names.count(column) > 1:
        raise FormatError(
            f"{where}: columns.{key}: the header has {shown(column)} {names.count(column)} times; "
            "give the column's number, counted from 1"
        )
    if column in names:
        return names.index(column)
    folded = [name.casefold() for name in names]
    if folded.count(column.casefold()) == 1:
        return folded.index(column.casefold())
    near = difflib.get_close_matches(column, [name for name in names if _showable(name)], n=1)
    hint = f"did you mean {shown(near[0])}?" if near else f"the header has {show_names(names)}"
    raise FormatError(f"{where}: columns.{key}: no column {shown(column)}; {hint}")


def show_names(names: Sequence[str], most: int = 8) -> str:
    """Header names for a message, cut short, with any that might be a reading hidden."""
    more = f", … ({len(names)} in all)" if len(names) > most else ""
    return ", ".join(_show(name) for name in names[:most]) + more


def _show(name: str) -> str:
    return shown(name) if _showable(name) else "(not shown)"


def _showable(name: str) -> bool:
    # A file without a header may have its first row taken for one: a name with more than two
    # digits could be a coordinate, and messages never show one.
    return len(name) <= 60 and sum(sign.isdigit() for sign in name) <= 2


def _plain(name: str) -> str:
    return re.sub("[^a-z0-9]", "", name.casefold())
