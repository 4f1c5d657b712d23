"""A decision as JSON: ``{"decision", "missing", "p", "t"}``, keys sorted, no blanks, UTF-8.

``decision`` is the value of H by name, ``missing`` lists the nodes that were not heard, ``p`` is
the posterior of every value of H in the design's order, rounded to four digits, and ``t`` the Unix
time in seconds at which the step begins.
"""

import json
from collections.abc import Sequence

DIGITS = 4


def encode_decision(
    *, decision: str, missing: Sequence[str], posterior: Sequence[float], time_ms: int
) -> bytes:
    """The same bytes for the same decision, always."""
    seconds, rest = divmod(time_ms, 1000)
    content = {
        "decision": decision,
        "missing": list(missing),
        "p": [round(part, DIGITS) for part in posterior],
        "t": seconds if rest == 0 else time_ms / 1000,
    }
    return json.dumps(
        content, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False
    ).encode()
