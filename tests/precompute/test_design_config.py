"""Design files: what is accepted, what is refused, and in which words."""

import math
from pathlib import Path

import pytest

from agent.formats.documents import parse_yaml
from agent.formats.errors import FormatError, SfumatoError
from precompute.build_bundle import build_bundle
from precompute.design_config import load_requests, read_requests

STREAM = """
designs:
  - name: location
    kind: stream
    axes: [east, north]
    secret: {radius: 500 m}
    protect: {epsilon: 1.0, delta: 1.0e-3}
    prior: {kernels: [{family: rbf, lengthscale: [30 s, 14 d]}]}
"""
WINDOW = """
designs:
  - name: trip
    kind: window
    times: {count: 50, step: 1 s}
    prior: {kernels: [{family: rbf, variance: 1.0, lengthscale: 6 s}]}
    secrets: all
    budget: {mse: 0.02}
"""


def requests_of(text, folder=Path()):
    return read_requests(parse_yaml(text.encode(), "design.yaml"), folder)


def changed(text, old, new):
    assert old in text
    return requests_of(text.replace(old, new))


def test_the_two_shapes_of_the_documentation_are_read():
    (stream,), (window,) = requests_of(STREAM), requests_of(WINDOW)
    assert (stream.promise.axes, stream.promise.unit) == (("east", "north"), "m")
    assert (stream.promise.radius, stream.promise.grid) == (500.0, 0.01)
    assert (window.promise.axes, window.promise.unit) == (("value",), "1")
    assert (window.promise.power, window.rows, window.step_ms) == (0.02, 50, 1000)


def test_epsilon_becomes_the_information_it_allows():
    (request,) = requests_of(STREAM)
    log = math.log(1000)
    rho = (math.sqrt(log + 1) - math.sqrt(log)) ** 2
    assert rho + 2 * math.sqrt(rho * log) == pytest.approx(1.0, rel=1e-12)
    radius = 500 + 0.01 * math.sqrt(2)
    assert request.promise.information_limit == pytest.approx(2 * rho / radius**2, rel=1e-12)


def test_each_segment_takes_its_share():
    (one,) = requests_of(STREAM)
    (four,) = changed(STREAM, "kind: stream", "kind: stream\n    segments: 4")
    assert four.promise.information_limit == pytest.approx(one.promise.information_limit / 4)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("secret: {radius: 500 m}\n    protect: {", "protect: {radius: 500 m, "),
        ("epsilon: 1.0, delta: 1.0e-3", "rho: 0.0337868"),
        ("delta: 1.0e-3}", "}\n    delta: 1e-3"),
        ("500 m", "0.5 km"),
        ("kind: stream", "kind: stream\n    unit: m\n    grid: 1 cm"),
    ],
)
def test_other_spellings_mean_the_same(old, new):
    (plain,), (other,) = requests_of(STREAM), changed(STREAM, old, new)
    expected = plain.promise.information_limit
    assert other.promise.information_limit == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    "words", ["noise: {std: 200 m}", "budget: {std: 200 m}", "budget: {mse: 40000 m^2}"]
)
def test_noise_may_be_given_and_the_promise_follows(words):
    (request,) = changed(STREAM, "protect: {epsilon: 1.0, delta: 1.0e-3}", words)
    assert request.promise.power == pytest.approx(40_000)
    assert request.promise.information_limit is None


def test_a_prior_may_stand_in_a_file_beside_the_design(tmp_path):
    (tmp_path / "prior.yaml").write_text(
        "prior: {kernels: [{family: rbf, lengthscale: [30 s, 14 d]}]}"
    )
    design = tmp_path / "design.yaml"
    design.write_text(
        STREAM.replace("{kernels: [{family: rbf, lengthscale: [30 s, 14 d]}]}", "prior.yaml")
    )
    (request,) = load_requests(design)
    assert request.promise.prior.describe() == ("RBF of lengthscale 30 s to 14 d, any variance",)


