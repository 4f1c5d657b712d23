"""One block's map and the decision rule together, by a small mixed-integer program.

Alternating between rule and map stops where neither helps alone. Here t[o, z] is what outcome
(o, z) adds to the chance of deciding rightly and b[h, o, z] whether h is decided for it:

    t[o, z] <= p(h, o, z) + M[h, o] (1 - b[h, o, z]),     sum_h b[h, o, z] = 1.

M[h, o] bounds how much likelier another value can be. The search is cut at a number of nodes, not
of seconds, so that the same question has the same answer.
"""

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from precompute.mapping.blocks import Block, solving_limit
from precompute.mapping.joint import FloatArray
from precompute.mapping.map_variables import map_variables
from precompute.mapping.repair import repaired
from precompute.native_output import native_output_discarded

# Decisions (o |Z| |H|) and rows of information privacy that such a program may have.
MOST_DECISIONS = 32
MOST_ROWS = 600
MOST_NODES = 40


def small_enough(block: Block) -> bool:
    """Whether the block's program has few decisions and rows."""
    publics, others, _ = block.reward.shape
    said = block.symbols if block.post is None else block.post.shape[1]
    rows = 0
    if block.guard is not None:
        guarded = block.symbols if block.guard_post is None else block.guard_post.shape[1]
        rows = block.sides * block.guard.shape[1] * guarded
    return publics * others * said <= MOST_DECISIONS and rows <= MOST_ROWS


def solve_with_rule(block: Block, present: FloatArray) -> FloatArray:
    """A map at least as good as the present one, over all rules; feasible."""
    cells, symbols = present.shape
    publics, others, _ = block.reward.shape
    post = np.eye(symbols) if block.post is None else block.post
    said = post.shape[1]
    variables = map_variables(cells, symbols, solving_limit(block.local))
    size = variables.spread.shape[1]
    adds, decides = others * said, publics * others * said
    # (|H|, o, |Z|, cells * symbols): p(h, o, z) as a function of the map.
    chance = np.einsum("hox,yz->hozxy", block.reward, post).reshape(decides, cells * symbols)
    chance, certain = variables.written(chance)
    rival = block.reward.max(axis=0)[None] - block.reward
    most = np.repeat(rival.sum(axis=2).ravel(), said)
    left = sparse.hstack(
        [
            sparse.csr_array(-chance),
            sparse.csr_array(np.tile(np.eye(adds), (publics, 1))),
            sparse.diags_array(most),
        ]
    )
    guard = block.rows(solving_limit(block.information))
    through = np.eye(symbols) if block.guard_post is None else block.guard_post
    rows = np.einsum("rx,yz->rzxy", guard, through).reshape(-1, cells * symbols)
    slack = np.maximum(0.0, rows @ present.ravel())
    rows, constant = variables.written(rows)
    fixed = np.vstack([variables.rows, rows])
    low = np.concatenate([variables.low, np.full(slack.size, -np.inf)])
    high = np.concatenate([variables.held(present), slack - constant])
    rest = sparse.csr_array((fixed.shape[0], adds + decides))
    one_each = np.tile(np.eye(adds), (1, publics))
    constraints = [
        LinearConstraint(left, -np.inf, most + certain),
        LinearConstraint(sparse.hstack([sparse.csr_array(fixed), rest]), low, high),
        LinearConstraint(
            sparse.hstack([sparse.csr_array((adds, size + adds)), sparse.csr_array(one_each)]), 1, 1
        ),
    ]
    whole = size + adds + decides
    objective = np.zeros(whole)
    objective[size : size + adds] = -1.0
    integral = np.zeros(whole)
    integral[size + adds :] = 1
    with native_output_discarded():
        result = milp(
            objective,
            constraints=constraints,
            integrality=integral,
            bounds=Bounds(0.0, 1.0),
            options={"node_limit": MOST_NODES, "mip_rel_gap": 1e-5},
        )
    if result.x is None:
        return present
    one = repaired(block, variables.map(result.x[:size]), present)
    return one if block.success(one) > block.success(present) else present
