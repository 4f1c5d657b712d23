"""What a channel has done so far, as a value that is stored with its releases.

``sfumato health`` shows it, of a running agent or of one that has stopped. It holds counts, public
times and reasons in words: nothing here comes from a reading's value.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace

from agent.formats.errors import FormatError

MAX_REPORT_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Account:
    """What repeated releases leak together (nats; agent.ledger).

    Attributes:
        limit: alpha, which no release may pass.
        worst: the largest TPL that any release had while it was among the last ``horizon``. Later
            releases add a little to older ones; the account keeps those within the limit too.
        recent: the largest among the last ``horizon`` releases now.
        horizon: how many releases are followed.
    """

    limit: float
    worst: float
    recent: float
    horizon: int


@dataclass(frozen=True, slots=True)
class ChannelReport:
    """One channel, since its state folder was made.

    Attributes:
        design: its name in the bundle.
        design_sha256: of the design itself, hexadecimal.
        counts: how often each thing happened.
        released_ms: public time of the last release.
        segments_used: independent segments of noise, or accounts, begun.
        segments_allowed: how many the design's promise covers.
        last_refusal: the reason of the last reading that was refused.
        standing: why the design refuses to cover readings at present; None if it does not.
        failure: why the source ended, if that was not its natural end.
        account: of a design that bounds temporal leakage.
        unaccounted: of a design that bounds none, what it bounds instead; None for any other.
    """

    design: str
    design_sha256: str
    counts: Mapping[str, int] = field(default_factory=dict)
    released_ms: int | None = None
    segments_used: int = 0
    segments_allowed: int = 1
    last_refusal: str | None = None
    standing: str | None = None
    failure: str | None = None
    account: Account | None = None
    unaccounted: str | None = None


def worst_so_far(earlier: Account | None, now: Account | None) -> Account | None:
    """A lost account forgets its worst; the report does not."""
    if earlier is None or now is None:
        return now
    return replace(now, worst=max(now.worst, earlier.worst))


def encode_report(report: ChannelReport) -> str:
    """JSON, keys sorted, no blanks; ``unaccounted`` only where there is something to say."""
    values = asdict(report)
    if report.unaccounted is None:
        del values["unaccounted"]
    return json.dumps(values, sort_keys=True, separators=(",", ":"), allow_nan=False)


def decode_report(text: str) -> ChannelReport:
    """The inverse of :func:`encode_report`.

    Raises:
        FormatError: not what it writes.
    """
    wrong = FormatError("the stored health report is damaged or of another version")
    if len(text) > MAX_REPORT_BYTES:
        raise wrong
    try:
        found = json.loads(text)
        account = found.pop("account")
        report = ChannelReport(**found, account=None if account is None else Account(**account))
        sound = _is_sound(report) and encode_report(report) == text
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise wrong from None
    if not sound:
        raise wrong
    return report


def _is_sound(report: ChannelReport) -> bool:
    texts = (report.design, report.design_sha256)
    reasons = (report.last_refusal, report.standing, report.failure, report.unaccounted)
    whole = (report.segments_used, report.segments_allowed, *report.counts.values())
    account = report.account
    amounts = () if account is None else (account.limit, account.worst, account.recent)
    return (
        all(isinstance(text, str) for text in (*texts, *report.counts))
        and all(reason is None or isinstance(reason, str) for reason in reasons)
        and all(type(number) is int and number >= 0 for number in whole)
        and (account is None or type(account.horizon) is int)
        and (report.released_ms is None or type(report.released_ms) is int)
        and all(isinstance(amount, float) and math.isfinite(amount) for amount in amounts)
    )