@pytest.mark.parametrize(
    ("text", "old", "new", "words"),
    [
        (STREAM, "kind: stream", "kind: steam", "expected one of stream, window, leakage"),
        (STREAM, "secret:", "sekret:", "sekret"),
        (STREAM, "500 m", "500", "no unit"),
        (STREAM, "500 m", "-500 m", "above zero"),
        (STREAM, "epsilon: 1.0", "epsilon: 0", "above zero"),
        (STREAM, "delta: 1.0e-3", "delta: 1.5", "between 0 and 1"),
        (STREAM, "epsilon: 1.0", "epsilon: 1.0, rho: 1.0", "one of epsilon and rho"),
        (STREAM, "protect:", "noise: {std: 1 m}\n    protect:", "protect and noise"),
        (STREAM, "    protect: {epsilon: 1.0, delta: 1.0e-3}\n", "", "none of them"),
        (STREAM, "    secret: {radius: 500 m}\n", "", "'secret' is missing"),
        (STREAM, "epsilon: 1.0", "radius: 1 m, epsilon: 1.0", "write it once"),
        (STREAM, "[30 s, 14 d]", "[14 d, 30 s]", "smaller first"),
        (STREAM, "[30 s, 14 d]", "30", "no unit"),
        (STREAM, "[east, north]", "[east, east]", "different names"),
        (STREAM, "kind: stream", "kind: stream\n    unit: Cel", "east and north are in m"),
        (STREAM, "kind: stream", "kind: stream\n    segments: 0", "at least 1"),
        (STREAM, "kind: stream", "kind: stream\n    times: 3", "times"),
        (STREAM, "name: location", "name: lo cation", "letters, digits"),
        (WINDOW, "mse: 0.02", "mse: 0", "above zero"),
        (WINDOW, "mse: 0.02", "mse: 0.02, std: 1", "one of std and mse"),
        (STREAM, ", delta: 1.0e-3", "", "epsilon is given without delta"),
        (STREAM, "epsilon: 1.0", "epsilon: 1e300", "expected an amount between"),
        (STREAM, "epsilon: 1.0", "epsilon: 1e9", "1e-09 to 1e.06"),
        (STREAM, "epsilon: 1.0, delta: 1.0e-3", "rho: 1e-200", "expected an amount between"),
        (STREAM, "delta: 1.0e-3", "delta: 1e-320", "at least 1e-100"),
        (STREAM, "500 m", "1e200 m", "expected an amount between 1e-30 and 1e.30"),
        (STREAM, "500 m", "1e-200 m", "expected an amount between 1e-30 and 1e.30"),
        (STREAM, "500 m", "1e400 m", "not finite"),
        (STREAM, "500 m", "1" * 400, "no unit"),
        (STREAM, "epsilon: 1.0", "epsilon: " + "1" * 400, "finite number"),
        (STREAM, "14 d", "1e200 d", "expected an amount between"),
        (STREAM, "[east, north]", "[]", r"found \[\]; expected 1 to 8 different names, such as"),
        (STREAM, "[east, north]", "east", "expected 1 to 8 different names, such as"),
        (WINDOW, "count: 50", "count: 7000", "at most 2828"),
        (WINDOW, "count: 50", "count: 2829", "at most 2828: a bundle holds 8,000,000 numbers"),
        (WINDOW, "secrets: all", "secrets: al", "found 'al'; expected all, or one or more lists"),
        (WINDOW, "variance: 1.0", "variance: 1 m2", "without one"),
        (WINDOW, "step: 1 s", "step: 0.1 ms", "whole number of milliseconds"),
        (WINDOW, "secrets: all", "secrets: []", "one or more"),
        (WINDOW, "secrets: all", "secrets: [[]]", "one or more"),
        (WINDOW, "secrets: all", "secrets: [[50]]", "expected 0 to 49"),
        (WINDOW, "secrets: all", "secrets: [[3, 3]]", "twice"),
        (WINDOW, "secrets: all", "secrets: [[3], [3]]", "repeated"),
        (WINDOW, "secrets: all", "structure: blok", "block"),
        (WINDOW, "secrets: all", "floor: -1", "0 or more"),
    ],
)
def test_what_is_wrong_is_refused_in_one_line(text, old, new, words):
    with pytest.raises(SfumatoError, match=words) as caught:
        changed(text, old, new)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("written", ["4", "4.0", "4 m2", "4 m^2", "4 m²", "40000 cm2"])
def test_a_variance_may_have_its_channels_unit_squared(written):
    variance = f"variance: {written}, lengthscale"
    (request,) = changed(STREAM, "lengthscale", variance)
    assert request.promise.prior.kernels[0].variance == pytest.approx(4.0)


@pytest.mark.parametrize("written", ["4 m", "4 s2", "4 Cel2", "-4 m2", "m2"])
def test_a_variance_in_another_unit_is_refused(written):
    with pytest.raises(FormatError, match="variance"):
        changed(STREAM, "lengthscale", f"variance: {written}, lengthscale")


def test_what_was_found_is_cut_where_it_is_long():
    for old, new in (("stream", "s" * 5000), ("500 m", "5" + " m" * 5000), ("name", "n" * 5000)):
        with pytest.raises(FormatError) as caught:
            changed(STREAM, f" {old}" if old != "name" else "name", f" {new}")
        assert len(str(caught.value)) < 400
    with pytest.raises(FormatError) as caught:
        changed(WINDOW, "secrets: all", f"secrets: [[{'1, ' * 5000} 1]]")
    assert len(str(caught.value)) < 400


def test_one_name_cannot_stand_for_two_designs():
    twice = WINDOW + WINDOW.partition("designs:\n")[2]
    with pytest.raises(FormatError, match="stands twice"):
        requests_of(twice)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "family: rbf, variance: 1.0, lengthscale: 6 s",
            "family: rbf, lengthscale: [6 s, 9 s]",
            "no variance",
        ),
        (
            "family: rbf, variance: 1.0, lengthscale: 6 s",
            "family: periodic, period: 1.5 s, lengthscale: 1",
            "two steps a period",
        ),
        ("secrets: all", "secrets: [[3]]\n    floor: 1", "floor"),
        (
            "variance: 1.0, lengthscale: 6 s}]}\n    secrets: all",
            "lengthscale: 6 s}]}\n    secrets: [[3]]",
            "no variance",
        ),
    ],
)
def test_what_no_noise_can_do_is_refused_with_the_name_of_the_design(old, new, words):
    requests = changed(WINDOW, old, new)
    with pytest.raises(SfumatoError, match=words) as caught:
        build_bundle(requests)
    assert "'trip'" in str(caught.value)
