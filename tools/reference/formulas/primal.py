# SPDX-License-Identifier: Apache-2.0
"""Attention from the primal-dual frame: plain, recentred (BN), with scaled heads (SH), linear, sparse, convolved."""

from formulas.autograd import Decimal, ONE, ZERO, dot, exp, maximum, mean, sqrt, stacked, total, value
from formulas.packed import items


def pooled_rows(rows, factor, reduce=mean):
    """Consecutive groups of `factor` rows, each column reduced; the last group has what is left."""
    return [[reduce(column) for column in zip(*rows[first : first + factor])] for first in range(0, len(rows), factor)]


def maximum_of(column):
    best = column[0]
    for x in column[1:]:
        best = maximum(best, x)
    return best


def elu_plus_one(x):
    return x + 1 if value(x) > 0 else exp(x)


def attend(queries, keys, values, linear, eps, allowed=None):
    """Rows of one item and head. allowed(i, j): whether query i sees key j."""
    scale = ONE / Decimal(len(queries[0])).sqrt() if queries else ONE
    if linear:
        queries = [[elu_plus_one(x) for x in row] for row in queries]
        keys = [[elu_plus_one(x) for x in row] for row in keys]
    out = []
    for i, q in enumerate(queries):
        seen = [j for j in range(len(keys)) if allowed is None or allowed(i, j)]
        if not seen:
            out.append([ZERO] * width(values))
            continue
        products = [dot(q, keys[j]) for j in seen]
        weights = products if linear else [exp(x * scale) for x in products]
        norm = total([*weights, eps]) if linear else total(weights)
        out.append([dot(weights, [values[j][t] for j in seen]) / norm for t in range(width(values))])
    return out


def width(rows):
    return len(rows[0]) if rows else 0


def recentred(queries, keys, beta):
    """q - beta mu and k - beta mu, mu the mean of the keys."""
    shift = [beta * mean(column) for column in zip(*keys)]
    return tuple([[x - m for x, m in zip(row, shift)] for row in rows] for rows in (queries, keys))


def primal_attention(q, k, v, beta=None, pool=None, linear=False, eps=ZERO, q_ptr=None, k_ptr=None, mask=None):
    """q [Nq, h, c], k [Nk, h, c], v [Nk, h, cv] -> [Nq, h, cv].

    Keys and values are pooled, per item, by pool[s] in head s; then queries and keys are recentred by beta ([] or [h]);
    then softmax or linear attention. mask: (rowptr, col) over the packed pooled keys of a head, with one row per query,
    or one per head and query.
    """
    heads = q.shape[1]
    out = [[[ZERO] * v.shape[2] for _ in range(heads)] for _ in range(len(q))]
    for s in range(heads):
        factor = 1 if pool is None else pool[s]
        first_key = 0
        for queries, keys in zip(items(q_ptr, len(q)), items(k_ptr, len(k)), strict=True):
            q_rows = [q[i, s] for i in queries]
            k_rows = pooled_rows([k[j, s] for j in keys], factor)
            v_rows = pooled_rows([v[j, s] for j in keys], factor)
            allowed = None
            if mask:
                rowptr, col = mask
                row = queries.start + (s * len(q) if len(rowptr) > len(q) + 1 else 0)
                seen = [
                    set(col[e] - first_key for e in range(rowptr[row + i], rowptr[row + i + 1]))
                    for i in range(len(queries))
                ]
                allowed = lambda i, j: j in seen[i]
            if beta is not None and k_rows:
                q_rows, k_rows = recentred(q_rows, k_rows, beta.elements[s if beta.shape else 0])
            if k_rows:
                for i, row in zip(queries, attend(q_rows, k_rows, v_rows, linear, eps, allowed)):
                    out[i][s] = row
            first_key += len(k_rows)
    return stacked(out)


