"""One channel: readings in; releases and the noise state after them out."""

from collections import Counter
from dataclasses import replace

from agent.cadence import STALE, CadenceSettings, Decision, Due, resume, take_reading
from agent.errors import RefusedError
from agent.formats.bundle import design_digest
from agent.formats.designs import Design, segments_of
from agent.formats.leakage_design import LeakageDesign
from agent.formats.leakage_summary import describe_memoised
from agent.formats.mapping_design import MappingDesign
from agent.formats.mapping_summary import describe_unaccounted
from agent.health import ChannelReport, worst_so_far
from agent.kinds import Kind
from agent.readings import Reading, Release
from agent.sanitise.interface import ChannelSanitiser
from agent.store import Advance, ChannelPosition, Outgoing

MAX_TIME_MS = 4_102_444_800_000  # the year 2100; formats stop there
NO_TIME = "no time between 1970 and 2100"
NOT_COVERED = "not covered by the design"
REFUSED = "refused: "


def report_at_start(design: Design, position: ChannelPosition) -> ChannelReport:
    """What is known before the first reading.

    Of what earlier runs did, the counts go on; the rest belongs to the design it was under.
    """
    digest = design_digest(design).hex()
    earlier = position.report
    return ChannelReport(
        design=design.name,
        design_sha256=digest,
        counts=earlier.counts if earlier else {},
        released_ms=earlier.released_ms if earlier else None,
        segments_used=position.segments_used,
        segments_allowed=segments_of(design),
        last_refusal=earlier.last_refusal if earlier else None,
        account=earlier.account if earlier and earlier.design_sha256 == digest else None,
        unaccounted=_unaccounted(design),
    )


def _unaccounted(design: Design) -> str | None:
    if isinstance(design, LeakageDesign):
        return describe_memoised(design)
    return describe_unaccounted(design) if isinstance(design, MappingDesign) else None


