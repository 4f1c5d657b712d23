"""What a learner guesses from what sensor nodes publish: the honest attacker, and the honest use.

Three learners (logistic regression, random forest, boosted trees) are fitted to what is released,
with the truth beside it; the one with the best class-balanced accuracy on the part that is set
aside for choosing is taken, fitted again to all of it and scored on days that it never saw. A
measured accuracy bounds nothing: another attacker may do better; the promise is the budget.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np

from precompute.errors import PrecomputeError
from precompute.mapping.joint import FloatArray, IntArray, Maps

LEARNERS = ("logistic regression", "random forest", "boosted trees")


@dataclass(frozen=True, slots=True)
class Attack:
    """A learner's score on rows that it never saw.

    Attributes:
        learner: the one of ``LEARNERS`` that was best while choosing.
        accuracy: share guessed rightly.
        balanced: mean over the values of the shares guessed rightly; 1/values without knowledge.
        majority: accuracy of always guessing what is most frequent in training.
        chosen_with: the balanced accuracy while choosing.
    """

    learner: str
    accuracy: float
    balanced: float
    majority: float
    chosen_with: float


def best_attack(
    seen: FloatArray,
    truth: IntArray,
    choosing: FloatArray,
    test: FloatArray,
    test_truth: IntArray,
    *,
    seed: int = 0,
) -> Attack:
    """The best learner of what is told.

    Args:
        seen: (n, d) released, of the training days.
        truth: (n,) values from 0.
        choosing: (n,) bool: rows set aside to choose the learner by, whole stretches of time.
        test: (m, d) released on other days; test_truth: (m,).
        seed: of the learners.

    Raises:
        PrecomputeError: scikit-learn is missing, or training has only one value on either side.
    """
    fit, check = np.flatnonzero(choosing == 0), np.flatnonzero(choosing)
    for rows in (fit, check):
        if np.unique(truth[rows]).size < 2:
            raise PrecomputeError(
                "attack: one of the parts to learn from and to choose by holds a single value of "
                "what is to be guessed; expected both; cut the log elsewhere"
            )
    scores = []
    with _one_thread():
        for name in LEARNERS:
            model = _learner(name, seed)
            model.fit(seen[fit], truth[fit])
            scores.append(balanced_accuracy(truth[check], model.predict(seen[check])))
        best = int(np.argmax(scores))
        model = _learner(LEARNERS[best], seed)
        model.fit(seen, truth)
        guess = model.predict(test)
    usual = int(np.bincount(truth).argmax())
    return Attack(
        learner=LEARNERS[best],
        accuracy=float(np.mean(guess == test_truth)),
        balanced=balanced_accuracy(test_truth, guess),
        majority=float(np.mean(test_truth == usual)),
        chosen_with=scores[best],
    )


def balanced_accuracy(truth: IntArray, guess: IntArray) -> float:
    """The mean over the values that occur of the share of it that is guessed."""
    return float(np.mean([np.mean(guess[truth == value] == value) for value in np.unique(truth)]))


def drawn(maps: Maps, cells: Sequence[IntArray], random: np.random.Generator) -> list[IntArray]:
    """For each sensor (n,) fresh symbols, one for each row."""
    found = []
    for one, cell in zip(maps, cells, strict=True):
        sums = np.cumsum(one, axis=1)[cell]
        wanted = random.random(cell.size) * sums[:, -1]
        symbols = (wanted[:, None] >= sums).sum(axis=1)
        found.append(np.minimum(symbols, one.shape[1] - 1))
    return found


def memoised(
    maps: Maps, cells: Sequence[IntArray], period: IntArray, random: np.random.Generator
) -> list[IntArray]:
    """For each sensor (n,) symbols drawn once for each cell and period ((n,) its number)."""
    found = []
    for one, cell in zip(maps, cells, strict=True):
        keys = np.stack([period, cell], axis=1)
        different, number = np.unique(keys, axis=0, return_inverse=True)
        symbols = drawn((one,), (different[:, 1],), random)[0]
        found.append(symbols[number.ravel()])
    return found


def one_hot(symbols: Sequence[IntArray], sizes: Sequence[int]) -> FloatArray:
    """(n, Σ sizes) a column for each symbol of each sensor."""
    return np.hstack([np.eye(size)[one] for one, size in zip(symbols, sizes, strict=True)])


def windowed(released: FloatArray, stretch: IntArray, steps: Sequence[int]) -> FloatArray:
    """(n, d len(steps)) means of the last k rows of the same stretch, for each k of ``steps``.

    How often each symbol was said lately is all that draws from one cell can tell; several lengths
    follow a cell that changes.

    Args:
        released: (n, d), rows in order of time.
        stretch: (n,) numbers that change where the log has a gap; ascending.
        steps: lengths, at least 1.
    """
    total = np.vstack([np.zeros(released.shape[1]), np.cumsum(released, axis=0)])
    place = np.arange(released.shape[0])
    begin = np.searchsorted(stretch, stretch, side="left")
    parts = []
    for k in steps:
        first = np.maximum(begin, place - k + 1)
        parts.append((total[place + 1] - total[first]) / (place + 1 - first)[:, None])
    return np.hstack(parts)


def _one_thread() -> AbstractContextManager[Any]:
    """Small fits on busy machines: threads that wait for each other take many times as long."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(limits=1)  # type: ignore[no-any-return]


def _learner(name: str, seed: int) -> Any:
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
    except ImportError as error:
        raise PrecomputeError(
            "attack: scikit-learn is missing; it comes with: pip install 'sfumato[audit]'"
        ) from error
    if name == "logistic regression":
        return make_pipeline(
            StandardScaler(), LogisticRegression(max_iter=1000, class_weight="balanced")
        )
    if name == "random forest":
        return RandomForestClassifier(
            n_estimators=60, min_samples_leaf=5, class_weight="balanced", random_state=seed
        )
    return HistGradientBoostingClassifier(
        max_iter=60, class_weight="balanced", random_state=seed, early_stopping=False
    )
