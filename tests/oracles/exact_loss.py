"""Slow, independent computation of K and of Rényi losses, in 60 decimal digits.

Written from the definition: block matrices of the conditional prior, plain Gaussian elimination in
`decimal`, no factorisation and no shortcut that the product uses.
"""

from collections.abc import Sequence
from decimal import Decimal, localcontext

import numpy as np

Matrix = list[list[Decimal]]
DIGITS = 60


def information_by_definition(
    prior_cov: np.ndarray, secret: Sequence[int], noise_cov: np.ndarray
) -> np.ndarray:
    """K = A^T (blockdiag(0, C) + G)^-1 A with rows ordered secret, rest.

    Entries may be floats or, in an array of objects, decimals.
    """
    with localcontext() as context:
        context.prec = DIGITS
        inside = list(secret)
        rest = [i for i in range(len(prior_cov)) if i not in inside]
        order = inside + rest
        prior = _decimal(prior_cov[np.ix_(order, order)])
        noise = _decimal(noise_cov[np.ix_(order, order)])
        size = len(inside)
        top = [row[:size] for row in prior[:size]]
        cross = [row[:size] for row in prior[size:]]
        follow = _transpose(_solve(top, _transpose(cross)))
        explained = _product(follow, _transpose(cross))
        total = [list(row) for row in noise]
        for i in range(len(rest)):
            for j in range(len(rest)):
                total[size + i][size + j] += prior[size + i][size + j] - explained[i][j]
        identity = [[Decimal(int(i == j)) for j in range(size)] for i in range(size)]
        directions = identity + follow
        result = _product(_transpose(directions), _solve(total, directions))
        return np.array([[float(x) for x in row] for row in result])


def gaussian_renyi_by_quadrature(
    mean: np.ndarray, other: np.ndarray, covariance: np.ndarray, order: float
) -> float:
    """D_order between two Gaussians of one covariance, by integrating along the line of means.

    Whitened, both are standard normal except along one direction, so one integral is enough.
    """
    half = np.linalg.cholesky(covariance)
    distance = float(np.linalg.norm(np.linalg.solve(half, mean - other)))
    grid = np.linspace(-40.0, 40.0, 400_001)
    first = -0.5 * (grid - distance) ** 2
    second = -0.5 * grid**2
    exponent = order * first + (1.0 - order) * second
    peak = float(np.max(exponent))
    integral = float(np.trapezoid(np.exp(exponent - peak), grid)) / np.sqrt(2.0 * np.pi)
    return float((np.log(integral) + peak) / (order - 1.0))


def _decimal(matrix: np.ndarray) -> Matrix:
    return [[x if isinstance(x, Decimal) else Decimal(float(x)) for x in row] for row in matrix]


def _transpose(matrix: Matrix) -> Matrix:
    return [list(column) for column in zip(*matrix, strict=True)]


def _product(left: Matrix, right: Matrix) -> Matrix:
    columns = _transpose(right)
    return [
        [sum((a * b for a, b in zip(row, col, strict=True)), Decimal(0)) for col in columns]
        for row in left
    ]


def _solve(matrix: Matrix, right: Matrix) -> Matrix:
    size = len(matrix)
    rows = [list(matrix[i]) + list(right[i]) for i in range(size)]
    for k in range(size):
        pivot = max(range(k, size), key=lambda i: abs(rows[i][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        lead = rows[k][k]
        rows[k] = [x / lead for x in rows[k]]
        for i in range(size):
            if i != k and rows[i][k] != 0:
                factor = rows[i][k]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[size:] for row in rows]
