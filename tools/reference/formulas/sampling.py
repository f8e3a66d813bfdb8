# SPDX-License-Identifier: Apache-2.0
"""Differentiable sampling: pairs of tokens, their weights, and the sampled tokens."""

from formulas.autograd import Decimal, ONE, constant, exp, log, margins, maximum, sigmoid, softplus, total, value
from formulas.packed import items


def pair_weight(first, second, tau):
    """a / (a + b) with a = softplus(first)^(1/tau), b = softplus(second)^(1/tau)."""
    return sigmoid((log(softplus(first)) - log(softplus(second))) / tau)


def sample_pairs(score, k, tau, ptr=None):
    """The evaluation rule: the k highest scores of an item are paired with the next k. Ties: the lower row first.

    score: [N] numbers. Returns lists top [K], partner [K], weight [K] and sample_ptr [B + 1].
    """
    top, partner, weight, sample_ptr = [], [], [], [0]
    for rows in items(ptr, len(score)):
        ranked = sorted(rows, key=lambda i: (-value(score[i]), i))
        count = min(k, len(ranked) // 2)
        for i, j in zip(ranked[: 2 * count], ranked[1:]):
            margins["rank"].note(value(score[i]) - value(score[j]))
        for i, j in zip(ranked[:count], ranked[count : 2 * count]):
            top.append(i)
            partner.append(j)
            weight.append(pair_weight(score[i], score[j], tau))
        if len(ranked) == 1:  # paired with itself, and no gradient
            top.append(ranked[0])
            partner.append(ranked[0])
            weight.append(ONE)
        sample_ptr.append(len(top))
    return top, partner, weight, sample_ptr


def sampled_tokens(x, top, partner, weight):
    """p x[top] + (1 - p) x[partner], a list of rows."""
    return [[p * a + (1 - p) * b for a, b in zip(x[i], x[j])] for i, j, p in zip(top, partner, weight, strict=True)]


def sample_given_pairs(score, noise, x, top, partner, tau, variant):
    """Weights and sampled tokens of given pairs and noise. variant: "softplus", "hard" or "gumbel_softmax"."""
    noisy = [z + g for z, g in zip(score, noise, strict=True)]
    pairs = list(zip(top, partner))
    if variant == "gumbel_softmax":
        weight = [sigmoid((noisy[i] - noisy[j]) / tau) for i, j in pairs]
    else:
        weight = [pair_weight(noisy[i], noisy[j], tau) for i, j in pairs]
    sample = sampled_tokens(x, top, partner, weight)
    if variant == "hard":  # straight-through: the winner's value, the gradient of the mixture
        for row, (i, j) in zip(sample, pairs):
            winner = x[i] if value(noisy[i]) >= value(noisy[j]) else x[j]
            row[:] = [soft + (constant(hard) - constant(soft)) for soft, hard in zip(row, winner)]
    return weight, sample


def sample_with_replacement(score, noise_top, noise_partner, x, tau, ptr=None):
    """Each of the k samples of an item has two tokens, each the argmax of score + noise over the item, independently.

    noise_*: [N, k]. Returns top, partner, weight, sample_ptr and the sampled tokens. The weight's gradient into the
    score is multiplied by 1 / k; where both are one token, the weight is 1 and has none.
    """
    top, partner, weight, sample_ptr = [], [], [], [0]
    k = noise_top.shape[1]
    for rows in items(ptr, len(score)):
        for j in range(k if rows else 0):
            first, second = (
                max(rows, key=lambda i: value(score[i]) + noise[i, j]) for noise in (noise_top, noise_partner)
            )
            top.append(first)
            partner.append(second)
            if first == second:
                weight.append(ONE)
                continue
            p = pair_weight(score[first] + noise_top[first, j], score[second] + noise_partner[second, j], tau)
            share = ONE / Decimal(k)
            weight.append(p * share + constant(p) * (1 - share))
        sample_ptr.append(len(top))
    return top, partner, weight, sample_ptr, sampled_tokens(x, top, partner, weight)


def softmax_pool(x, u, ptr=None):
    """For each item sum_i w_i x_i with w = softmax(x u) over the item; a list of rows."""
    pooled = []
    for rows in items(ptr, len(x)):
        logits = {i: total(a * b for a, b in zip(x[i], u)) for i in rows}
        weights = {i: exp(logits[i]) for i in rows}
        norm = total(weights.values())
        pooled.append([total(weights[i] * x[i][t] for i in rows) / norm for t in range(len(u))])
    return pooled


def largest(rows):
    """The largest element of each column of a list of rows."""
    best = list(rows[0])
    for row in rows[1:]:
        best = [maximum(a, b) for a, b in zip(best, row)]
    return best
