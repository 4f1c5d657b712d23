"""EPIC's block of one sensor: its map by linear programs, all else fixed.

With f and the other sensors fixed, a class's margin is linear in what the class says through this
sensor, so the empirical risk is Σ_u R_u(y_u): u runs over the different rows of the sensor's table
(the cells, where readings are certain), y_u = row_u @ map, and each R_u is convex. R_u is replaced
by its tangents, added where the last program's answer lies (Kelley, "The cutting-plane method for
solving convex programs", 1960): each program bounds the block's minimum from below and each answer
from above, so the block ends with its own gap. Local differential privacy enters as
m_z <= p(z|x) <= e^ε m_z; information privacy by rows that are added when an answer breaks them.

Answers that break a budget by rounding are drawn back towards the map that the block began with,
along which every budget is linear.
"""

from dataclasses import dataclass

import numpy as np

from precompute.mapping.blocks import checking_limit, solving_limit
from precompute.mapping.joint import FloatArray, IntArray, Joint
from precompute.mapping.repair import cleaned
from precompute.mapping.row_generation import information_rows, violated
from precompute.mapping.solution import Budgets

FEASIBILITY = 1e-10
ROUNDS = 25
# Rows of the map that the block begins with that are this near to binding are there at once.
NEAR = -0.02
# A block may stop this share of its own progress, or of the risk, above its minimum.
UNFINISHED = 0.1
ABSOLUTE = 1e-6
# Tangents from the start: at the present map and so far on the way from it to each symbol.
FIRST_TANGENTS = (0.1, 0.3, 0.6, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """What one sensor's map is chosen by.

    Attributes:
        rows: (U, |X|) the different rows of the sensor's table.
        member: (K,) which row a class has.
        mass: (K,) weights of the classes.
        slopes: (K, C, |Z|) of each class and one-against-rest problem: the sign times Σ over what
            the others say of f; the margin is slopes @ y. Or, where the loss is of each outcome,
            None.
        costs: (K, |Z|) the loss of a class by what this sensor says, or None: the other loss.
        information: (N, |X|) A with A @ map <= 0, in every column, where information privacy holds.
        tightened: the same for the smaller budget that the programs ask for.
        local: epsilon_LD.
    """

    rows: FloatArray
    member: IntArray
    mass: FloatArray
    slopes: FloatArray | None
    costs: FloatArray | None
    information: FloatArray
    tightened: FloatArray
    local: float


def risk(block: Block, one: FloatArray) -> float:
    """The empirical risk at this map, penalty left out."""
    return float(_values_and_slopes(block, block.rows @ one)[0].sum())


def improve(block: Block, start: FloatArray) -> tuple[FloatArray, float]:
    """A map (|X|, |Z|) that keeps both budgets and is no worse, and the risk's lower bound.

    Args:
        start: a map that keeps both budgets.
    """
    cells, symbols = start.shape
    program = _Program(block, cells, symbols)
    began = best = risk(block, start)
    chosen = start
    said = block.rows @ start
    program.add_tangents(said)
    if block.costs is None:  # else the risk is linear: one tangent is all of it
        for end in np.eye(symbols):
            for share in FIRST_TANGENTS:
                program.add_tangents(said + share * (end - said))
    program.add_rows(start, NEAR)
    bound = 0.0
    for _ in range(ROUNDS):
        answer = program.solve()
        if answer is None:
            break
        candidate, bound = answer
        broken = program.add_rows(candidate, 10.0 * FEASIBILITY)
        candidate = _drawn_back(block, start, candidate)
        now = risk(block, candidate)
        if now < best:
            chosen, best = candidate, now
        if not broken and best - bound <= max(UNFINISHED * (began - best), ABSOLUTE * best):
            break
        program.add_tangents(block.rows @ candidate)
    return chosen, min(bound, best)


class _Program:
    """The linear program of a block: variables map (row by row), m_z, and R_u of each row."""

    def __init__(self, block: Block, cells: int, symbols: int) -> None:
        self.block, self.cells, self.symbols = block, cells, symbols
        self.many = block.rows.shape[0]
        self.width = cells * symbols + symbols + self.many
        self.taken: set[tuple[int, int]] = set()
        whole = np.repeat(np.eye(cells), symbols, axis=1)
        self.whole = np.hstack([whole, np.zeros((cells, self.width - cells * symbols))])
        self.left = [self._local()] if np.isfinite(block.local) else []
        self.right = [np.zeros(len(one)) for one in self.left]

    def _local(self) -> FloatArray:
        ratio = np.exp(solving_limit(self.block.local))
        size = self.cells * self.symbols
        above = np.zeros((size, self.width))
        below = np.zeros((size, self.width))
        place = np.arange(size)
        above[place, place], below[place, place] = 1.0, -1.0
        above[place, size + place % self.symbols] = -ratio
        below[place, size + place % self.symbols] = 1.0
        return np.concatenate([above, below])

    def add_tangents(self, said: FloatArray) -> None:
        """R_u(y_u) + R_u'(y_u) (row_u @ map - y_u) <= R_u for every u; said is (U, |Z|)."""
        value, slope = _values_and_slopes(self.block, said)
        rows = np.zeros((self.many, self.width))
        linear = self.block.rows[:, :, None] * slope[:, None, :]
        rows[:, : self.cells * self.symbols] = linear.reshape(self.many, -1)
        rows[np.arange(self.many), self.cells * self.symbols + self.symbols :] -= np.eye(self.many)
        self.left.append(rows)
        self.right.append(np.sum(slope * said, axis=1) - value)

    def add_rows(self, one: FloatArray, beyond: float) -> int:
        """The worst information rows that a map carries above ``beyond``; how many were new."""
        added = 0
        for place in violated(self.block.tightened, one, beyond):
            row, symbol = divmod(int(place), self.symbols)
            if (row, symbol) in self.taken:
                continue
            self.taken.add((row, symbol))
            line = np.zeros((1, self.width))
            line[0, symbol : self.cells * self.symbols : self.symbols] = self.block.tightened[row]
            self.left.append(line)
            self.right.append(np.zeros(1))
            added += 1
        return added

    def solve(self) -> tuple[FloatArray, float] | None:
        """A map whose rows sum to 1, and the program's value; None if it was not solved."""
        from scipy.optimize import linprog

        size = self.cells * self.symbols
        cost = np.concatenate([np.zeros(size + self.symbols), np.ones(self.many)])
        found = linprog(
            cost,
            A_ub=np.concatenate(self.left),
            b_ub=np.concatenate(self.right),
            A_eq=self.whole,
            b_eq=np.ones(self.cells),
            bounds=(0.0, None),
            method="highs",
            options={"primal_feasibility_tolerance": FEASIBILITY},
        )
        if found.status != 0:
            return None
        return cleaned(found.x[:size].reshape(self.cells, self.symbols)), float(found.fun)


def _values_and_slopes(block: Block, said: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(U,) R_u and (U, |Z|) R_u' at what is said, (U, |Z|)."""
    many, symbols = said.shape
    slope = np.zeros((many, symbols))
    if block.slopes is None:
        assert block.costs is not None
        np.add.at(slope, block.member, block.mass[:, None] * block.costs)
        return np.sum(slope * said, axis=1), slope
    margins = np.einsum("kcz,kz->kc", block.slopes, said[block.member])
    short = np.maximum(0.0, 1.0 - margins)
    value = np.bincount(block.member, weights=block.mass * np.sum(short**2, axis=1), minlength=many)
    pull = -2.0 * block.mass[:, None] * np.einsum("kc,kcz->kz", short, block.slopes)
    np.add.at(slope, block.member, pull)
    return np.asarray(value, dtype=np.float64), slope


def _drawn_back(block: Block, start: FloatArray, candidate: FloatArray) -> FloatArray:
    """The map nearest to ``candidate`` on the way from ``start`` that keeps both budgets."""
    share = 1.0
    pairs = [(block.information @ start, block.information @ candidate)]
    if np.isfinite(block.local):
        ratio = np.exp(checking_limit(block.local))
        pairs.append(
            (start.max(0) - ratio * start.min(0), candidate.max(0) - ratio * candidate.min(0))
        )
    for before, after in pairs:
        broken = after > 0
        if bool(np.any(broken)):
            spare = np.maximum(-before[broken], 0.0)
            share = min(share, float(np.min(spare / (after[broken] + spare))))
    return np.asarray(start + share * (candidate - start))


def block_of(
    joint: Joint,
    sensor: int,
    *,
    distinct: tuple[FloatArray, IntArray],
    others: FloatArray,
    signs: FloatArray,
    scores: FloatArray,
    each: bool,
    budgets: Budgets,
) -> Block:
    """The block of a sensor.

    Args:
        joint: the rows; K classes.
        sensor: its number.
        distinct: the different rows of its table, and which one each class has.
        others: (K, R) what the others say together.
        signs: (K, C) ±1 of each one-against-rest problem.
        scores: (C, R, |Z|) f at every outcome, this sensor's axis last.
        each: whether the loss is of each outcome, not of f's mean.
        budgets: of the whole.
    """
    table, mass = joint.tables[sensor], joint.weights
    slopes = costs = None
    if each:
        costs = np.zeros((table.shape[0], scores.shape[2]))
        for sign, score in zip(signs.T, scores, strict=True):
            for side in (-1.0, 1.0):
                loss = np.maximum(0.0, 1.0 - side * score) ** 2
                ours = sign == side
                costs[ours] += others[ours] @ loss
    else:
        slopes = signs[:, :, None] * np.einsum("kr,crz->kcz", others, scores, optimize=True)
    asked = tightened = np.zeros((0, table.shape[1]))
    if np.isfinite(budgets.information):
        tensor = np.stack(
            [
                (others * (mass * (joint.private == g))[:, None]).T @ table
                for g in range(joint.privates)
            ]
        )
        asked = information_rows(tensor, checking_limit(budgets.information), joint.value_of)
        tightened = information_rows(tensor, solving_limit(budgets.information), joint.value_of)
    return Block(*distinct, mass, slopes, costs, asked, tightened, budgets.local)
