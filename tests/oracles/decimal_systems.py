"""Linear time-invariant noise in 120-digit decimals, by the slowest textbook route.

Shares no code and no formula with the sampler: the transition is a Taylor series of the matrix
exponential with squarings, the stationary covariance solves the Lyapunov equation by elimination
in exact fractions, and the noise of a step is the difference P - A P A^T, whose cancellation 120
digits can afford. Kernels are evaluated from their definitions.
"""

from decimal import Decimal, localcontext
from fractions import Fraction

Matrix = list[list[Decimal]]
DIGITS = 120


def chain_step(order: int, x: float) -> tuple[Matrix, Matrix]:
    """(A, Q) over a step x of du_1 = -u_1 ds + dw, du_k = (u_{k-1} - u_k) ds, to 120 digits."""
    with localcontext() as context:
        context.prec = DIGITS
        drift = [
            [Decimal(-1) if i == j else Decimal(int(i == j + 1)) for j in range(order)]
            for i in range(order)
        ]
        transition = _exponential(drift, Decimal(x))
        stationary = _lyapunov(order)
        propagated = _times(_times(transition, stationary), _transposed(transition))
        noise = [[stationary[i][j] - propagated[i][j] for j in range(order)] for i in range(order)]
    return transition, noise


def cholesky(matrix: Matrix) -> Matrix:
    """The lower factor, to 120 digits."""
    size = len(matrix)
    lower = [[Decimal(0)] * size for _ in range(size)]
    with localcontext() as context:
        context.prec = DIGITS
        for i in range(size):
            for j in range(i + 1):
                rest = matrix[i][j] - sum((lower[i][k] * lower[j][k] for k in range(j)), Decimal(0))
                lower[i][j] = rest.sqrt() if i == j else rest / lower[j][j]
    return lower


def kernel(family: str, lag_ms: int, timescale: float, period: float | None) -> float:
    """Unit-variance covariance at a lag, from the definition."""
    with localcontext() as context:
        context.prec = DIGITS
        scaled = Decimal(lag_ms) / 1000 / Decimal(timescale)
        if family == "matern12":
            return float((-scaled).exp())
        if family == "oscillator":
            assert period is not None
            turns = Decimal(lag_ms) / 1000 / Decimal(period)
            return float((-scaled).exp() * _cosine_of_turns(turns % 1))
        x = scaled * Decimal(3 if family == "matern32" else 5).sqrt()
        polynomial = 1 + x if family == "matern32" else 1 + x + x * x / 3
        return float(polynomial * (-x).exp())


def _exponential(drift: Matrix, x: Decimal) -> Matrix:
    size = len(drift)
    squarings = 0
    while x > Decimal("0.5"):
        x /= 2
        squarings += 1
    identity = [[Decimal(int(i == j)) for j in range(size)] for i in range(size)]
    total, term = identity, identity
    for k in range(1, 90):
        product = _times(term, drift)
        term = [[entry * x / k for entry in row] for row in product]
        total = [
            [a + b for a, b in zip(p, q, strict=True)] for p, q in zip(total, term, strict=True)
        ]
    for _ in range(squarings):
        total = _times(total, total)
    return total


def _lyapunov(order: int) -> Matrix:
    """P of F P + P F^T + e_1 e_1^T = 0, all entries as unknowns of one linear system."""
    drift = [
        [Fraction(-1) if i == j else Fraction(int(i == j + 1)) for j in range(order)]
        for i in range(order)
    ]
    unknowns = order * order
    rows = []
    for i in range(order):
        for j in range(order):
            row = [Fraction(0)] * (unknowns + 1)
            for k in range(order):
                row[k * order + j] += drift[i][k]
                row[i * order + k] += drift[j][k]
            row[-1] = Fraction(-1 if i == j == 0 else 0)
            rows.append(row)
    for pivot in range(unknowns):
        chosen = next(r for r in range(pivot, unknowns) if rows[r][pivot] != 0)
        rows[pivot], rows[chosen] = rows[chosen], rows[pivot]
        rows[pivot] = [entry / rows[pivot][pivot] for entry in rows[pivot]]
        for r in range(unknowns):
            if r != pivot and rows[r][pivot] != 0:
                rows[r] = [
                    a - rows[r][pivot] * b for a, b in zip(rows[r], rows[pivot], strict=True)
                ]
    solution = [row[-1] for row in rows]
    return [
        [
            Decimal(solution[i * order + j].numerator)
            / Decimal(solution[i * order + j].denominator)
            for j in range(order)
        ]
        for i in range(order)
    ]


def _times(a: Matrix, b: Matrix) -> Matrix:
    columns = _transposed(b)
    return [
        [sum((p * q for p, q in zip(row, c, strict=True)), Decimal(0)) for c in columns]
        for row in a
    ]


def _transposed(a: Matrix) -> Matrix:
    return [list(column) for column in zip(*a, strict=True)]


def _cosine_of_turns(turns: Decimal) -> Decimal:
    """cos(2 pi turns) by Machin's pi and a Taylor series."""
    angle = 2 * turns * 4 * (4 * _arctangent(5) - _arctangent(239))
    total = term = Decimal(1)
    for k in range(1, 90):
        term *= -angle * angle / ((2 * k - 1) * (2 * k))
        total += term
    return total


def _arctangent(inverse: int) -> Decimal:
    total, power = Decimal(0), Decimal(1) / inverse
    for k in range(200):
        total += power / (2 * k + 1) * (-1) ** k
        power /= inverse * inverse
    return total
