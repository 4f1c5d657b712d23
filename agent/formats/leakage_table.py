"""How much of an old leakage is still leaked one step later: the shipped table, and its bytes.

A Markov chain that an observer knows turns a leakage of ``alpha`` at one step into at most
``L(alpha)`` at the next one (backward) or the one before (forward). Over all pairs of rows of the
transition matrix, L is the upper envelope of few pieces (docs/leakage.md):

    L(alpha) = log[(Q (e^alpha - 1) + 1) / (D (e^alpha - 1) + 1)]    for alpha >= start,

with 0 <= D < Q <= 1 and both falling from piece to piece. No piece at all means L = 0: the past
says nothing. A last piece with D = 0 means that L has no finite limit.

Bytes, little-endian, no padding::

    0   8 bytes   b"SFLEAK\\x01\\n" (the format's version is the seventh byte)
    8   u32       number of pieces, 0 to 65,535
    12  n times   start f64, Q f64, D f64

The first start is 0, starts rise strictly. Anything else is refused; bytes and table determine
each other, so a table that was read encodes to the very bytes it came from. There is no checksum:
the bundle that carries the table has one.
"""

import math
import struct
from bisect import bisect_right
from dataclasses import dataclass

from agent.formats.errors import FormatError

MAGIC = b"SFLEAK\x01\n"
MAX_PIECES = 65_535
_COUNT = struct.Struct("<I")
_PIECE = struct.Struct("<3d")
MAX_TABLE_BYTES = len(MAGIC) + _COUNT.size + MAX_PIECES * _PIECE.size

# A look-up computes two logarithms and a quotient; this covers their rounding with room to spare,
# so that look_up is never below the true L of the pieces and invert never above its inverse.
ROUNDING = 2.0**-50
_LARGE = 1.0


@dataclass(frozen=True, slots=True)
class LeakageTable:
    """The upper envelope of one adversary's loss function; see the module's text.

    Attributes:
        starts: leakage from which each piece holds (nats), first 0, strictly rising.
        gains: Q of each piece, falling, 0 < Q <= 1.
        losses: D of each piece, falling, 0 <= D < Q.
    """

    starts: tuple[float, ...]
    gains: tuple[float, ...]
    losses: tuple[float, ...]

    def __post_init__(self) -> None:
        size = len(self.starts)
        if not (size == len(self.gains) == len(self.losses) <= MAX_PIECES):
            raise FormatError(
                f"leakage table: {size} starts, {len(self.gains)} Q and {len(self.losses)} D; "
                f"expected as many of each, at most {MAX_PIECES}"
            )
        if size and self.starts[0] != 0:
            raise FormatError("leakage table: the first piece does not start at 0")
        for i in range(size):
            start, gain, loss = self.starts[i], self.gains[i], self.losses[i]
            if not (math.isfinite(start) and 0 <= loss < gain <= 1):
                raise FormatError(f"leakage table: piece {i} is not finite with 0 <= D < Q <= 1")
            falls = i == 0 or (
                start > self.starts[i - 1]
                and gain <= self.gains[i - 1]
                and loss < self.losses[i - 1]
            )
            if not falls:
                raise FormatError(
                    f"leakage table: piece {i} is out of order; starts rise, Q and D fall"
                )

    @property
    def limit(self) -> float:
        """The supremum of L over all alpha; infinite when the last piece has D = 0."""
        if not self.starts:
            return 0.0
        if self.losses[-1] == 0:
            return math.inf
        return math.log(self.gains[-1]) - math.log(self.losses[-1])

    @property
    def largest_bounded_epsilon(self) -> float:
        """A constant budget has a finite supremum of leakage just when it is below this."""
        if self.starts and self.losses[-1] == 0:
            return -math.log(self.gains[-1])
        return math.inf

    def look_up(self, alpha: float) -> float:
        """L(alpha) in nats for alpha >= 0, rounded up; never above alpha."""
        if alpha <= 0 or not self.starts:
            return 0.0
        i = bisect_right(self.starts, alpha) - 1
        gain, loss = self.gains[i], self.losses[i]
        kept = math.exp(-alpha)
        grown = -math.expm1(-alpha)
        if alpha < _LARGE:
            value = math.log1p((gain - loss) * grown / (kept + loss * grown))
        elif loss > 0:
            value = math.log(kept + gain * grown) - math.log(kept + loss * grown)
        else:
            value = alpha + math.log(kept + gain * grown)
        return min(alpha, value + ROUNDING * (1.0 + value))

    def invert(self, leakage: float) -> float:
        """The largest alpha with L(alpha) <= leakage, rounded down; infinite past the limit.

        Each piece rises with alpha, so the inverse of the envelope is the least of theirs.
        """
        if leakage < 0:
            return 0.0
        kept = math.exp(-leakage)
        lost = -math.expm1(-leakage)
        least = math.inf
        for gain, loss in zip(self.gains, self.losses, strict=True):
            room = gain * kept - loss
            if loss == 0:
                least = min(least, leakage + math.log(lost + gain * kept) - math.log(gain))
            elif room > 0:
                least = min(least, math.log1p(lost / room))
        return max(leakage, least - ROUNDING * (1.0 + least)) if least < math.inf else math.inf


def encode_leakage_table(table: LeakageTable) -> bytes:
    """The bytes that the module's text specifies."""
    pieces = zip(table.starts, table.gains, table.losses, strict=True)
    body = b"".join(_PIECE.pack(*piece) for piece in pieces)
    return MAGIC + _COUNT.pack(len(table.starts)) + body


def decode_leakage_table(content: bytes) -> LeakageTable:
    """The inverse of :func:`encode_leakage_table`.

    Raises:
        FormatError: other magic or version, wrong length, or pieces that are no envelope.
    """
    head = len(MAGIC) + _COUNT.size
    if content[: len(MAGIC)] != MAGIC:
        raise FormatError("leakage table: does not begin as one of version 1 does")
    if len(content) < head:
        raise FormatError(f"leakage table: {len(content)} bytes; the head alone has {head}")
    (size,) = _COUNT.unpack_from(content, len(MAGIC))
    if size > MAX_PIECES or len(content) != head + size * _PIECE.size:
        raise FormatError(
            f"leakage table: {len(content)} bytes for {size} pieces; "
            f"expected {head + size * _PIECE.size} bytes and at most {MAX_PIECES} pieces"
        )
    rows = list(_PIECE.iter_unpack(content[head:]))
    # -0.0 == 0 would decode to a table that encodes to other bytes.
    if any(math.copysign(1.0, number) < 0 for row in rows for number in row):
        raise FormatError("leakage table: a negative number or a negative zero")
    starts, gains, losses = zip(*rows, strict=True) if rows else ((), (), ())
    return LeakageTable(tuple(starts), tuple(gains), tuple(losses))
