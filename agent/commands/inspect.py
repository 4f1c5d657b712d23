"""``sfumato inspect``: what a bundle guarantees, in plain words and numbers."""

import argparse
import json
import math
import textwrap
from collections.abc import Iterator
from pathlib import Path

from agent.formats.bundle import Bundle, load_bundle
from agent.formats.design_json import VERSION
from agent.formats.design_summary import noise_std_range, promise_warnings, summarise, typical_error
from agent.formats.designs import NoiseDesign, StreamDesign
from agent.formats.leakage_design import LeakageDesign
from agent.formats.leakage_summary import describe_leakage
from agent.formats.mapping_design import MappingDesign
from agent.formats.mapping_summary import describe_mapping
from agent.formats.odds import certainty_in_words, epsilon_at_distance, odds_in_words
from agent.formats.quantities import format_duration

HELP = "say what a bundle guarantees, in plain words (or --json)"

# How far the agent can hold to it: agent/state_folder.py.
_COUNTED = (
    "Starts are counted in the agent's state folder: noise state lost from it is noticed, but "
    "whoever deletes or replaces the whole folder starts anew and spends the promise once more."
)

_WIDTH = 88
_LABEL = 14


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("bundle", type=Path, metavar="BUNDLE", help="file made by `sfumato design`")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead")


def run(arguments: argparse.Namespace) -> int:
    """Print the description; exit code 0.

    Raises:
        FormatError: the file is not a bundle, or is damaged.
    """
    bundle = load_bundle(arguments.bundle)
    if arguments.json:
        summaries = [summarise(design) for design in bundle.designs.values()]
        document = {
            "bundle": str(arguments.bundle),
            "sha256": bundle.sha256,
            "format_version": VERSION,
            "designs": summaries,
        }
        print(json.dumps(document, indent=2, sort_keys=True, allow_nan=False))
    else:
        print("\n".join(describe(bundle, str(arguments.bundle))))
    return 0


def describe(bundle: Bundle, name: str) -> Iterator[str]:
    """The lines of the description."""
    count = len(bundle.designs)
    yield f"{name}: {count} design{'s' if count > 1 else ''}, undamaged"
    yield f"SHA-256 {bundle.sha256}"
    yield "(pin it in the agent's configuration, as `sha256` under `bundle`)"
    for design in bundle.designs.values():
        yield ""
        if isinstance(design, (LeakageDesign, MappingDesign)):
            head, *sentences = (
                describe_leakage(design)
                if isinstance(design, LeakageDesign)
                else describe_mapping(design)
            )
            yield head
            for sentence in sentences:
                yield from textwrap.wrap(
                    sentence, _WIDTH, initial_indent="  - ", subsequent_indent="    "
                )
            continue
        kind = "noise without end" if isinstance(design, StreamDesign) else "noise for a window"
        yield f"{design.name}: {kind} on {_joined(design.axes)}"
        for label, sentence in _paragraphs(design):
            yield from textwrap.wrap(
                sentence,
                _WIDTH,
                initial_indent=f"  {label:<{_LABEL}}",
                subsequent_indent=" " * (_LABEL + 2),
                break_long_words=False,
            )


def _paragraphs(design: NoiseDesign) -> Iterator[tuple[str, str]]:
    """(label, sentence) pairs."""
    yield "adds", _noise(design)
    yield "protects", f"{design.guarantee.secrets}."
    yield "promises", _promise(design)
    for sentence in promise_warnings(design):
        yield "WARNING", f"{sentence}."
    yield "further apart", _farther(design)
    yield "lasts", _duration(design)
    yield (
        "against",
        "an observer who may know beforehand where things are on average (any place, route or "
        "habit), and who takes the ups and downs around that for one of these:",
    )
    for sentence in design.guarantee.prior:
        yield "", f"- {sentence}"
    if design.guarantee.variance_free:
        yield "", "each at any scale: the promise holds whatever its variance."
    label = "NOT promised"
    for sentence in _limits(design):
        yield label, f"- {sentence}"
        label = ""
    yield "figures", _figures(design)


