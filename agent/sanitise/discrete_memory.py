"""Memoisation: the same value gives the same release for a stated period.

Fresh noise for an unchanged value can be averaged away. A memoised release cannot: whoever sees it
a thousand times has seen it once. What memoisation does *not* hide is *when* the value changes,
because a new release appears then and an old one comes back on return. So:

- it bounds what is learnt about *which* value it was, by epsilon for each different value in a
  period (c values cost c epsilon);
- it gives no temporal-leakage bound: the accounts in agent.ledger hold for fresh noise. A design
  says which of the two it promises.

The memory is a value that the store saves with the release. It grows with the number of different
values only, and is emptied when a period begins.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from agent.formats.errors import FormatError
from agent.sanitise.discrete_bits import RandomBits
from agent.sanitise.discrete_mechanisms import DiscreteMechanism

Value = tuple[int, ...]
MAX_REMEMBERED = 65_536
_MAGIC = b"SFMEMO\x01\n"
_HEAD = struct.Struct("<qI")
_SIZE = struct.Struct("<HI")


@dataclass(frozen=True, slots=True, repr=False)
class Memory:
    """What each value of this period was released as. The repr shows no value."""

    period: int = 0
    releases: Mapping[Value, Value] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Memory(period={self.period}, {len(self.releases)} values)"


@dataclass(frozen=True, slots=True)
class Memoised:
    """A mechanism that draws once for each value and period."""

    mechanism: DiscreteMechanism
    period_steps: int

    def __post_init__(self) -> None:
        if self.period_steps < 1:
            raise FormatError("memoisation: the period is below one step")

    def sample(
        self,
        value: Value,
        step: int,
        epsilon: float | Fraction,
        memory: Memory,
        source: RandomBits,
    ) -> tuple[Value, Memory]:
        """The release of this value at this step, and the memory after it."""
        period = step // self.period_steps
        known = memory.releases if period == memory.period else {}
        if value in known:
            return known[value], Memory(period, known)
        release = self.mechanism.sample(value, epsilon, source)
        return release, Memory(period, {**known, value: release})


def encode_memory(memory: Memory) -> bytes:
    """Little-endian: magic with the version, period i64, number u32; then, sorted by value, the
    lengths of value (u16) and release (u32) and their integers as i64.
    """
    parts = [_MAGIC, _HEAD.pack(memory.period, len(memory.releases))]
    for value, release in sorted(memory.releases.items()):
        parts.append(_SIZE.pack(len(value), len(release)))
        parts.append(struct.pack(f"<{len(value) + len(release)}q", *value, *release))
    return b"".join(parts)


def decode_memory(content: bytes) -> Memory:
    """The inverse of :func:`encode_memory`.

    Raises:
        FormatError: not the bytes of a memory of this version.
    """
    wrong = FormatError("memoisation: the stored memory is damaged or of another version")
    if content[: len(_MAGIC)] != _MAGIC:
        raise wrong
    try:
        period, number = _HEAD.unpack_from(content, len(_MAGIC))
        place = len(_MAGIC) + _HEAD.size
        releases: dict[Value, Value] = {}
        if number > MAX_REMEMBERED:
            raise wrong
        for _ in range(number):
            size, more = _SIZE.unpack_from(content, place)
            place += _SIZE.size
            if (size + more) * 8 > len(content) - place:
                raise wrong
            integers = struct.unpack_from(f"<{size + more}q", content, place)
            place += (size + more) * 8
            releases[integers[:size]] = integers[size:]
    except struct.error:
        raise wrong from None
    memory = Memory(period, releases)
    if place != len(content) or encode_memory(memory) != content:
        raise wrong
    return memory
