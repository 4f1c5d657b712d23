import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import kstest, norm

from agent.entropy import NormalSource, OperatingSystemNormals, SeededNormals
from agent.formats.designs import FloatArray

DRAWS = 300_000
FALSE_ALARM = 1e-9


def words(*values: int) -> Callable[[int], bytes]:
    content = b"".join(value.to_bytes(8, "little") for value in values)

    def read(count: int) -> bytes:
        assert count == len(content)
        return content

    return read


def test_a_draw_worked_by_hand() -> None:
    # Words for 1/4 and 1/2: the radius is sqrt(-2 log(1/4)), the angle half a turn.
    source = OperatingSystemNormals(read=words(1 << 62, 1 << 63))
    radius = math.sqrt(2.0 * math.log(4.0))
    np.testing.assert_allclose(source.normals(2), [-radius, 0.0], atol=1e-12)


@pytest.mark.parametrize("word", [0, 1, (1 << 64) - 1, (1 << 64) - 2, (1 << 53) + 1])
def test_no_bytes_give_anything_but_a_finite_number(word: int) -> None:
    for angle in (0, 1 << 63, (1 << 64) - 1):
        drawn = OperatingSystemNormals(read=words(word, angle)).normals(2)
        assert bool(np.all(np.isfinite(drawn)))


def test_tails_reach_beyond_nine_standard_deviations() -> None:
    drawn = OperatingSystemNormals(read=words(0, 0)).normals(2)
    assert drawn[0] == pytest.approx(math.sqrt(2.0 * 65.0 * math.log(2.0)))
    assert drawn[0] > 9.0


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 1000])
def test_as_many_as_asked_for(count: int) -> None:
    for source in (OperatingSystemNormals(), SeededNormals(1)):
        assert source.normals(count).shape == (count,)


def test_nothing_is_kept_between_calls() -> None:
    """So that nothing survives a fork, and no spare normal lies about in memory."""
    source = OperatingSystemNormals()
    before = dict(vars(source))
    source.normals(3)
    assert vars(source) == before
    assert not np.array_equal(source.normals(8), source.normals(8))


def looks_normal(source: NormalSource) -> bool:
    """Kolmogorov-Smirnov, variance, independence of pairs and of neighbours, and far tails.

    Each part rejects a right source with probability 1e-9 or less.
    """
    drawn = source.normals(DRAWS)
    limit = float(norm.isf(FALSE_ALARM / 2.0))
    half = DRAWS // 2
    squares = drawn * drawn
    tail = float(2.0 * norm.sf(3.0))
    figures = [
        (float(np.mean(squares)) - 1.0) / math.sqrt(2.0 / DRAWS),
        float(np.mean(drawn[:-1] * drawn[1:])) * math.sqrt(DRAWS),
        float(np.mean(drawn[:half] * drawn[half:])) * math.sqrt(half),
        # Box-Muller's two members are uncorrelated even if the radius is wrong; squares are not.
        float(np.mean((squares[:half] - 1.0) * (squares[half:] - 1.0))) / 2.0 * math.sqrt(half),
        (float(np.mean(np.abs(drawn) > 3.0)) - tail) / math.sqrt(tail / DRAWS),
    ]
    return kstest(drawn, "norm").pvalue > FALSE_ALARM and max(map(abs, figures)) < limit


def test_the_operating_system_gives_normals() -> None:
    assert looks_normal(OperatingSystemNormals())


class _Wrong:
    def __init__(self, make: Callable[[FloatArray, FloatArray], FloatArray]) -> None:
        self._make = make

    def normals(self, count: int) -> FloatArray:
        uniform = np.random.default_rng(5).random((2, count // 2))
        radius = np.sqrt(-2.0 * np.log(1.0 - uniform[0]))
        return self._make(radius, 2.0 * np.pi * uniform[1])


@pytest.mark.parametrize(
    "make",
    [
        lambda r, a: np.concatenate((r * np.cos(a), r * np.cos(a))),
        lambda r, a: np.concatenate((r * np.cos(a / 2), r * np.sin(a / 2))),
        lambda r, a: 1.02 * np.concatenate((r * np.cos(a), r * np.sin(a))),
        lambda r, a: np.clip(np.concatenate((r * np.cos(a), r * np.sin(a))), -3.0, 3.0),
        lambda r, a: np.concatenate((np.sqrt(r) * np.cos(a), np.sqrt(r) * np.sin(a))),
    ],
    ids=["one twice", "half a turn", "too wide", "cut tails", "wrong radius"],
)
def test_the_same_test_rejects_wrong_normals(
    make: Callable[[FloatArray, FloatArray], FloatArray],
) -> None:
    assert not looks_normal(_Wrong(make))


def test_seeded_normals_repeat() -> None:
    assert np.array_equal(SeededNormals(4).normals(9), SeededNormals(4).normals(9))
    assert not np.array_equal(SeededNormals(4).normals(9), SeededNormals(5).normals(9))
