"""The page about a bundle: for every design, what it promises and pictures of why.

Pure: designs in, HTML out. A bundle tells a noise's class of priors in words only; with the design
file that made it, the pictures show where the class ends and what lies beyond. Of a mapping the
bundle holds all that is drawn.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from agent.formats.bundle import Bundle
from agent.formats.designs import NoiseDesign, StreamDesign
from agent.formats.leakage_design import LeakageDesign
from agent.formats.leakage_summary import describe_leakage
from agent.formats.mapping_design import MappingDesign
from agent.formats.mapping_summary import describe_mapping
from agent.formats.odds import certainty_in_words, epsilon_at_distance, odds_in_words, rounded_up
from agent.formats.quantities import format_duration
from precompute.priors.prior_class import PriorClass
from precompute.reports.design_pictures import stream_pictures, window_pictures
from precompute.reports.mapping_pictures import mapping_pictures
from precompute.reports.page import bullets, heading, paragraph, pictures, render_page, table

BRAND = "sfumato · a bundle explained"
DISTANCES = (0.5, 1.0, 2.0, 4.0)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a design file says about a design; ``secrets`` None means every single reading."""

    prior: PriorClass
    secrets: tuple[tuple[int, ...], ...] | None = None


def render_designs(bundle: Bundle, asked: Mapping[str, Asked]) -> str:
    """The page; ``asked`` holds the designs whose design file is known."""
    names = ", ".join(bundle.designs)
    parts = [
        paragraph(BRAND, "brand"),
        heading(1, f"What {names if len(bundle.designs) == 1 else 'each'} hides, and from whom"),
        paragraph(f"SHA-256 {bundle.sha256}", "note"),
    ]
    for design in bundle.designs.values():
        if isinstance(design, LeakageDesign):
            # An account has neither noise nor a spectrum to draw: its words are all there is.
            parts += [
                heading(2, f"{design.name}: released states"),
                bullets(describe_leakage(design)[1:]),
            ]
        elif isinstance(design, MappingDesign):
            parts += [
                heading(2, f"{design.name}: what sensor nodes say"),
                *mapping_pictures(design),
                heading(3, "In words"),
                bullets(describe_mapping(design)[1:]),
            ]
        else:
            parts += _design(design, asked.get(design.name))
    return render_page(f"sfumato: {names}", "\n".join(parts))


def _design(design: NoiseDesign, asked: Asked | None) -> list[str]:
    parts = [heading(2, f"{design.name}: {_kind(design)}"), paragraph(_lead(design), "lead")]
    if isinstance(design, StreamDesign):
        parts.append(pictures(stream_pictures(design, None if asked is None else asked.prior)))
    else:
        figures = window_pictures(
            design,
            None if asked is None else asked.prior,
            None if asked is None else asked.secrets,
        )
        parts.append(pictures(figures))
    if asked is None:
        parts.append(
            paragraph(
                "A bundle names its class of priors in words only. With the design file that made "
                "it (--design) the pictures also show the class, and the loss inside and outside.",
                "note",
            )
        )
    parts += [
        heading(3, "How far apart, how well hidden"),
        _promises(design),
        heading(3, "Against an observer whose ups and downs are"),
        bullets(design.guarantee.prior),
        paragraph(
            f"Protected: {design.guarantee.secrets}. Beyond these priors the promise does not "
            "hold; the mean is free, so a habit, a route or a home known beforehand is no help.",
        ),
    ]
    return parts


def _kind(design: NoiseDesign) -> str:
    axes = " and ".join(design.axes)
    return f"{'a stream' if isinstance(design, StreamDesign) else 'a window'} on {axes}"


def _lead(design: NoiseDesign) -> str:
    std = math.sqrt(design.noise_variance)
    promise = design.guarantee
    per_axis = " on each axis" if len(design.axes) > 1 else ""
    made_of = (
        f"a sum of {len(design.components)} components that go on for ever"
        if isinstance(design, StreamDesign)
        else f"{design.factor.shape[0]} readings {format_duration(design.step_ms / 1000)} apart, "
        f"from {design.factor.shape[1]} random numbers"
    )
    return (
        f"Gaussian noise of {_amount(std, design)}{per_axis}: {made_of}. The odds between "
        f"the true value and any other within {_amount(promise.radius, design)} of it change by at "
        f"most a factor of {odds_in_words(promise.epsilon)}, except with probability "
        f"{promise.delta:g}."
    )


def _promises(design: NoiseDesign) -> str:
    promise = design.guarantee
    rows = []
    for times in DISTANCES:
        epsilon = epsilon_at_distance(promise.rho, promise.delta, times)
        rows.append(
            (
                (_amount(times * promise.radius, design), "apart at most"),
                (f"{rounded_up(epsilon):.3g}", f"at delta {promise.delta:g}"),
                (odds_in_words(epsilon), ""),
                (certainty_in_words(epsilon), ""),
            )
        )
    return table(["Two values", "epsilon", "odds change by", "an even guess becomes"], rows)


def _amount(value: float, design: NoiseDesign) -> str:
    if design.unit == "m" and value >= 1000:
        return f"{value / 1000:.3g} km"
    return f"{value:.3g}" + ("" if design.unit == "1" else f" {design.unit}")
