"""Which topic filters a broker takes (MQTT 5.0, section 4.7; 3.1.1 alike)."""

from agent.formats.errors import FormatError, shown

MAX_FILTER_BYTES = 65_535
_EXPECTED = "expected for example home/alice/room, home/+/room or home/#"


def require_topic_filter(topic: str) -> None:
    """``+`` stands for one whole level, ``#`` for all the rest; neither for a part of a level.

    Raises:
        FormatError: empty, too long, not text, or a wildcard in another place.
    """
    if not topic:
        raise FormatError(f"the topic is empty; {_EXPECTED}")
    if not topic.isprintable() or len(topic.encode()) > MAX_FILTER_BYTES:
        raise FormatError(
            f"topic {shown(topic)}: has letters that do not print, or over {MAX_FILTER_BYTES} "
            f"bytes; {_EXPECTED}"
        )
    levels = topic.split("/")
    if "#" in topic and (topic.count("#") > 1 or levels[-1] != "#"):
        raise FormatError(f"topic {shown(topic)}: '#' stands for all the rest; {_EXPECTED}")
    if any("+" in level and level != "+" for level in levels):
        raise FormatError(f"topic {shown(topic)}: '+' stands for one whole level; {_EXPECTED}")
    if levels[0] == "$share" and (len(levels) < 3 or levels[1] in ("", "+")):
        raise FormatError(f"topic {shown(topic)}: expected $share/GROUP/TOPIC")
