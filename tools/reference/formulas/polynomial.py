# SPDX-License-Identifier: Apache-2.0
"""Polynomial attention: the exponential of softmax attention replaced by its Taylor polynomial T of some degree.

Each formula comes in three forms:
    exact   weights exp(x): softmax attention
    approx  weights T(x): the gradient is that of this forward
    paper   weights T(x), differentiated as if T were its own derivative, as exp is: the low-rank form put into the
            gradient's formula of softmax attention
"""

from formulas.autograd import Decimal, ONE, ZERO, dot, exp, log, mean, record, stacked, total, value
from formulas.packed import items
from formulas.primal import linear_map


def taylor(x, degree):
    """sum_{t <= degree} x^t / t!; 0 for a negative degree."""
    result = term = ONE if degree >= 0 else ZERO
    for t in range(1, degree + 1):
        term = term * x / t
        result += term
    return result


def weight(x, degree, form):
    if form == "exact":
        return exp(x)
    polynomial = taylor(value(x), degree)
    return record(polynomial, (x, taylor(value(x), degree - 1) if form == "approx" else polynomial))


def attend(queries, keys, values, degree, scale, causal=False, form="approx"):
    """Rows of one item and head."""
    out = []
    for i, q in enumerate(queries):
        seen = range(i + 1 if causal else len(keys))
        weights = [weight(dot(q, keys[j]) * scale, degree, form) for j in seen]
        norm = total(weights)
        out.append([dot(weights, [values[j][t] for j in seen]) / norm for t in range(len(values[0]))])
    return out


def centred(keys):
    mu = [mean(column) for column in zip(*keys)]
    return [[x - m for x, m in zip(row, mu)] for row in keys]


def polynomial_attention(q, k, v, degree, scale, causal=False, center=False, q_ptr=None, k_ptr=None):
    """q [Nq, h, c], k [Nk, h, c], v [Nk, h, cv] -> [Nq, h, cv]. center: the mean of the item's keys is subtracted."""
    heads = q.shape[1]
    out = [[[ZERO] * v.shape[2] for _ in range(heads)] for _ in range(len(q))]
    for queries, keys in zip(items(q_ptr, len(q)), items(k_ptr, len(k)), strict=True):
        if not keys:
            continue
        for s in range(heads):
            k_rows = [k[j, s] for j in keys]
            rows = attend(
                [q[i, s] for i in queries],
                centred(k_rows) if center else k_rows,
                [v[j, s] for j in keys],
                degree,
                scale,
                causal,
            )
            for i, row in zip(queries, rows):
                out[i][s] = row
    return stacked(out)


def closed_form(x, w, w_v, scale, degree, form):
    """Attention with queries X W, keys X and values X W_V."""
    rows = list(x)
    return stacked(attend(linear_map(rows, w), rows, linear_map(rows, w_v), degree, scale, False, form))


def layers(x, weights, heads, degree, scale, causal, center, ptr, form):
    """y = x + Attn(x w_q, x w_k, x w_v) w_o, once for each (w_q, w_k, w_v, w_o) of `weights`; a list of rows."""
    rows = list(x)
    c = len(rows[0]) // heads
    for w_q, w_k, w_v, w_o in weights:
        q, k, v = (linear_map(rows, w) for w in (w_q, w_k, w_v))
        joined = [[] for _ in rows]
        for item in items(ptr, len(rows)):
            for s in range(heads):
                head = [[row[s * c : (s + 1) * c] for row in (projected[i] for i in item)] for projected in (q, k, v)]
                if center:
                    head[1] = centred(head[1])
                for i, row in zip(item, attend(*head, degree, scale, causal, form)):
                    joined[i] += row
        rows = [[a + b for a, b in zip(row, change)] for row, change in zip(rows, linear_map(joined, w_o))]
    return rows


def squared_error(rows, target):
    """1/2 sum (y - target)^2"""
    return total((a - b) * (a - b) for row, expected in zip(rows, target) for a, b in zip(row, expected)) * Decimal("0.5")


def cross_entropy(rows, target):
    """The mean over rows of log(sum_c e^y_c) - y_target."""
    return mean([log(total(map(exp, row))) - row[label] for row, label in zip(rows, target)])