class Channel:
    """The sanitising path of one channel.

    Noise state advances in memory with every release; :meth:`take_batch` hands out both, for one
    transaction. If that fails, the agent stops: nothing of the batch was published, and the next
    start continues from what is stored.

    Raises:
        RefusedError: a cold start beyond the segments that the design's promise covers.
        FormatError: the stored state is damaged.
    """

    def __init__(
        self,
        *,
        name: str,
        device: str,
        topic: str,
        kind: Kind,
        cadence: CadenceSettings,
        design: Design,
        sanitiser: ChannelSanitiser,
        position: ChannelPosition,
    ) -> None:
        self.name = name
        self.counts: Counter[str] = Counter()
        self._device = device
        self._topic = topic
        self._kind = kind
        self._cadence = cadence
        self._sanitiser = sanitiser
        self._design = design_digest(design).hex()
        self._report = report_at_start(design, position)
        self._earlier = self._report.counts
        self._reported: Counter[str] | None = None
        self._state = (
            sanitiser.cold_start(position.segments_used)
            if position.state is None
            else position.state
        )
        sanitiser.segment(self._state)  # a damaged state is found now, not at the first reading
        self._sequence = position.next_sequence
        self._moment = resume(position.last_time_ms)
        # Stream noise is drawn at the reading's own time, so that what is published is a sample
        # of the very path the promise is about; the release's time is rounded up to the slot.
        self._noise_at_reading = design.kind == "stream"
        # A leakage account charges every release, held or not: the state is as it was.
        self._repeats_when_held = design.kind != "leakage"
        self._last_steps = position.last_steps if position.state is not None else ()
        self._outgoing: list[Outgoing] = []
        self._released_ms: int | None = None
        self._complaint: str | None = None
        self._complained = False
        self._ever_released = position.last_time_ms is not None

    def take(self, reading: Reading) -> None:
        """A reading arrives; what becomes due is sanitised and waits for :meth:`take_batch`."""
        self.counts["readings"] += 1
        timely = 0 < reading.time_ms < MAX_TIME_MS
        flaw = self._kind.flaw(reading) if timely else NO_TIME
        if flaw is not None:
            self._refuse(flaw)
            return
        remark = self._kind.remark(reading)
        if remark is not None:
            self.counts[remark] += 1
        decision: Decision = take_reading(self._cadence, self._moment, reading)
        self._moment = decision.state
        for why, count in decision.passed_over:
            if why == STALE:  # a slot, not a reading
                self.counts[STALE] += count
            else:
                self._refuse(why, count)
        for due in decision.due:
            self._release(due)

    def take_batch(self) -> tuple[list[Outgoing], Advance | None]:
        """The releases since the last call, and the noise after them."""
        outgoing, self._outgoing = self._outgoing, []
        if not outgoing or self._released_ms is None:
            return [], None
        return outgoing, Advance(
            channel=self.name,
            design=self._design,
            state=self._state,
            segments_used=self._sanitiser.segment(self._state) + 1,
            next_sequence=self._sequence,
            last_time_ms=self._released_ms,
            last_steps=self._last_steps,
        )

    @property
    def report_changed(self) -> bool:
        """Whether :meth:`take_report` has something new to say."""
        return self.counts != self._reported

    def take_report(self) -> ChannelReport:
        """What the channel has done so far, in this run and earlier ones; for the store."""
        self._reported = Counter(self.counts)
        counts = Counter(self._earlier) + self.counts
        report = replace(self._report, counts=dict(sorted(counts.items())))
        if self._released_ms is not None:
            report = replace(
                report,
                released_ms=self._released_ms,
                segments_used=self._sanitiser.segment(self._state) + 1,
                account=worst_so_far(report.account, self._sanitiser.account(self._state)),
            )
        self._report = report
        return report

    def end(self, failure: str | None) -> None:
        """The source ended; ``failure`` says why, if that was not its natural end."""
        self._report = replace(self._report, failure=failure)
        self._reported = None

    def take_complaint(self) -> str | None:
        """Why the design refused to cover a reading: the first time only, then None."""
        if self._complained or self._complaint is None:
            return None
        self._complained = True
        return self._complaint

    def barren(self) -> str | None:
        """Why nothing was ever released though readings came; None if that is not so."""
        readings = self.counts["readings"]
        refused = {
            name.removeprefix(REFUSED): count
            for name, count in self.counts.items()
            if name.startswith(REFUSED)
        }
        if self._ever_released or not readings or sum(refused.values()) < readings:
            return None
        why = max(sorted(refused), key=lambda name: refused[name])
        return (
            f"all {readings} readings were refused, {refused[why]} of them as {why}; check the "
            "channel's origin, range, unit and source"
        )

    def _release(self, due: Due) -> None:
        if self._repeats_when_held and not due.fresh:
            self._repeat(due)
            return
        noise_ms = due.reading.time_ms if self._noise_at_reading else due.time_ms
        try:
            steps, self._state = self._sanitiser.sanitise(
                self._state, noise_ms, self._kind.to_steps(due.reading)
            )
        except RefusedError as error:
            self._refuse(NOT_COVERED)
            self._complaint = str(error)
            self._report = replace(self._report, standing=self._complaint)
            return
        self._last_steps = steps
        self._put_out(due.time_ms, steps)

    def _repeat(self, due: Due) -> None:
        """The last release again, at a later time: it tells nothing that it has not told.

        Fresh noise on the same reading would be a second look at one position.
        """
        if self._last_steps:
            self._put_out(due.time_ms, self._last_steps)
        else:
            self.counts[STALE] += 1

    def _put_out(self, time_ms: int, steps: tuple[int, ...]) -> None:
        budget = self._sanitiser.last_budget(self._state)
        release = Release(self._device, self.name, self._sequence, time_ms, steps, budget)
        self._outgoing.append(
            Outgoing(self.name, self._sequence, self._topic, self._kind.encode(release))
        )
        self._sequence += 1
        self._released_ms = time_ms
        self._ever_released = True
        self.counts["releases"] += 1
        if self._report.standing is not None:
            self._report = replace(self._report, standing=None)

    def _refuse(self, why: str, count: int = 1) -> None:
        self.counts[f"{REFUSED}{why}"] += count
        if self._report.last_refusal != why:
            self._report = replace(self._report, last_refusal=why)
