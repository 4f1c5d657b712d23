"""The ``prior:`` of a design: what is understood, and what is refused with which words."""

from pathlib import Path

import numpy as np
import pytest

from agent.formats.documents import parse_yaml
from agent.formats.errors import FormatError, SfumatoError
from precompute.errors import PriorError
from precompute.priors.kernels import RBF, DampedPeriodic, Matern12, Periodic, Sum, White
from precompute.priors.prior_class import (
    CombinedRange,
    KernelRange,
    PriorClass,
    Range,
    load_prior,
    parse_prior,
    read_prior,
)


def read(text: str) -> PriorClass:
    return read_prior(parse_yaml(text.encode(), "design.yaml"))


def kernel(fields: str) -> KernelRange | CombinedRange:
    return read(f"kernels: [{{{fields}}}]").kernels[0]


def test_a_range_of_lengthscales_is_read_in_seconds() -> None:
    expected = KernelRange("rbf", Range(30.0, 14 * 86400.0))
    assert kernel("family: rbf, lengthscale: [30 s, 14 d]") == expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("family: rbf, variance: 4, lengthscale: 6 s", RBF(6.0, 4.0)),
        ("family: ou, lengthscale: 1 h", Matern12(3600.0)),
        ("family: matern12, lengthscale: 1 h", Matern12(3600.0)),
        ("family: periodic, lengthscale: 0.7, period: 1 d", Periodic(0.7, 86400.0)),
        (
            "family: damped_periodic, lengthscale: 1, period: 1 d, damping: 3 d, envelope: ou",
            DampedPeriodic(1.0, 86400.0, 3 * 86400.0, 1.0, "matern12"),
        ),
        (
            "family: sum, parts: [{family: white, variance: 2}, {family: rbf, lengthscale: 1 s}]",
            Sum((White(2.0), RBF(1.0))),
        ),
    ],
)
def test_a_single_kernel_is_read_as_it_is_written(fields, expected) -> None:
    member = kernel(fields)
    assert member.is_point
    assert member.kernel() == expected


def test_a_member_can_be_taken_anywhere_in_its_range() -> None:
    member = kernel(
        "family: damped_periodic, lengthscale: [0.5, 1], period: 1 d, damping: [3 d, 30 d]"
    )
    assert isinstance(member, KernelRange)
    assert not member.is_point
    taken = member.kernel_at(0.8, damping=5 * 86400.0)
    assert taken == DampedPeriodic(0.8, 86400.0, 5 * 86400.0)
    with pytest.raises(PriorError, match="expected a single kernel"):
        member.kernel()


def test_a_class_describes_itself_in_words() -> None:
    prior = read(
        """
        kernels:
          - {family: rbf, lengthscale: [30 s, 14 d]}
          - {family: damped_periodic, lengthscale: 0.7, period: 1 d, damping: [3 d, 30 d]}
          - {family: constant, variance: 2}
        """
    )
    assert prior.describe() == (
        "RBF of lengthscale 30 s to 14 d, any variance",
        "damped periodic of period 1 d, relative lengthscale 0.7, damped (RBF) over 3 d to 30 d, "
        "any variance",
        "constant, variance 2",
    )


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ("family: rbf, lengthscale: [14 d, 30 s]", "from 14 d down to 30 s; write the smaller"),
        ("family: rbf, lengthscale: 0 s", "'0 s' is not finite and positive"),
        ("family: rbf, lengthscale: 30", "30 has no unit"),
        ("family: rbf, lengthscale: [30, 14 d]", "30 has no unit"),
        ("family: rbf, lengthscale: [1 s, 2 s, 3 s]", "found 3 values; expected two"),
        ("family: rbf, lengthscale: 30 parsec", "the unit 'parsec'"),
        ("family: rbf", "the key 'lengthscale' is missing"),
        ("family: gauss, lengthscale: 3 s", "found 'gauss'; expected one of rbf,"),
        ("family: rbf, lengthscale: 3 s, variance: 0", "variance: found 0"),
        ("family: rbf, lengthscale: 3 s, period: 1 d", "unknown key 'period'"),
        ("family: rbf, lengthscal: 3 s", "found 'lengthscal' instead"),
        ("family: periodic, lengthscale: 3 h, period: 1 d", "write a bare number"),
        ("family: periodic, lengthscale: 1", "the key 'period' is missing"),
        ("family: damped_periodic, lengthscale: 1, period: 1 d", "'damping' is missing"),
        ("family: sum, parts: [{family: white}]", "two or more parts"),
        ("family: sum", "the key 'parts' is missing"),
        ("family: white, lengthscale: 3 s", "unknown key 'lengthscale'"),
    ],
)
def test_bad_input_is_refused_in_one_clear_line(fields, line) -> None:
    with pytest.raises(FormatError) as refused:
        kernel(fields)
    assert line in str(refused.value)
    assert str(refused.value).startswith("design.yaml")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("kernels: []", "expected a list of one or more"),
        ("kernel: []", "found 'kernel' instead"),
        ("kernels: [{family: white}]\nmore: 1", "unknown key 'more'"),
        ("kernels: [{family: white}]\ncoregionalisation: [[1, 2], [2, 1]]", "eigenvalue"),
        ("kernels: [{family: white}]\ncoregionalisation: [[1], [2, 1]]", "square"),
    ],
)
def test_a_class_that_is_none_is_refused(text, line) -> None:
    with pytest.raises(FormatError, match=line.replace("[", r"\[")):
        read(text)


def test_sums_nested_without_end_are_refused() -> None:
    text = "{family: white}"
    for _ in range(8):
        text = f"{{family: sum, parts: [{text}, {{family: white}}]}}"
    with pytest.raises(FormatError, match="nested deeper"):
        read(f"kernels: [{text}]")


def test_a_prior_may_stand_in_a_file_beside_the_design(tmp_path: Path) -> None:
    (tmp_path / "prior.yaml").write_text("prior: {kernels: [{family: rbf, lengthscale: 9 s}]}")
    design = parse_yaml(b"prior: prior.yaml", "design.yaml")
    prior = parse_prior(design, tmp_path)
    assert prior == load_prior(tmp_path / "prior.yaml")
    assert prior.kernel() == RBF(9.0)


def test_a_prior_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    design = parse_yaml(b"prior: gone.yaml", "design.yaml")
    with pytest.raises(FormatError, match=r"design\.yaml\.prior: .*gone\.yaml: no such file"):
        parse_prior(design, tmp_path)


def test_correlated_axes_are_refused_where_they_would_be_ignored(tmp_path: Path) -> None:
    text = b"prior: {kernels: [{family: white}], coregionalisation: [[1, 0.4], [0.4, 1]]}"
    with pytest.raises(SfumatoError, match="independent axes"):
        parse_prior(parse_yaml(text, "design.yaml"), tmp_path)
    prior = parse_prior(parse_yaml(text, "design.yaml"), tmp_path, correlated_axes=True)
    np.testing.assert_array_equal(prior.between_axes, [[1, 0.4], [0.4, 1]])


def test_members_without_a_lengthscale_are_refused_by_readers_of_plain_families() -> None:
    prior = read("kernels: [{family: rbf, lengthscale: 3 s}, {family: white}]")
    with pytest.raises(PriorError, match="'white', which this design cannot use"):
        list(prior.ranges())
