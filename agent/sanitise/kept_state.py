"""What a channel of states or symbols keeps between releases, and how it begins again when lost.

Bytes: magic (8), then little-endian: the owner's digest (32), segment u32, whether a first release
is still waited for (u8), length of the account u32, the account (agent.ledger) and the memory
(discrete_memory). A state of another owner is refused, never guessed at.

**A lost account.** Releases never go beyond the steady leakages, so whatever a lost account said,
its BPL was at most the steady one and its ceiling at least the steady one. One more thing is
unknown: whether this very step already had a release. A device whose whole state folder was
deleted cannot know that there was an account at all, so *every* account begins as if one had been
lost: from the steady numbers, with a first release that is drawn without looking at the reading
and costs nothing. No deletion then breaks the limit while time moves on: no step may be released
again, by a clock set back after the loss or by a second account.
"""

import struct
from dataclasses import dataclass

from agent.errors import RefusedError
from agent.formats.errors import FormatError
from agent.health import Account
from agent.ledger import LedgerRules, LedgerState, decode_state, encode_state, leakages
from agent.sanitise.discrete_memory import Memory, decode_memory, encode_memory

_HEAD = struct.Struct("<32sI?I")
_MAX_SEGMENTS = (1 << 32) - 1


@dataclass(frozen=True, slots=True)
class KeptState:
    """Segment, whether it still waits for its first release, the account and the memory."""

    segment: int
    waiting: bool
    ledger: LedgerState
    memory: Memory


@dataclass(frozen=True, slots=True)
class Keeper:
    """Whose state it is.

    Attributes:
        magic: eight bytes that the state begins with.
        what: begins messages about a damaged state.
        name: of the owner, for messages.
        digest: of the owner, 32 bytes.
        segments: how many the design covers.
        rules: of the account; None where none is kept.
    """

    magic: bytes
    what: str
    name: str
    digest: bytes
    segments: int
    rules: LedgerRules | None

    def cold_start(self, segment: int) -> bytes:
        """The state of a segment in which nothing is released yet; the first is 0.

        Raises:
            RefusedError: the design does not allow that many losses.
        """
        if not 0 <= segment < min(self.segments, _MAX_SEGMENTS):
            raise RefusedError(
                f"{self.name}: the account was lost {segment} times; at most "
                f"{self.segments - 1} are allowed: find out why, and make a new design"
            )
        ledger = LedgerState()
        if self.rules is not None:
            ledger = LedgerState(
                backward=self.rules.steady_backward, ceiling=self.rules.steady_forward
            )
        return self.encode(KeptState(segment, True, ledger, Memory()))

    def account(self, state: bytes) -> Account:
        """What all releases leak together; for an owner with rules only."""
        assert self.rules is not None
        ledger = self.decode(state).ledger
        recent = max(leakages(self.rules, ledger), default=0.0)
        return Account(self.rules.limit, ledger.worst, recent, self.rules.horizon)

    def encode(self, state: KeptState) -> bytes:
        """The bytes that the module's text specifies."""
        ledger = encode_state(state.ledger)
        head = _HEAD.pack(self.digest, state.segment, state.waiting, len(ledger))
        return self.magic + head + ledger + encode_memory(state.memory)

    def decode(self, content: bytes) -> KeptState:
        """The inverse of :meth:`encode`.

        Raises:
            FormatError: damaged, of another version or of another owner.
        """
        start = len(self.magic) + _HEAD.size
        damaged = f"{self.what}: the stored state is damaged or of another version"
        if content[: len(self.magic)] != self.magic or len(content) < start:
            raise FormatError(damaged)
        digest, segment, waiting, size = _HEAD.unpack_from(content, len(self.magic))
        if digest != self.digest:
            raise FormatError(
                f"{self.what}: the stored state belongs to another design than {self.name}; "
                "put the former bundle back, or begin with an empty state"
            )
        if size > len(content) - start:
            raise FormatError(damaged)
        ledger = decode_state(content[start : start + size])
        return KeptState(segment, waiting, ledger, decode_memory(content[start + size :]))


def after_blank(before: KeptState, step: int) -> KeptState:
    """After a segment's first release, which did not look at the reading and cost nothing."""
    ledger = LedgerState(step=step, backward=before.ledger.backward, ceiling=before.ledger.ceiling)
    return KeptState(before.segment, False, ledger, before.memory)
