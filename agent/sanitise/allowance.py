"""Which independent segments of noise a design's promise covers."""

from agent.errors import RefusedError
from agent.formats.designs import NoiseDesign

MAX_TIME_MS = 1 << 53


def require_segment(design: NoiseDesign, segment: int) -> None:
    """Refuse a segment that the guarantee does not cover.

    Each segment is independent noise on the same life, so q of them multiply the loss by at most
    q (pinching: blockdiag of the q covariances dominates 1/q of the joint one). The design's
    numbers were worked out for ``guarantee.segments`` of them.

    Raises:
        RefusedError: the allowance is spent.
    """
    allowed = design.guarantee.segments
    if not 0 <= segment < allowed:
        raise RefusedError(
            f"design {design.name!r}: the allowance is spent: segment {segment + 1} of independent "
            f"noise asked for, the guarantee covers {allowed}; make a design with more segments"
        )


def require_time(design: NoiseDesign, time_ms: int) -> None:
    """Refuse a time that cannot be exact in float64.

    Raises:
        RefusedError: beyond 2^53 milliseconds either side of 1970.
    """
    if not -MAX_TIME_MS < time_ms < MAX_TIME_MS:
        raise RefusedError(
            f"design {design.name!r}: a time of {time_ms} ms; expected Unix milliseconds; "
            "check the clock"
        )