def _noise(design: NoiseDesign) -> str:
    lowest, highest = noise_std_range(design)
    per_axis = " per axis" if len(design.axes) > 1 else ""
    if highest - lowest > 0.01 * highest:
        return (
            f"Gaussian noise whose standard deviation{per_axis} lies between "
            f"{_amount(lowest, design)} and {_amount(highest, design)}, depending on the reading."
        )
    std = math.sqrt(design.noise_variance)
    sentence = f"Gaussian noise of standard deviation {_amount(std, design)}{per_axis}."
    error = typical_error(std, len(design.axes))
    if error is not None:
        sentence += (
            f" A published value is off by {_amount(error.mean, design)} on average; 95 % are off "
            f"by less than {_amount(error.within_95, design)}."
        )
    return f"{sentence} Published in steps of {_amount(design.grid, design)}."


def _promise(design: NoiseDesign) -> str:
    promise = design.guarantee
    what = "place" if design.unit == "m" and len(design.axes) > 1 else "value"
    return (
        f"whatever an observer believed before, the odds between the true {what} and any other "
        f"within {_amount(promise.radius, design)} of it change by at most a factor "
        f"{odds_in_words(promise.epsilon)} (e^{promise.epsilon:.3g}), except with probability "
        f"{promise.delta:g}. Who held both for equally likely ends up at most "
        f"{certainty_in_words(promise.epsilon)} sure."
    )


def _farther(design: NoiseDesign) -> str:
    promise = design.guarantee
    epsilon = epsilon_at_distance(promise.rho, promise.delta, 2.0)
    return (
        f"the promise weakens with distance: within {_amount(2 * promise.radius, design)} the "
        f"factor is at most {odds_in_words(epsilon)} (e^{epsilon:.3g})."
    )


def _duration(design: NoiseDesign) -> str:
    segments = design.guarantee.segments
    if isinstance(design, StreamDesign):
        starts = (
            "the first start of fresh noise only"
            if segments == 1
            else f"up to {segments} starts of fresh noise (the first, and each loss of its state)"
        )
        starts += f"; after that the agent refuses. {_COUNTED}"
        return (
            "the whole stream together, however long, at any rate and with any dropouts; no budget "
            f"runs out. It covers {starts}"
        )
    rows = design.factor.shape[0]
    windows = "one window" if segments == 1 else f"{segments} windows together, each"
    return (
        f"{windows} of {rows} readings, one every {format_duration(design.step_ms / 1000.0)} "
        f"({_span(rows * design.step_ms / 1000.0)}); after that the agent refuses. {_COUNTED}"
    )


def _limits(design: NoiseDesign) -> Iterator[str]:
    promise = design.guarantee
    if design.unit == "m" and len(design.axes) > 1:
        yield "an observer who knows the road map, a timetable or who travels with whom."
    else:
        yield "an observer with another sensor of the same thing, or one that moves with it."
    yield "changes slower, faster or of another kind than the list above describes."
    if isinstance(design, StreamDesign):
        yield "several readings taken as one secret, such as where somebody spent a night."
    else:
        yield "secrets other than those named under 'protects'."
    if not promise.variance_free:
        yield "variances other than those in the list above."
    yield "what goes out beside the value: when a message is sent, its topic, that it exists."


def _figures(design: NoiseDesign) -> str:
    promise = design.guarantee
    unit = "" if design.unit == "1" else f" 1/{design.unit}^2"
    if isinstance(design, StreamDesign):
        parts = "; ".join(
            f"{c.family} {_amount(math.sqrt(c.variance), design)} over "
            f"{_span(c.timescale_seconds)}"
            + ("" if c.period_seconds is None else f" every {_span(c.period_seconds)}")
            for c in design.components
        )
        made_of = f"components {parts}"
    else:
        made_of = f"factor {design.factor.shape[0]} x {design.factor.shape[1]}"
    return (
        f"rho {promise.rho:.4g} (Renyi loss of order a is a rho), epsilon {promise.epsilon:.4g} at "
        f"delta {promise.delta:g}; information at most {promise.worst_information:.4g}{unit}, "
        f"limit {promise.information_limit:.4g}{unit}; {made_of}."
    )


def _amount(value: float, design: NoiseDesign) -> str:
    unit = "" if design.unit == "1" else f" {design.unit}"
    if design.unit == "m" and value >= 1000.0:
        return f"{_number(value / 1000.0)} km"
    return f"{_number(value)}{unit}"


def _number(value: float) -> str:
    """Three digits, without an exponent where people would not expect one."""
    return f"{float(f'{value:.3g}'):,.0f}" if 1000.0 <= value < 1e9 else f"{value:.3g}"


def _span(seconds: float) -> str:
    """About how long, in the largest unit that it fills."""
    for unit, length in (("d", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= length:
            return f"{_number(seconds / length)} {unit}"
    return format_duration(seconds)


def _joined(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
