import hashlib
import io
import math
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from agent.formats.bundle import design_digest, load_bundle, read_bundle, write_bundle
from agent.formats.designs import (
    Component,
    Design,
    Guarantee,
    StreamDesign,
    WindowDesign,
)
from agent.formats.errors import FormatError
from tests.agent.example_designs import FAMILIES, lower_factor, stream, window

GOLDEN_SHA256 = "36ac19d8df00e4b0d567657e4eef7deb9a7308dd11082dbf4ed41549f8278294"

amounts = st.floats(1e-12, 1e12)
sentences = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=30)
names = st.from_regex(r"[A-Za-z0-9_-]{1,64}", fullmatch=True)


@st.composite
def guarantees(draw: st.DrawFn) -> Guarantee:
    return Guarantee(
        prior=tuple(draw(st.lists(sentences, max_size=3))),
        secrets=draw(sentences),
        radius=draw(amounts),
        information_limit=draw(amounts),
        worst_information=draw(amounts),
        segments=draw(st.integers(1, 10**6)),
        rho=draw(amounts),
        epsilon=draw(amounts),
        delta=draw(st.floats(1e-15, 0.9)),
        variance_free=draw(st.booleans()),
    )


@st.composite
def designs(draw: st.DrawFn, name: str) -> Design:
    axes = tuple(draw(st.lists(sentences, min_size=1, max_size=3, unique=True)))
    unit, grid, promise = draw(sentences), draw(amounts), draw(guarantees())
    if draw(st.booleans()):
        components = []
        for family in draw(st.lists(st.sampled_from(sorted(FAMILIES)), min_size=1, max_size=4)):
            period = draw(amounts) if family == "oscillator" else None
            components.append(Component(family, draw(amounts), draw(amounts), period))
        return StreamDesign(name, axes, unit, grid, tuple(components), promise)
    rows = draw(st.integers(1, 5))
    factor = draw(arrays(np.float64, (rows, draw(st.integers(1, rows))), elements=amounts))
    return WindowDesign(name, axes, unit, grid, draw(st.integers(1, 10**9)), factor, promise)


@settings(max_examples=30, deadline=None)
@given(data=st.data(), chosen=st.lists(names, min_size=1, max_size=3, unique=True))
def test_what_is_written_is_read(data: st.DataObject, chosen: list[str]) -> None:
    listed = [data.draw(designs(name)) for name in chosen]
    content = write_bundle(listed)
    bundle = read_bundle(content)
    assert list(bundle.designs) == chosen
    assert bundle.sha256 == hashlib.sha256(content).hexdigest()
    for before, after in zip(listed, bundle.designs.values(), strict=True):
        assert type(before) is type(after)
        assert before.guarantee == after.guarantee
        assert design_digest(before) == design_digest(after)
        if isinstance(before, WindowDesign):
            assert isinstance(after, WindowDesign)
            np.testing.assert_array_equal(before.factor, after.factor)
        else:
            assert before == after
    assert write_bundle(bundle.designs.values()) == content


def test_the_bytes_of_a_fixed_bundle_never_change() -> None:
    assert read_bundle(write_bundle([stream(), window()])).sha256 == GOLDEN_SHA256


def test_numpy_opens_it_without_pickle() -> None:
    content = write_bundle([stream(), window()])
    with np.load(io.BytesIO(content), allow_pickle=False) as opened:
        assert sorted(opened.files) == ["manifest", "trip.factor"]
        np.testing.assert_array_equal(opened["trip.factor"], lower_factor(5))
        assert opened["manifest"].tobytes().startswith(b'{\n "designs": [')


def test_the_digest_is_what_sha256sum_prints(tmp_path: Path) -> None:
    path = tmp_path / "location.bundle"
    path.write_bytes(write_bundle([stream()]))
    printed = subprocess.run(["sha256sum", path], capture_output=True, text=True, check=True)
    assert printed.stdout.split()[0] == load_bundle(path).sha256


def test_a_pinned_digest_is_accepted_in_any_case(tmp_path: Path) -> None:
    path = tmp_path / "location.bundle"
    path.write_bytes(write_bundle([stream()]))
    digest = load_bundle(path).sha256
    assert load_bundle(path, digest.upper()).sha256 == digest


def test_another_digest_is_refused_and_the_message_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "location.bundle"
    path.write_bytes(write_bundle([stream()]))
    pinned = read_bundle(write_bundle([stream(segments=2)])).sha256
    with pytest.raises(FormatError) as refusal:
        load_bundle(path, pinned)
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    for part in ("refused", found, pinned, "sfumato inspect", str(path)):
        assert part in str(refusal.value)


def test_integers_where_floats_are_declared_make_no_difference() -> None:
    whole = StreamDesign(
        "d", ("x",), "m", 1, (Component("matern12", 4, np.float64(60.0)),), stream().guarantee
    )
    fractional = StreamDesign(
        "d", ("x",), "m", 1.0, (Component("matern12", 4.0, 60.0),), stream().guarantee
    )
    assert write_bundle([whole]) == write_bundle([fractional])
    assert design_digest(whole) == design_digest(fractional)


def test_digests_tell_designs_apart() -> None:
    factor = lower_factor(5).copy()
    factor[4, 0] = math.nextafter(factor[4, 0], 1.0)
    several = [stream(), stream(segments=2), stream(axes=("x",)), window(), window(factor)]
    assert len({design_digest(design) for design in several}) == len(several)


def test_a_bundle_knows_which_designs_it_lacks() -> None:
    bundle = read_bundle(write_bundle([stream(), window()]))
    assert bundle.design("trip").kind == "window"
    with pytest.raises(FormatError, match=r"no design 'home'.*it holds location, trip"):
        bundle.design("home")


@pytest.mark.parametrize(
    "listed",
    [[], [stream(), stream()], [stream()] * 65],
    ids=["none", "two of one name", "too many"],
)
def test_what_cannot_be_a_bundle_is_not_written(listed: list[Design]) -> None:
    with pytest.raises(FormatError, match="different names"):
        write_bundle(listed)


def test_text_that_could_drive_a_terminal_is_not_written() -> None:
    promise = stream().guarantee
    for text in ("\x1b[2J", "a\nb", "\udc80", "x" * 3000, " \u202e"):
        changed = Guarantee(**{**_fields(promise), "secrets": text})
        design = StreamDesign("d", ("x",), "m", 1.0, stream().components, changed)
        with pytest.raises(FormatError, match="not printable"):
            write_bundle([design])


def _fields(promise: Guarantee) -> dict[str, object]:
    return {name: getattr(promise, name) for name in promise.__slots__}
