# SPDX-License-Identifier: Apache-2.0
"""Maxout attention with leaky probabilities, and the attention bias of points, graphs and sequences.

    S[i,j] = sum_t max(q[i,t], k[j,t]) / sqrt(c) * R_mul[i,j] + R_add[i,j]
    P[i,j] = relu(S[i,j]) / (sum over j of (relu(S[i,j]) + softplus(leak[j])) + eps)
    out[i] = sum_j P[i,j] v[j]

per head, over the keys of the query's item. A row whose denominator is 0 is 0, and so is a row without keys.
"""

from formulas.autograd import Decimal, ONE, ZERO, dot, maximum, relu, softplus, stacked, total, value
from formulas.packed import items


def maxout_attention(q, k, v, leak, eps, q_ptr=None, k_ptr=None, relative=None):
    """q [Nq, h, c], k [Nk, h, c], v [Nk, h, cv], leak [Nk, h] -> [Nq, h, cv].

    relative(i, j, s): R_mul and R_add of query row i, key row j and head s; without it they are 1 and 0.
    """
    heads, scale = q.shape[1], ONE / Decimal(q.shape[2]).sqrt()
    out = [[[ZERO] * v.shape[2] for _ in range(heads)] for _ in range(len(q))]
    for queries, keys in zip(items(q_ptr, len(q)), items(k_ptr, len(k)), strict=True):
        if not keys:
            continue
        for s in range(heads):
            leaked = total([softplus(leak[j, s]) for j in keys] + [eps])
            for i in queries:
                scores = []
                for j in keys:
                    score = total(maximum(a, b) for a, b in zip(q[i, s], k[j, s])) * scale
                    if relative:
                        mul, add = relative(i, j, s)
                        score = score * mul + add
                    scores.append(relu(score))
                norm = total([*scores, leaked])
                if value(norm) != 0:
                    out[i][s] = [dot(scores, [v[j, s, t] for j in keys]) / norm for t in range(v.shape[2])]
    return stacked(out) if out else out


def dense_bias(r_mul, r_add, q_ptr, k_ptr, q_count, k_count):
    """Given R_mul and R_add [pairs, h]: the pairs of an item are its queries x its keys, row-major, item after item."""
    row = {}
    for queries, keys in zip(items(q_ptr, q_count), items(k_ptr, k_count)):
        for i in queries:
            for j in keys:
                row[i, j] = len(row)
    return lambda i, j, s: (
        ONE if r_mul is None else r_mul[row[i, j], s],
        ZERO if r_add is None else r_add[row[i, j], s],
    )


def transform(encoding, weights, s):
    """R_mul = softplus(x w_mul + b_mul) and R_add = x w_add + b_add of head s; x: channels of a relative encoding."""
    column = {name: [row[s] for row in weights[name]] for name in ("w_mul", "w_add")}
    return (
        softplus(dot(encoding, column["w_mul"]) + weights["b_mul"][s]),
        dot(encoding, column["w_add"]) + weights["b_add"][s],
    )


def point_bias(x, xs, weights, m=None, ms=None):
    """Channels: the squared distance of point i and sampled point j and, where given, the product of their normals. With
    more rows of weights: the products of both normals with the difference d of the points, and the triple product."""
    channels = len(weights["w_mul"])

    def encoding(i, j):
        d = [b - a for a, b in zip(x[i], xs[j])]
        if m is None:
            return [dot(d, d)]
        found = [dot(d, d), dot(m[i], ms[j])]
        if channels > 2:
            found += [dot(m[i], d), dot(ms[j], d)]
        return found + ([dot(cross(m[i], ms[j]), d)] if channels > 4 else [])

    return cached(encoding, weights)


def cross(a, b):
    """The vector product."""
    return [a[s] * b[t] - a[t] * b[s] for s, t in ((1, 2), (2, 0), (0, 1))]


def sequence_bias(s, ss, weights):
    """Channel t: s[i,t] ss[j,t]."""
    return cached(lambda i, j: [a * b for a, b in zip(s[i], ss[j])], weights)


def cached(encoding, weights):
    """The attention bias by an encoding that all heads share."""
    known = {}

    def bias(i, j, s):
        if (i, j) not in known:
            known[i, j] = encoding(i, j)
        return transform(known[i, j], weights, s)

    return bias


def graph_bias(rowptr, col, edge_attr, top, partner, weight, weights):
    """Channels: the sum of edge_attr over the stored edges (i, j), 0 without an edge.

    The bias of key j is that of the edges to top[j] and to partner[j], mixed by weight[j] after their transform.
    """
    edges = {}
    for i in range(len(rowptr) - 1):
        for e in range(rowptr[i], rowptr[i + 1]):
            edges.setdefault((i, col[e]), []).append(edge_attr[e])
    channels = edge_attr.shape[1]

    def encoding(i, j):
        stored = edges.get((i, j), [])
        return [total(edge[r] for edge in stored) for r in range(channels)]

    def bias(i, j, s):
        p = weight[j]
        first, second = transform(encoding(i, top[j]), weights, s), transform(encoding(i, partner[j]), weights, s)
        return tuple(p * a + (1 - p) * b for a, b in zip(first, second))

    return bias
