# SPDX-License-Identifier: Apache-2.0
"""Random-walk positional encodings of a weighted graph in CSR form."""

from formulas.autograd import ZERO


def random_walk_pe(rowptr, col, weight, steps):
    """out[i][t - 1]: the probability that a walk from node i is at i after t steps, t = 1 ... steps.

    A step from i follows an edge (i, j) with probability weight / (sum of row i); a node without edges ends the walk.
    This is the diagonal of (D^-1 A)^t, and so that of (A D^-1)^t.
    """
    nodes = range(len(rowptr) - 1)
    edges = {i: [(col[e], weight[e]) for e in range(rowptr[i], rowptr[i + 1])] for i in nodes}
    degree = {i: sum((w for _, w in edges[i]), ZERO) for i in nodes}
    out = []
    for start in nodes:
        at, returns = {start: 1}, []
        for _ in range(steps):
            following = {}
            for i, probability in at.items():
                for j, w in edges[i] if degree[i] else ():
                    following[j] = following.get(j, ZERO) + probability * w / degree[i]
            at = following
            returns.append(at.get(start, ZERO))
        out.append(returns)
    return out
