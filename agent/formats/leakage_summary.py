"""What a leakage design promises, in figures and in words, for ``sfumato inspect``."""

from typing import Any

from agent.formats.amounts import limit_in_words
from agent.formats.leakage_design import LeakageDesign
from agent.formats.odds import odds_factor, odds_in_words
from agent.formats.quantities import format_duration

_MECHANISMS = {
    "randomised_response": "k-ary randomised response: the state, or sometimes another one",
    "unary_encoding": "optimised unary encoding: a set of states that favours the true one",
    "grid_laplace": "two-sided geometric noise on the state's number",
    "planar_laplace": "planar Laplace noise on the state's cell",
}


def summarise_leakage(design: LeakageDesign) -> dict[str, Any]:
    """JSON values; amounts in nats, no infinities."""
    return {
        "name": design.name,
        "kind": design.kind,
        "mechanism": design.mechanism,
        "policy": design.policy,
        "states": len(design.states),
        "step_seconds": design.step_ms / 1000,
        "alpha": design.limit,
        "epsilon_steady": design.epsilon,
        "epsilon_most": design.steady_backward if design.policy == "adaptive" else design.epsilon,
        "odds_factor": odds_factor(design.limit),
        "memoise_seconds": None
        if design.memoise_steps is None
        else design.memoise_steps * design.step_ms / 1000,
        "segments": design.segments,
        "horizon": design.horizon,
        "backward_pieces": len(design.backward.starts),
        "forward_pieces": len(design.forward.starts),
        "knowledge": list(design.knowledge),
    }


def describe_leakage(design: LeakageDesign) -> tuple[str, ...]:
    """Sentences for a terminal."""
    factor = f"by a factor of at most {odds_in_words(design.limit)}"
    step = format_duration(design.step_ms / 1000)
    lines = [
        f"{design.name}: one of {len(design.states)} states, at most one release every {step}",
        f"mechanism: {_MECHANISMS[design.mechanism]}; sampled exactly",
    ]
    if design.policy == "memoised":
        assert design.memoise_steps is not None
        period = format_duration(design.memoise_steps * design.step_ms / 1000)
        lines += [
            f"within {period}, a state always gets the same release; which state it was: odds "
            f"change {factor} (epsilon {limit_in_words(design.limit)}), for each different state",
            "not hidden: when the state changes, and that it came back",
        ]
    else:
        lines += [
            f"all releases together change the odds about the state at any one step {factor} "
            f"(temporal leakage at most alpha = {limit_in_words(design.limit)} nats), for ever",
            f"budget of a release in a long run: {design.epsilon:.4g}"
            + (
                f"; after a long silence up to {design.steady_backward:.4g}"
                if design.policy == "adaptive"
                else ""
            ),
            *(f"the observer is assumed to know {line}" for line in design.knowledge),
            "not covered: an observer who knows the habits better than that, and several states "
            "taken together, whose leakages add up",
        ]
    if design.policy == "memoised":
        lines.append("each time the device loses its state, every state may be drawn once more")
    else:
        lines.append(
            "the device's account begins with the worst that a lost one may have said, and with "
            "one release that does not look at the state"
        )
    lines.append(f"after {design.segments - 1} losses of its state the device refuses to go on")
    return tuple(lines)


def describe_memoised(design: LeakageDesign) -> str | None:
    """What a design bounds that keeps no account; None for one that keeps an account."""
    if design.memoise_steps is None:
        return None
    period = format_duration(design.memoise_steps * design.step_ms / 1000)
    return (
        f"epsilon {limit_in_words(design.limit)} per state in each {period}; no account over time"
    )
