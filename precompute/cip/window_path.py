"""The central path of a window design, and the certificate at each of its points.

Least power for given limits is a convex problem: minimise ``tr G - m sum log(limit_i - value_i) - m
log det(G - floor)`` for falling m, with the Newton steps of `window_newton`. At each m the
multipliers ``u_i = m / slack_i`` and the probes' estimators make a certificate; its relative gap is
what ends the path. Moves of long compound secrets join when they turn out to be the worst.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from agent.formats.designs import FloatArray
from precompute.cip.certificates import Proof, Witness, prove
from precompute.cip.window_newton import NewtonSystem, newton_step
from precompute.cip.window_probes import Evaluation, ProbeGroup, probe_groups
from precompute.cip.window_problem import WindowProblem
from precompute.errors import DesignError

Progress = Callable[[str, float], None]

_BARRIER_FACTOR = 0.15
_MAX_STAGES = 60
_MAX_STEPS = 15
_STEADY_GAP = 0.05
_LAST_MOVE = 6
_LOOK_FOR_MOVES = 0.2
_PATIENCE = 6


@dataclass(frozen=True, slots=True)
class PathPoint:
    """A point of the path with its certificate."""

    noise: FloatArray
    proof: Proof
    witnesses: tuple[Witness, ...]


class CentralPath:
    """Central paths for one problem; each starts from where the last one ended."""

    def __init__(self, problem: WindowProblem, progress: Progress | None) -> None:
        self._problem = problem
        self._progress = progress
        self._groups = probe_groups(problem)
        count = problem.count
        self._floor = np.zeros((count, count)) if problem.floor is None else problem.floor
        mean = np.mean(problem.priors, axis=0)
        self._above = 0.9 * mean + 0.1 * np.eye(count) * float(np.trace(mean)) / count
        self._blocks = (tuple(range(count)),) if problem.blocks is None else problem.blocks
        mask = np.zeros((count, count))
        for block in self._blocks:
            mask[np.ix_(block, block)] = 1.0
        self._mask = None if problem.blocks is None else mask
        if self._mask is not None:
            self._above = self._above * self._mask
        self._shape = self._above
        self._last_limit = 0.0

    def ratio_at(self, total_power: float) -> float:
        """Worst ratio of the starting shape at a power: a first guess of what can be had."""
        spare = total_power - self._problem.floor_power
        noise = self._floor + self._above * (spare / float(np.trace(self._above)))
        return max(float(np.max(e.values / g.limits)) for g, e in self._evaluate(noise))

    def follow(self, limit: float, tolerance: float, total_power: float | None = None) -> PathPoint:
        """The least-power noise with every ratio below ``limit``, to a relative gap.

        With ``total_power`` the limit is moved on the way, while the path is still far from its
        end, to the one that should need this power.
        """
        share = self._start(limit)
        probes = sum(len(group.limits) for group in self._groups)
        power = float(np.trace(self._floor + self._above))
        barrier = share * power / (self._problem.count + probes)
        gap, gaps = np.inf, [np.inf]
        for stage in range(_MAX_STAGES):
            # Only where the gap may be small enough does the certificate need an exact point.
            last = barrier * (self._problem.count + probes) < 2.0 * tolerance * power
            for _ in range(_MAX_STEPS):
                exactness = (0.02, 1e-3) if last else (0.1, 0.1)
                if self._step(limit, barrier, exactness[0]) <= exactness[1] * barrier:
                    break
            point = self._point(limit, barrier)
            power = float(np.trace(point.noise))
            gap = 1.0 - point.proof.power_lower(limit) / power
            if self._progress is not None:
                self._progress(f"stage {stage + 1}", gap)
            if total_power is not None and gap > _STEADY_GAP and stage < _LAST_MOVE:
                limit = self._limit_for(total_power, limit, point)
                self._make_feasible(limit)
            # Moves that break the limit by less than this are left to the final scaling.
            broken = limit * (1.0 + max(0.2 * tolerance, 0.5 * gap - tolerance))
            if gap < _LOOK_FOR_MOVES and self._add_moves(point.noise, broken):
                self._mix_with_start(1.0)
                self._make_feasible(limit)
                barrier = max(barrier, 0.1 * power / (self._problem.count + probes))
                gaps.clear()
                continue
            if gap <= tolerance:
                return point
            gaps.append(gap)
            stalled = len(gaps) > _PATIENCE and gap > 0.5 * gaps[-_PATIENCE - 1]
            if stalled or barrier < 1e-13 * power:
                break
            # The gap comes to about barrier times their number: no need to go far below.
            enough = 0.6 * tolerance * power / (self._problem.count + probes)
            barrier = max(
                _BARRIER_FACTOR * barrier, enough if barrier > 1.5 * enough else 0.5 * barrier
            )
        raise DesignError(
            f"refused the design: the proven gap is {gap:.2g} after {stage + 1} stages, expected "
            f"{tolerance:.2g}; raise the tolerance, or add a floor"
        )

    def _add_moves(self, noise: FloatArray, limit: float) -> bool:
        added = [group.add_worst_moves(noise, limit) for group in self._groups]
        return any(added)

    def _limit_for(self, total_power: float, limit: float, point: PathPoint) -> float:
        """Where the path would end with ``total_power``, from what it would end with now."""
        floor = self._problem.floor_power
        now = float(np.trace(point.noise)) - floor
        lower = point.proof.power_lower(limit) - floor
        if lower <= 0.05 * now:
            return limit
        expected = lower + 0.1 * (now - lower)
        # d log power / d log limit, from the certificate.
        slope = point.proof.alpha**2 / (limit * point.proof.spread * lower)
        change = (expected / (total_power - floor)) ** (1.0 / slope)
        return limit * float(np.clip(change, 0.3, 3.0))

    def _evaluate(self, noise: FloatArray) -> list[tuple[ProbeGroup, Evaluation]]:
        return [(group, group.evaluate(noise)) for group in self._groups]

    def _start(self, limit: float) -> float:
        """Choose where to start, and the first gap to aim for.

        A path's end lies at the edge of the cone: near another limit's path, but far from its
        middle. It is mixed with the plain starting shape, and left when the limit has moved far.
        """
        near = 0.75 < self._last_limit / limit < 1.33
        self._last_limit = limit
        self._mix_with_start(0.25 if near else np.inf)
        self._make_feasible(limit)
        return 0.2 if near else 0.5

    def _mix_with_start(self, weight: float) -> None:
        """Back towards the middle of the cone: ``weight`` parts of the plain shape to one."""
        power = float(np.trace(self._above))
        shape = self._shape * (power / float(np.trace(self._shape)))
        share = 1.0 if np.isinf(weight) else weight / (1.0 + weight)
        self._above = share * shape + (1.0 - share) * self._above

    def _make_feasible(self, limit: float) -> None:
        while True:
            evaluated = self._evaluate(self._floor + self._above)
            worst = max(float(np.max(e.values / g.limits)) for g, e in evaluated)
            if worst <= 0.8 * limit:
                return
            self._above = self._above * max(1.2, worst / limit)

    def _step(self, limit: float, barrier: float, residual: float) -> float:
        """One damped Newton step; returns its decrement, 0 when rounding lets no step through."""
        half, log_det = self._eigen_half()
        evaluated = self._evaluate(self._floor + self._above)
        slacks = [limit * np.array(g.limits) - e.values for g, e in evaluated]
        system = self._system(half, [e for _, e in evaluated], slacks, barrier)
        step = newton_step(system, residual)
        decrement = -float(np.sum(step * system.gradient))
        values = np.linalg.eigvalsh(step)
        length = 1.0 if values[0] > -0.95 else -0.95 / float(values[0])
        here = self._barrier_value(self._above, slacks, log_det, barrier)
        while length > 1e-8:
            moved = half @ (np.eye(len(half)) + length * step) @ half.T
            moved = 0.5 * (moved + moved.T)
            new_log_det = log_det + float(np.sum(np.log1p(length * values)))
            there = self._trial(moved, limit, new_log_det, barrier)
            if there <= here - 0.1 * length * decrement + 1e-13 * abs(here):
                self._above = moved
                return decrement
            length *= 0.5
        return 0.0

    def _trial(self, above: FloatArray, limit: float, log_det: float, barrier: float) -> float:
        try:
            evaluated = self._evaluate(self._floor + above)
            for block in self._blocks:
                np.linalg.cholesky(above[np.ix_(block, block)])
        except np.linalg.LinAlgError:
            return np.inf
        slacks = [limit * np.array(g.limits) - e.values for g, e in evaluated]
        return self._barrier_value(above, slacks, log_det, barrier)

    @staticmethod
    def _barrier_value(
        above: FloatArray, slacks: list[FloatArray], log_det: float, barrier: float
    ) -> float:
        if min(float(np.min(slack)) for slack in slacks) <= 0:
            return np.inf
        logs = sum(float(np.sum(np.log(slack))) for slack in slacks)
        return float(np.trace(above)) - barrier * (logs + log_det)

    def _eigen_half(self) -> tuple[FloatArray, float]:
        """``U sqrt(w)`` of the noise above the floor, block by block, and its log determinant."""
        half = np.zeros_like(self._above)
        log_det = 0.0
        for block in self._blocks:
            rows = np.ix_(block, block)
            values, vectors = np.linalg.eigh(self._above[rows])
            values = np.maximum(values, 1e-15 * float(values[-1]))
            half[rows] = vectors * np.sqrt(values)
            log_det += float(np.sum(np.log(values)))
        return half, log_det

    def _system(
        self,
        half: FloatArray,
        evaluations: list[Evaluation],
        slacks: list[FloatArray],
        barrier: float,
    ) -> NewtonSystem:
        shared, slopes, estimators, stiffness = [], [], [], []
        for evaluation, slack in zip(evaluations, slacks, strict=True):
            seen = half.T @ evaluation.estimators
            multiplier = barrier / slack
            inner = scipy.linalg.solve_triangular(
                evaluation.triangle, half, lower=True, check_finite=False
            )
            shared.append(inner.T @ inner)
            slopes.append((seen * multiplier) @ seen.T)
            estimators.append(seen)
            stiffness.append(multiplier**2 / barrier + 2.0 * multiplier * evaluation.extra)
        gradient = half.T @ half - sum(slopes) - barrier * np.eye(len(half))
        if self._mask is not None:
            gradient = gradient * self._mask
        return NewtonSystem(
            barrier,
            shared,
            slopes,
            np.hstack(estimators),
            np.concatenate(stiffness),
            gradient,
            self._mask,
        )

    def _point(self, limit: float, barrier: float) -> PathPoint:
        noise = self._floor + self._above
        witnesses = tuple(
            group.witness(
                np.array(group.limits) * barrier / (limit * np.array(group.limits) - e.values),
                e.estimators,
            )
            for group, e in self._evaluate(noise)
        )
        proof = prove(witnesses, self._problem.floor, self._problem.blocks)
        return PathPoint(noise, proof, witnesses)
