import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.entropy import SeededNormals
from agent.errors import RefusedError
from agent.formats.designs import FloatArray
from agent.formats.errors import FormatError
from agent.sanitise.window import WindowMechanism
from tests.agent.example_designs import lower_factor, window
from tests.agent.linear_map import linear_map

START = 1_700_000_000_123
RANK_TWO = np.array([[0.5, 1.0], [2.0, 0.0], [0.0, 3.0], [1.0, 1.0]])
STAIRS = np.array(
    [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [2.0, 0.0, 4.0], [0.0, 1.0, 0.0]]
)


def times(*rows: int) -> list[int]:
    return [START + 1000 * row for row in rows]


@pytest.mark.parametrize(
    "factor", [lower_factor(6), RANK_TWO, STAIRS], ids=["lower", "rank 2", "stairs"]
)
def test_the_map_from_normals_to_noise_is_the_factor(factor: FloatArray) -> None:
    mechanism = WindowMechanism(window(factor))
    moments = times(*range(factor.shape[0]))
    np.testing.assert_array_equal(linear_map(mechanism, moments), factor)
    np.testing.assert_array_equal(mechanism.materialize(moments), factor @ factor.T)


def test_each_axis_has_the_factor_to_itself() -> None:
    mechanism = WindowMechanism(window(RANK_TWO, axes=("east", "north")))
    matrix = linear_map(mechanism, times(0, 1, 2, 3))
    joint = (matrix @ matrix.T).reshape(4, 2, 4, 2)
    expected = RANK_TWO @ RANK_TWO.T
    np.testing.assert_allclose(joint[:, 0, :, 0], expected)
    np.testing.assert_allclose(joint[:, 1, :, 1], expected)
    np.testing.assert_array_equal(joint[:, 0, :, 1], 0.0)


@given(dropped=st.sets(st.integers(1, 5)))
def test_dropouts_leave_the_covariance_of_the_others_as_it_was(dropped: set[int]) -> None:
    factor = lower_factor(6)
    kept = [row for row in range(6) if row not in dropped]
    mechanism = WindowMechanism(window(factor))
    matrix = linear_map(mechanism, times(*kept))
    np.testing.assert_array_equal(matrix @ matrix.T, (factor @ factor.T)[np.ix_(kept, kept)])


def test_a_lower_factor_draws_one_normal_per_row_and_a_low_rank_one_draws_all_at_once() -> None:
    lower = WindowMechanism(window(lower_factor(4)))
    state = lower.initial_state(0)
    assert lower.normals_needed(state, START) == 1
    _, state = lower.step(state, START, np.ones(1))
    assert lower.normals_needed(state, START + 3000) == 3  # rows 1 and 2 dropped out
    low_rank = WindowMechanism(window(RANK_TWO))
    state = low_rank.initial_state(0)
    assert low_rank.normals_needed(state, START) == 2
    _, state = low_rank.step(state, START, np.ones(2))
    assert low_rank.normals_needed(state, START + 1000) == 0


@pytest.mark.parametrize("offset", [1, 999, 1001, 3999])
def test_a_time_off_the_grid_is_refused(offset: int) -> None:
    mechanism = WindowMechanism(window(lower_factor(4)))
    _, state = mechanism.step(mechanism.initial_state(0), START, np.ones(1))
    with pytest.raises(RefusedError, match="expected readings every 1000 ms"):
        mechanism.normals_needed(state, START + offset)


@pytest.mark.parametrize("row", [-1, 0, 1, 2])
def test_a_row_is_never_drawn_twice_nor_in_arrears(row: int) -> None:
    mechanism = WindowMechanism(window(lower_factor(4)))
    _, state = mechanism.step(mechanism.initial_state(0), START, np.ones(1))
    _, state = mechanism.step(state, START + 2000, np.ones(2))
    with pytest.raises(RefusedError, match="expected a later one"):
        mechanism.normals_needed(mechanism.decode(mechanism.encode(state)), START + 1000 * row)


@pytest.mark.parametrize("late", [4000, 4001, 7500, 10**9])
def test_the_next_segment_begins_by_itself_until_the_allowance_is_spent(late: int) -> None:
    mechanism = WindowMechanism(window(lower_factor(4), segments=2))
    _, state = mechanism.step(mechanism.initial_state(0), START, np.array([5.0]))
    noise, state = mechanism.step(state, START + late, np.array([7.0]))
    assert noise.tolist() == [7.0]  # nothing of the first segment's normal is left in it
    assert mechanism.segment(state) == 1
    assert mechanism.decode(mechanism.encode(state)).first_ms == START + late
    with pytest.raises(RefusedError, match="the allowance is spent"):
        mechanism.normals_needed(state, START + late + 4000)


@settings(max_examples=40, deadline=None)
@given(
    factor=st.sampled_from([lower_factor(6), RANK_TWO, STAIRS]),
    rows=st.sets(st.integers(1, 20)),
    seed=st.integers(0, 2**32),
)
def test_saving_and_restoring_a_window_changes_nothing(
    factor: FloatArray, rows: set[int], seed: int
) -> None:
    design = window(factor, axes=("a", "b"), segments=30)
    mechanism, other = WindowMechanism(design), WindowMechanism(design)
    through, saved = SeededNormals(seed), SeededNormals(seed)
    state = mechanism.initial_state(0)
    content = other.encode(state)
    for row in (0, *sorted(rows)):
        time_ms = START + 1000 * row
        count = mechanism.normals_needed(state, time_ms)
        noise, state = mechanism.step(state, time_ms, through.normals(count))
        again, restored = other.step(other.decode(content), time_ms, saved.normals(count))
        content = other.encode(restored)
        np.testing.assert_array_equal(noise, again)
        assert content == mechanism.encode(state)


def test_a_state_of_another_window_is_refused() -> None:
    content = WindowMechanism(window(lower_factor(4))).encode(
        WindowMechanism(window(lower_factor(4))).initial_state(0)
    )
    with pytest.raises(FormatError, match="another design"):
        WindowMechanism(window(lower_factor(5))).decode(content)
