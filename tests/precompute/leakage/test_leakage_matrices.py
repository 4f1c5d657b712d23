"""Transition matrices: checks, files, Bayes, learning from sequences and traces."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.formats.errors import FormatError
from agent.formats.state_files import NOTHING
from precompute.leakage.errors import LeakageError
from precompute.leakage.learning import (
    ELSEWHERE,
    join_steps,
    keep_most_visited,
    learn,
    runs_on_grid,
)
from precompute.leakage.matrix_files import format_matrix, parse_matrix, read_budgets, read_matrix
from precompute.leakage.state_logs import read_states
from precompute.leakage.transition_matrices import (
    TransitionMatrix,
    backward_by_bayes,
    smoothed,
    stationary_distribution,
)

FORWARD = TransitionMatrix(np.array([[0.8, 0.2], [0.1, 0.9]]))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[0.5, 0.5], [0.3, 0.6]], "row 2 sums to 0.9"),
        ([[0.5, 0.5], [1.1, -0.1]], "row 2, column 2 is negative"),
        ([[0.5, 0.5], [np.nan, 1.0]], "row 2, column 1 is not a finite number"),
        ([[np.inf, 0.0], [0.0, 1.0]], "row 1, column 1 is not a finite number"),
        ([[0.5, 0.5]], "found 1 by 2; expected a square one"),
    ],
)
def test_what_is_no_transition_matrix_is_refused(rows: list[list[float]], message: str) -> None:
    with pytest.raises(LeakageError, match=message):
        TransitionMatrix(np.array(rows))


def test_rows_rounded_in_a_file_are_scaled_and_this_is_said() -> None:
    matrix = TransitionMatrix(np.array([[0.3333333, 0.6666666], [0.5, 0.5]]))
    assert matrix.probabilities.sum(axis=1) == pytest.approx([1.0, 1.0], abs=1e-15)
    assert matrix.notes[0].startswith("1 rows summed to 1 only within 1.0e-07")
    with pytest.raises(LeakageError, match=r"row 1 sums to 0\.9999"):
        TransitionMatrix(np.array([[0.3333, 0.6666], [0.5, 0.5]]))


def test_a_matrix_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        FORWARD.probabilities[0, 0] = 1.0


@pytest.mark.parametrize(
    "text",
    [
        "0.8,0.2\n0.1,0.9\n",
        "0.8;0.2\n0.1;0.9",
        "0.8 0.2\n0.1 0.9\n",
        "# comment\nhome,work\n0.8,0.2\n\n0.1,0.9\n",
        ",home,work\nhome,0.8,0.2\nwork,0.1,0.9\n",
        "from,home,work\nhome,0.8,0.2\nwork,0.1,0.9\n",
        "home,0.8,0.2\nwork,0.1,0.9\n",
        '\ufeff,1,2\n1,0.8,0.2\n2,"0.1",0.9\n',
    ],
)
def test_plain_and_named_matrices_are_read(text: str) -> None:
    matrix = parse_matrix(text.encode())
    assert matrix.probabilities.tolist() == FORWARD.probabilities.tolist()
    assert matrix.names in {("1", "2"), ("home", "work")}
    assert (matrix.names == ("home", "work")) == ("home" in text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("0.8,0.2\n0.1\n", "row 2 has 1 columns; expected 2"),
        ("0.8,0.2\n0.1,x\n", "row 2, column 2 is no number"),
        ("0.8,0.2\n0.1,nan\n", "row 2, column 2 is not a finite number"),
        ("a,b\n0.8,0.2\n0.1,0.9\n0.5,0.5\n", "row 1 has 2 columns; expected 3"),
        (",a,b\nb,0.8,0.2\na,0.1,0.9\n", "header row and in the first column differ"),
        ("a,a\n0.8,0.2\n0.1,0.9\n", "1 different state names for 2 states"),
    ],
)
def test_damaged_matrix_files_are_refused_in_one_line(
    text: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "P.csv"
    path.write_text(text)
    with pytest.raises(LeakageError, match=message) as caught:
        read_matrix(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), states=st.integers(1, 6))
def test_a_written_matrix_is_read_back_to_the_last_bit(seed: int, states: int) -> None:
    rng = np.random.default_rng(seed)
    names = tuple(rng.permutation(["a,b", 'say "x"', "7", "e1n-2", "none", "elsewhere"])[:states])
    matrix = TransitionMatrix(rng.dirichlet(np.ones(states), states), names)
    again = parse_matrix(format_matrix(matrix, ["a comment"]).encode())
    assert again.names == matrix.names
    assert again.probabilities.tolist() == matrix.probabilities.tolist()


def test_budget_files(tmp_path: Path) -> None:
    path = tmp_path / "budgets.csv"
    path.write_text("0.1, 0.2\n0.3\n")
    assert read_budgets(path) == (0.1, 0.2, 0.3)
    path.write_text("0.1\nmuch\n")
    with pytest.raises(LeakageError, match="entry 2 is no number"):
        read_budgets(path)


def test_bayes_worked_by_hand() -> None:
    # pi = (1/3, 2/3): pi P = (.8/3 + .2/3, .2/3 + 1.8/3) = (1/3, 2/3).
    assert stationary_distribution(FORWARD) == pytest.approx([1 / 3, 2 / 3], abs=1e-14)
    # Pr(before = 1 | now = 1) = (1/3 .8)/(1/3) = .8: a two-state chain is reversible.
    assert backward_by_bayes(FORWARD).probabilities == pytest.approx(FORWARD.probabilities)
    other = backward_by_bayes(FORWARD, np.array([0.5, 0.5])).probabilities
    assert other == pytest.approx(np.array([[0.8 / 0.9, 0.1 / 0.9], [0.2 / 1.1, 0.9 / 1.1]]))


def test_bayes_needs_one_distribution() -> None:
    with pytest.raises(LeakageError, match="more than one stationary distribution"):
        backward_by_bayes(TransitionMatrix(np.eye(2)))
    with pytest.raises(LeakageError, match="1 states are never reached"):
        backward_by_bayes(TransitionMatrix(np.array([[0.0, 1.0], [0.0, 1.0]])))
    with pytest.raises(LeakageError, match="expected 2 numbers >= 0 that sum to 1"):
        backward_by_bayes(FORWARD, np.array([0.5, 0.6]))


def test_learning_counts_both_ways() -> None:
    learned = learn([list("aabab"), list("bb")], smoothing=0.0)
    # Transitions: aa ab ba ab bb.
    assert learned.transitions == 5
    assert learned.forward.probabilities == pytest.approx(np.array([[1 / 3, 2 / 3], [0.5, 0.5]]))
    # Before a: aa, ba. Before b: ab, ab, bb.
    assert learned.backward.probabilities == pytest.approx(np.array([[0.5, 0.5], [2 / 3, 1 / 3]]))
    smoother = learn([list("aabab"), list("bb")], smoothing=1.0)
    assert smoother.forward.probabilities[0] == pytest.approx([2 / 5, 3 / 5])


def test_learning_approaches_the_chain_it_came_from() -> None:
    rng = np.random.default_rng(4)
    state, states = 0, []
    for _ in range(20_000):
        states.append("xy"[state])
        state = int(rng.random() < FORWARD.probabilities[state, 1])
    learned = learn([states], smoothing=0.05)
    # Standard error of a share is at most .5 / sqrt(6600) = .006; five of them.
    assert learned.forward.probabilities == pytest.approx(FORWARD.probabilities, abs=0.03)


@pytest.mark.parametrize(
    ("runs", "smoothing", "message"),
    [
        ([["a"], ["b"]], 0.1, "no two successive steps"),
        ([["a", "a"]], 0.1, "found 1 different states"),
        ([["a", "b"]], 0.0, "1 states are never left"),
        ([["a", "b"]], -1.0, "expected a number >= 0"),
    ],
)
def test_what_cannot_be_learned_is_said(
    runs: list[list[str]], smoothing: float, message: str
) -> None:
    with pytest.raises(LeakageError, match=message):
        learn(runs, smoothing)


def test_an_unknown_state_is_refused_without_naming_it() -> None:
    with pytest.raises(LeakageError, match="1 steps are in a state") as caught:
        learn([["a", "secret-clinic"]], 0.1, states=("a", "b"))
    assert "secret" not in str(caught.value)


def test_a_trace_becomes_cells_step_by_step() -> None:
    times = np.array([0.0, 5.0, 60.0, 185.0, 500.0])
    east = np.array([10.0, 2000.0, 1500.0, -1.0, -1.0])
    north = np.array([10.0, 10.0, 10.0, -2500.0, 0.0])
    options = {"cell_metres": 1000.0, "step_seconds": 60.0}
    runs = runs_on_grid(times, east, north, **options)
    assert runs == [["e0n0", "e1n0"], ["e-1n-3"], ["e-1n0"]]
    held = runs_on_grid(times, east, north, hold_seconds=60.0, **options)
    assert held == [["e0n0", "e1n0", "e1n0", "e-1n-3"], ["e-1n0"]]


def test_steps_are_joined_over_short_gaps_only() -> None:
    assert join_steps(np.array([0, 1, 3, 6]), list("abcd"), 1) == [list("abbc"), ["d"]]


def test_rare_places_become_elsewhere() -> None:
    runs, states = keep_most_visited([list("aaabbc")], 3)
    assert runs == [["a", "a", "a", "b", "b", ELSEWHERE]]
    assert states == ("a", "b", ELSEWHERE)


def test_a_log_of_intervals_is_sampled(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    path.write_text(
        "Start time \tEnd time\tActivity\n--------\t-----\t------\n"
        "2030-01-01 00:00:00\t\t2030-01-01 00:25:00\t\tSleeping\t\n"
        "2030-01-01 00:35:00\t2030-01-01 00:55:00\tBreakfast\n"
    )
    log = read_states(path, step_seconds=600)
    assert log.runs == (("Sleeping", "Sleeping", "Sleeping", NOTHING, "Breakfast", "Breakfast"),)


def test_intervals_that_end_before_they_start_need_repair(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(
        "2030-01-01 00:00:00,2030-01-01 00:30:00,a\n"
        "2030-01-01 00:40:00,2030-01-01 00:35:00,b\n"
        "2030-01-01 00:50:00,2030-01-01 01:00:00,c\n"
    )
    with pytest.raises(FormatError, match="line 2: the interval ends before it starts"):
        read_states(path, step_seconds=600)
    log = read_states(path, step_seconds=600, repair=True)
    assert log.notes == ("log.csv: 1 intervals dropped",)
    assert log.runs[0][-1] == NOTHING


def test_a_column_of_states_is_read(tmp_path: Path) -> None:
    path = tmp_path / "states.csv"
    path.write_text("# rooms\n1,kitchen\n2,hall\n3,kitchen\n")
    assert read_states(path, step_seconds=60).runs == (("kitchen", "hall", "kitchen"),)
    path.write_text("\n")
    with pytest.raises(LeakageError, match="no states"):
        read_states(path, step_seconds=60)


def test_smoothing_keeps_rows_whole() -> None:
    matrix = smoothed(TransitionMatrix(np.eye(3)), 0.5)
    assert matrix.probabilities[0] == pytest.approx([1.5 / 2.5, 0.2, 0.2])
    with pytest.raises(LeakageError, match="expected a number >= 0"):
        smoothed(matrix, float("nan"))
