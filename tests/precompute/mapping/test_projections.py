import numpy as np
import pytest
from scipy.linalg import subspace_angles

from precompute.mapping.baselines import between, project
from precompute.mapping.errors import MappingError


def labelled(seed: int = 0):
    random = np.random.default_rng(seed)
    h, g = random.integers(2, size=400), random.integers(2, size=400)
    values = random.normal(size=(400, 4)) + np.outer(h, [2, 1, 0, 0]) + np.outer(g, [2, 0, 2, 0])
    return values, h, g


def test_the_scatter_between_classes_by_hand() -> None:
    values = np.array([[0.0, 0.0], [2.0, 0.0], [4.0, 4.0], [4.0, 4.0]])
    # means (1, 0), (4, 4), of all (2.5, 2): both are (1.5, 2) away, with weight one half each.
    np.testing.assert_allclose(between(values, np.array([0, 0, 1, 1])), [[2.25, 3.0], [3.0, 4.0]])


@pytest.mark.parametrize(
    ("method", "total", "cost"), [("dca", 1, 0), ("mdr", 0, 1), ("ruca", 1, 5)]
)
def test_with_two_values_the_direction_is_the_inverse_scatter_times_the_difference_of_means(
    method, total, cost
) -> None:
    values, h, g = labelled()
    found = project(method, values, h, g, ridge=0.1, cost=5.0)
    scaled = (values - values.mean(0)) / values.std(0)
    apart = np.cov(scaled.T, bias=True) * total + 0.1 * np.eye(4)
    private = scaled[g == 1].mean(0) - scaled[g == 0].mean(0)
    apart = apart + cost * g.mean() * (1 - g.mean()) * np.outer(private, private)
    asked = np.linalg.inv(apart) @ (scaled[h == 1].mean(0) - scaled[h == 0].mean(0))
    assert subspace_angles(found.directions, asked[:, None])[0] < 1e-7
    np.testing.assert_allclose(found.apply(values), scaled @ found.directions)


def test_ruca_goes_from_dca_away_from_what_tells_of_the_private_hypothesis() -> None:
    values, h, g = labelled()
    dca = project("dca", values, h, g)
    plain = project("ruca", values, h, g, cost=0.0)
    assert subspace_angles(dca.directions, plain.directions)[0] < 1e-7

    def told(cost: float) -> float:
        seen = project("ruca", values, h, g, cost=cost).apply(values)[:, 0]
        return abs(float(np.corrcoef(seen, g)[0, 1]))

    assert told(1e4) < 0.2 * told(0.0)


def test_a_column_that_never_moves_is_no_error_and_bad_numbers_are() -> None:
    values, h, g = labelled()
    values[:, 3] = 7.0
    assert np.all(np.isfinite(project("mdr", values, h, g, components=2).apply(values)))
    with pytest.raises(MappingError, match="components is 5"):
        project("dca", values, h, g, components=5)
    with pytest.raises(MappingError, match="ridge"):
        project("dca", values, h, g, ridge=0.0)


def test_ruca_at_a_large_cost_is_the_mdr_whose_ridge_has_the_readings_scatter() -> None:
    values, h, g = labelled()
    values = values @ np.array([[1, 0.9, 0, 0], [0, 1, 0.9, 0], [0, 0, 1, 0.9], [0, 0, 0, 1]])
    far = project("ruca", values, h, g, cost=1e9).directions
    scaled = (values - values.mean(0)) / values.std(0)
    apart = scaled[g == 1].mean(0) - scaled[g == 0].mean(0)
    free = np.linalg.svd(apart[None, :])[2][1:].T  # where the means of G are alike

    def best(ridge):
        asked = np.linalg.solve(free.T @ ridge @ free, free.T @ means)
        return (free @ asked)[:, None]

    means = scaled[h == 1].mean(0) - scaled[h == 0].mean(0)
    scatter = np.cov(scaled.T, bias=True) + 1e-2 * np.eye(4)
    assert subspace_angles(far, best(scatter))[0] < 1e-5
    mdr = project("mdr", values, h, g, ridge=1e-9).directions
    assert subspace_angles(mdr, best(np.eye(4)))[0] < 1e-5
    assert subspace_angles(far, mdr)[0] > 0.1


def test_dca_is_kungs_with_the_scatter_within_classes_and_equal_ridges() -> None:
    values, h, g = labelled()
    scaled = (values - values.mean(0)) / values.std(0)
    whole, ridge = np.cov(scaled.T, bias=True), 0.3 * np.eye(4)
    within = whole - between(scaled, h)
    signal = np.linalg.eig(np.linalg.solve(within + ridge, whole + ridge))
    leading = np.real(signal[1][:, [int(np.argmax(np.real(signal[0])))]])
    ours = project("dca", values, h, g, ridge=0.3).directions
    assert subspace_angles(ours, leading)[0] < 1e-6
