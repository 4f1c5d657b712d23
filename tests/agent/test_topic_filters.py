"""Topic filters: what a broker takes, and what would only fail inside its client."""

import pytest

from agent.formats.errors import FormatError
from agent.topic_filters import require_topic_filter


@pytest.mark.parametrize(
    "topic", ["#", "+", "a", "/", "a/#", "+/b/+", "a b", "$SYS/#", "/#", "é/+", "$share/g/a/#"]
)
def test_filters_that_are_taken(topic):
    require_topic_filter(topic)


REFUSED = ["", "a/#/b", "a#", "#/a", "##", "a/b#", "a+", "+a/b", "a/++", "a\0", "a\nb", "\udc80"]


@pytest.mark.parametrize("topic", [*REFUSED, "x" * 65_536, "$share", "$share//a", "$share/+/a"])
def test_filters_that_are_refused_in_one_line(topic):
    with pytest.raises(FormatError, match="topic") as caught:
        require_topic_filter(topic)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300