def each_head(transformed):
    """An attention that does something to the queries and keys of each item and head, then plain softmax attention."""

    def attention(q, k, v, q_ptr=None, k_ptr=None, **options):
        out = [[None] * q.shape[1] for _ in range(len(q))]
        for queries, keys in zip(items(q_ptr, len(q)), items(k_ptr, len(k)), strict=True):
            for s in range(q.shape[1]):
                rows = transformed([q[i, s] for i in queries], [k[j, s] for j in keys], s, **options)
                for i, row in zip(queries, attend(*rows, [v[j, s] for j in keys], False, ZERO)):
                    out[i][s] = row
        return stacked(out)

    return attention


def normalised(queries, keys, _, eps):
    """(x - mean) / sqrt(variance + eps) per channel; mean and biased variance of the keys."""
    mu = [mean(column) for column in zip(*keys)]
    inverse = [1 / sqrt(mean([(x - m) * (x - m) for x in column]) + eps) for column, m in zip(zip(*keys), mu)]
    return tuple([[(x - m) * r for x, m, r in zip(row, mu, inverse)] for row in rows] for rows in (queries, keys))


def convolved_1d(queries, keys, s, weight):
    """Cross-correlation along the rows: y[i] = sum_a weight[s][a] x[i + a - (size - 1) // 2], with zeros outside. A
    weight with one row is that of all heads."""
    kernel = weight[s if len(weight) > 1 else 0]

    def convolve(rows):
        before = (len(kernel) - 1) // 2
        return [
            [
                total(w * rows[i + a - before][t] for a, w in enumerate(kernel) if 0 <= i + a - before < len(rows))
                for t in range(len(rows[0]))
            ]
            for i in range(len(rows))
        ]

    return convolve(queries), convolve(keys)


def convolved_2d(queries, keys, s, weight, nh, nw):
    """The same in both directions of a row-major grid of nh x nw rows."""
    size = weight.shape[1]

    def convolve(rows):
        before = (size - 1) // 2
        out = []
        for y in range(nh):
            for x in range(nw):
                terms = [
                    (weight[s, a, b], (y + a - before) * nw + x + b - before)
                    for a in range(size)
                    for b in range(size)
                    if 0 <= y + a - before < nh and 0 <= x + b - before < nw
                ]
                out.append([total(w * rows[i][t] for w, i in terms) for t in range(len(rows[0]))])
        return out

    return convolve(queries), convolve(keys)


batch_norm_attention = each_head(normalised)
conv1d_attention = each_head(convolved_1d)
conv2d_attention = each_head(convolved_2d)


def linear_map(rows, weight, bias=None):
    """x W + b of a list of rows, W stored [in, out]."""
    columns = list(zip(*weight))
    return [
        [dot(row, column) + (ZERO if bias is None else bias[t]) for t, column in enumerate(columns)] for row in rows
    ]


def scaled_head_layer(x, w_q, w_k, w_v, w_o, b_k, b_v, h, pool, mode, beta=None, linear=False, eps=ZERO, ptr=None):
    """x [N, d] is pooled (mode 0: mean, 1: maximum) per item and head; keys and values are projections of that."""
    out = []
    queries = linear_map(list(x), w_q)

    def part(row, s, count):
        return row[s * (count // h) : (s + 1) * (count // h)]

    for rows in items(ptr, len(x)):
        joined = [[] for _ in rows]
        for s in range(h):
            pooled = pooled_rows([x[i] for i in rows], pool[s], maximum_of if mode else mean)
            q_rows = [part(queries[i], s, w_q.shape[1]) for i in rows]
            k_rows = [part(row, s, w_k.shape[1]) for row in linear_map(pooled, w_k, b_k)]
            v_rows = [part(row, s, w_v.shape[1]) for row in linear_map(pooled, w_v, b_v)]
            if beta is not None:
                q_rows, k_rows = recentred(q_rows, k_rows, beta.item())
            for row, head in zip(joined, attend(q_rows, k_rows, v_rows, linear, eps)):
                row += head
        out += linear_map(joined, w_o)
    return stacked(out)
