"""What a finished design says to a person, and as JSON."""

import textwrap
from typing import Any

from agent.formats.design_summary import noise_std_range, promise_warnings, summarise, typical_error
from agent.formats.designs import NoiseDesign, StreamDesign
from agent.formats.leakage_design import LeakageDesign
from agent.formats.leakage_summary import describe_leakage
from agent.formats.mapping_design import MappingDesign
from agent.formats.mapping_summary import describe_mapping
from precompute.build_bundle import BuiltBundle
from precompute.cip.accounting import odds_statement
from precompute.design_kinds.request import BuiltDesign

WIDTH = 96


def bundle_json(bundle: BuiltBundle, path: str) -> dict[str, Any]:
    """The object that ``--json`` prints."""
    designs = []
    for built in bundle.designs:
        summary = {**summarise(built.design), **built.figures}
        designs.append({**summary, "warnings": [*summary.get("warnings", ()), *built.warnings]})
    return {"bundle": path, "sha256": bundle.sha256, "designs": designs}


def bundle_words(bundle: BuiltBundle, path: str) -> str:
    """Every design in plain words, and the digest to pin."""
    parts = [_design_words(built) for built in bundle.designs]
    parts.append(
        f"{path}: {len(bundle.content)} bytes. Pin it in the agent's configuration:\n"
        f"  bundle: {{path: {path}, sha256: {bundle.sha256}}}"
    )
    return "\n\n".join(parts)


def _design_words(built: BuiltDesign) -> str:
    design = built.design
    if isinstance(design, LeakageDesign):
        head, *sentences = describe_leakage(design)
        return "\n".join([head, *(_wrapped("-", sentence) for sentence in sentences)])
    if isinstance(design, MappingDesign):
        head, *sentences = describe_mapping(design)
        lines = (
            *(("-", sentence) for sentence in sentences),
            *(("how", words) for words in built.words),
            *(("WARNING", words) for words in built.warnings),
        )
        return "\n".join([head, *(_wrapped(label, words) for label, words in lines)])
    return _noise_words(design, built)


def _noise_words(design: NoiseDesign, built: BuiltDesign) -> str:
    promise = design.guarantee
    std = design.noise_variance**0.5
    unit = "" if design.unit == "1" else f" {design.unit}"
    odds = odds_statement(promise.radius, unit.strip(), promise.epsilon, promise.delta)
    lowest, highest = noise_std_range(design)
    even = highest - lowest <= 0.01 * highest
    error = typical_error(std, len(design.axes)) if even else None
    typical = f" (from {lowest:.4g} to {highest:.4g} over the window)" if not even else ""
    if error:
        typical = f"; a published value is {error.mean:.4g}{unit} off on average"
    pieces = (
        ""
        if promise.segments == 1
        else f" All of this for {promise.segments} independent pieces of noise together."
    )
    kind = "stream" if isinstance(design, StreamDesign) else "window"
    lines = [
        ("noise", f"standard deviation {std:.4g}{unit} on each axis{typical}"),
        ("promise", odds.replace("  ", " ") + pieces),
        ("secrets", promise.secrets),
        ("against", "; ".join(promise.prior) + "; any mean"),
        (
            "numbers",
            f"worst information {promise.worst_information:.6g}, limit "
            f"{promise.information_limit:.6g}, rho {promise.rho:.4g}",
        ),
        *(("how", words) for words in built.words),
        *(("WARNING", words) for words in (*promise_warnings(design), *built.warnings)),
    ]
    head = f"{design.name}: a {kind} on {', '.join(design.axes)}"
    return "\n".join([head, *(_wrapped(label, words) for label, words in lines)])


def _wrapped(label: str, words: str) -> str:
    return textwrap.fill(words, WIDTH, initial_indent=f"  {label:<9}", subsequent_indent=" " * 11)
