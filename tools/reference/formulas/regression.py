# SPDX-License-Identifier: Apache-2.0
"""Epsilon-insensitive support vector regression whose solution is softmax attention.

    f(x) = sum_j dual_j K(x, k_j) + bias,  K(x, k) = exp(x.k / sqrt D) / (h(x) h(k)),  h(x) = sum_j exp(x.k_j / sqrt D)

so f(x) - bias is softmax attention of the query x over the keys k_j with the values dual_j / h_j. The dual problem:

    minimise 1/2 dual^T K dual - target^T dual + epsilon sum |dual_j|
    subject to sum dual_j = 0 and -C <= dual_j <= C
"""

import decimal

from formulas.autograd import Decimal, ONE, ZERO, dot, exp, total


def kernel_sums(rows, keys):
    """h of each row."""
    scale = ONE / Decimal(keys.shape[1]).sqrt()
    return [total(exp(dot(x, k) * scale) for k in keys) for x in rows]


def kernel(rows, keys):
    """K(x, k) of each row x and key k."""
    scale = ONE / Decimal(keys.shape[1]).sqrt()
    own, theirs = kernel_sums(rows, keys), kernel_sums(keys, keys)
    return [[exp(dot(x, k) * scale) / (a * b) for k, b in zip(keys, theirs)] for x, a in zip(rows, own)]


def predictions(rows, keys, duals, biases):
    """f of each row (a list) for each dual and bias (columns)."""
    return [[dot(row, dual) + bias for dual, bias in zip(duals, biases)] for row in kernel(rows, keys)]


def solved(matrix, right):
    """Gaussian elimination with row pivots."""
    rows = [list(row) + [b] for row, b in zip(matrix, right)]
    size = len(rows)
    for i in range(size):
        pivot = max(range(i, size), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for r in range(i + 1, size):
            factor = rows[r][i] / rows[i][i]
            if factor:
                rows[r] = rows[r][:i] + [a - factor * b for a, b in zip(rows[r][i:], rows[i][i:])]
    solution = [ZERO] * size
    for i in reversed(range(size)):
        solution[i] = (rows[i][size] - dot(rows[i][i + 1 : size], solution[i + 1 :])) / rows[i][i]
    return solution


def support_vector_regression(keys, target, cost, epsilon):
    """The dual variables and the bias, to more than 30 digits, by a primal-dual interior point method.

    dual = up - down with 0 <= up, down <= C. Each of the 2 n variables has a multiplier for its lower bound and one for
    its upper bound. A step solves the linearised optimality conditions, in which the product of each multiplier and its
    slack is to become a tenth of the present mean, and goes at most 0.9 of the way to the nearest bound. The products
    tend to 0, and the iterate to the solution.
    """
    n = len(keys)
    with decimal.localcontext() as context:
        context.prec = 80
        k = kernel(keys, keys)
        signs = [1] * n + [-1] * n
        amount = [cost / 2] * (2 * n)
        lower, upper, bias = [ONE] * (2 * n), [ONE] * (2 * n), ZERO
        while True:
            slack = [cost - a for a in amount]
            gap = (dot(amount, lower) + dot(slack, upper)) / (4 * n)
            dual = [amount[j] - amount[n + j] for j in range(n)]
            fitted = [dot(row, dual) + bias for row in k]
            # The derivative by `amount` is 0: sign (fitted - target) + epsilon - lower + upper = 0.
            if gap < Decimal("1e-50"):
                break
            aim = gap / 10
            curvature = [lo / a + up / s for lo, a, up, s in zip(lower, amount, upper, slack)]
            right = [
                -(signs[i] * (fitted[i % n] - target[i % n]) + epsilon) + aim / amount[i] - aim / slack[i]
                for i in range(2 * n)
            ]
            # With change = K change_of_dual + change_of_bias, each amount changes by (right - sign change) / curvature.
            weight = [1 / curvature[j] + 1 / curvature[n + j] for j in range(n)]
            matrix = [[k[i][j] + (1 / weight[i] if i == j else 0) for j in range(n)] + [ONE] for i in range(n)]
            free = [right[j] / curvature[j] - right[n + j] / curvature[n + j] for j in range(n)]
            *_, step_of_bias = step = solved(
                matrix + [[ONE] * n + [ZERO]], [f / w for f, w in zip(free, weight)] + [-sum(dual)]
            )
            change = [dot(row, step[:n]) + step_of_bias for row in k]
            d_amount = [(right[i] - signs[i] * change[i % n]) / curvature[i] for i in range(2 * n)]
            d_lower = [aim / a - lo - lo / a * d for a, lo, d in zip(amount, lower, d_amount)]
            d_upper = [aim / s - up + up / s * d for s, up, d in zip(slack, upper, d_amount)]
            length = min(
                [ONE]
                + [
                    -Decimal("0.9") * x / d
                    for x, d in [*zip(amount, d_amount), *zip(lower, d_lower), *zip(upper, d_upper)]
                    if d < 0
                ]
                + [Decimal("0.9") * s / d for s, d in zip(slack, d_amount) if d > 0]
            )
            amount, lower, upper = (
                [x + length * d for x, d in zip(xs, ds)]
                for xs, ds in ((amount, d_amount), (lower, d_lower), (upper, d_upper))
            )
            bias += length * step_of_bias
    return [+x for x in dual], +bias  # + rounds
