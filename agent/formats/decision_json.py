"""A decision as JSON: ``{"decision", "missing", "p", "t"}``, keys sorted, no blanks, UTF-8.

``decision`` is the value of H by name, ``missing`` lists the nodes that were not heard, ``p`` is
the posterior of every value of H in the design's order, rounded to four digits, and ``t`` the Unix
time in seconds at which the step begins.
"""

from collections.abc import Sequence

from agent.formats.message_json import encode_message, seconds_of

DIGITS = 4


def encode_decision(
    *, decision: str, missing: Sequence[str], posterior: Sequence[float], time_ms: int
) -> bytes:
    """The same bytes for the same decision, always."""
    content = {
        "decision": decision,
        "missing": list(missing),
        "p": [round(part, DIGITS) for part in posterior],
        "t": seconds_of(time_ms),
    }
    return encode_message(content, ascii_only=False)
