"""``sfumato listen --decide``: the fusion centre's edge, where decisions are made and go out.

Everything here runs in the main thread. Decisions that wait for nodes are in memory only: a
listener that is stopped decides what it has, and one that is killed forgets the open steps.
"""

import argparse
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.formats.mapping_design import MappingDesign
    from agent.fusion import Decision

ONLY_WITH_DECIDE = ("sha256", "design", "publish", "wait", "truth", "decisions")
Publish = Callable[[str, bytes], None]


def add_decide_arguments(parser: argparse.ArgumentParser) -> None:
    """The words that make a listener a fusion centre."""
    group = parser.add_argument_group("decide by the symbols of sensor nodes")
    group.add_argument(
        "--decide", type=Path, metavar="BUNDLE", help="its mapping tells how to decide"
    )
    group.add_argument(
        "--sha256", metavar="DIGEST", help="of the bundle, as `sfumato design` printed it: no other"
    )
    group.add_argument("--design", metavar="NAME", help="which, if the bundle has several mappings")
    group.add_argument("--publish", metavar="TOPIC", help="send each decision here (QoS 1)")
    group.add_argument("--decisions", type=Path, metavar="F", help="append decisions here as CSV")
    group.add_argument(
        "--wait",
        type=float,
        metavar="SECONDS",
        help="for nodes that are missing, from a step's first message on (default: one step)",
    )
    group.add_argument(
        "--truth",
        type=Path,
        metavar="FILE",
        help="table with the columns time and state: say at the end how often decisions erred",
    )


class Decider:
    """Decisions from messages, to wherever they are asked for.

    Without ``--publish`` and ``--decisions`` they are printed, a line of JSON each.

    Raises:
        SfumatoError: a bundle, topic or file that cannot be used.
    """

    def __init__(self, arguments: argparse.Namespace, publish: Publish) -> None:
        from agent.config import parse_sha256, parse_topic
        from agent.csv_log import CsvLog
        from agent.decision_score import Score
        from agent.formats.bundle import load_bundle
        from agent.formats.errors import FormatError, about, shown
        from agent.formats.state_files import read_state_file
        from agent.fusion import Fusion

        pinned = arguments.sha256
        if pinned is not None:
            try:
                pinned = parse_sha256(pinned)
            except FormatError as error:
                raise FormatError(f"--sha256 {shown(pinned)}: {error}") from None
        bundle = load_bundle(arguments.decide, pinned)
        self._unpinned = (
            None
            if pinned is not None
            else f"decided by {arguments.decide} as it was found; --sha256 {bundle.sha256} makes "
            "sure of it next time"
        )
        self._design = _mapping_of(bundle.designs.values(), arguments)
        self._publish = publish
        self._topic = arguments.publish
        if self._topic is not None:
            try:
                parse_topic(self._topic)
            except FormatError as error:
                raise FormatError(f"--publish: {error}") from None
            _require_not_heard(self._topic, arguments.topics)
        self._score = None
        if arguments.truth is not None:
            columns = {"time": "time", "state": "state"}
            truth = read_state_file(arguments.truth, columns=columns)
            with about(f"--truth {arguments.truth}"):
                self._score = Score(self._design, truth)
        step_seconds = self._design.step_ms / 1000
        wait = step_seconds if arguments.wait is None else arguments.wait
        self._fusion = Fusion(self._design, wait_seconds=wait)
        self._log = None
        if arguments.decisions is not None:
            names = (f"p({name})" for name in self._design.public)
            self._log = CsvLog(arguments.decisions, ("time", "decision", "missing", *names))

    def take(self, content: bytes, now: float) -> None:
        """A message that is new; other formats than symbols are none of our business."""
        from agent.formats.errors import FormatError
        from agent.formats.mapping_json import decode_mapping_message

        try:
            message = decode_mapping_message(content)
        except FormatError:
            return
        self._put_out(self._fusion.take(message, now))

    def pass_time(self, now: float) -> None:
        """Decides what has waited for long enough."""
        self._put_out(self._fusion.pass_time(now))

    def next_due(self) -> float | None:
        """When :meth:`pass_time` should be called."""
        return self._fusion.next_due()

    def close(self) -> list[str]:
        """Decides the rest; what to tell the user."""
        self._put_out(self._fusion.close())
        if self._log is not None:
            self._log.close()
        scored = None if self._score is None else self._score.summary()
        lines = (self._fusion.summary(), self._fusion.other_design(), scored, self._unpinned)
        return [line for line in lines if line is not None]

    def _put_out(self, decisions: "list[Decision]") -> None:
        from agent.formats.decision_json import DIGITS, encode_decision
        from agent.subscriber import format_time

        for decision in decisions:
            name = self._design.public[decision.value]
            if self._score is not None:
                self._score.take(decision.time_ms, decision.value)
            if self._log is not None:
                chances = (f"{part:.{DIGITS}f}" for part in decision.posterior)
                missing = " ".join(decision.missing)
                self._log.append((format_time(decision.time_ms), name, missing, *chances))
            if self._topic is None and self._log is not None:
                continue
            content = encode_decision(
                decision=name,
                missing=decision.missing,
                posterior=decision.posterior,
                time_ms=decision.time_ms,
            )
            if self._topic is not None:
                self._publish(self._topic, content)
            else:
                print(content.decode(), flush=True)


def require_decide_words(arguments: argparse.Namespace) -> None:
    """Refuses words that mean nothing without ``--decide``, and a wait that is none.

    Raises:
        FormatError: see above.
    """
    from agent.formats.errors import FormatError

    for name in ONLY_WITH_DECIDE:
        if arguments.decide is None and getattr(arguments, name) is not None:
            raise FormatError(f"--{name} without --decide; give --decide BUNDLE too")
    wait = arguments.wait
    if wait is not None and not 0 <= wait < math.inf:
        raise FormatError(f"--wait {wait}: expected a number of seconds, 0 or more")


def _mapping_of(designs: "object", arguments: argparse.Namespace) -> "MappingDesign":
    from collections.abc import Iterable

    from agent.formats.errors import FormatError, shown
    from agent.formats.mapping_design import MappingDesign

    assert isinstance(designs, Iterable)
    mappings = {one.name: one for one in designs if isinstance(one, MappingDesign)}
    listed = ", ".join(mappings) or "none"
    if arguments.design is not None:
        if arguments.design not in mappings:
            raise FormatError(
                f"--design {shown(arguments.design)}: {arguments.decide} has no such mapping; its "
                f"mappings: {listed}"
            )
        return mappings[arguments.design]
    if len(mappings) != 1:
        raise FormatError(
            f"--decide {arguments.decide}: expected one mapping in the bundle; its mappings: "
            f"{listed}; say which with --design"
        )
    return next(iter(mappings.values()))


def _require_not_heard(topic: str, filters: list[str]) -> None:
    """Decisions that came back as messages would be counted as malformed."""
    from paho.mqtt.client import topic_matches_sub

    from agent.formats.errors import FormatError, shown

    for one in filters:
        levels = one.split("/")
        plain = "/".join(levels[2:]) if levels[0] == "$share" else one
        if topic_matches_sub(plain, topic):
            raise FormatError(
                f"--publish {shown(topic)}: is among the topics listened to ({shown(one)}); "
                "publish elsewhere, or listen to less"
            )
