# SPDX-License-Identifier: Apache-2.0
"""A layer of the sampling transformer, and the rotation-invariant point classifier made of such layers.

block(y) = concat_h(P_h V_h) W_O + b_O       scores, queries and the sampled tokens all from y
ff(y) = gelu(y W_0^T + b_0) W_2^T + b_2
post-norm:  x <- norm1(x + block(x)),  out = norm2(x + ff(x))
pre-norm:   x <- x + block(norm1(x)),  out = x + ff(norm2(x))
"""

from formulas.attention import graph_bias, maxout_attention, point_bias, sequence_bias
from formulas.autograd import ONE, Decimal, Tensor, dot, erf, mean, sqrt, stacked
from formulas.packed import items
from formulas.primal import linear_map
from formulas.sampling import largest, sample_pairs, sampled_tokens

TAU, ATTENTION_EPS, NORM_EPS = ONE, Decimal(1e-6), Decimal(1e-5)


def layer_norm(rows, weight, bias):
    out = []
    for row in rows:
        mu = mean(row)
        inverse = 1 / sqrt(mean([(x - mu) * (x - mu) for x in row]) + NORM_EPS)
        out.append([(x - mu) * inverse * w + b for x, w, b in zip(row, weight, bias, strict=True)])
    return out


def gelu(x):
    """x Phi(x) with the exact normal distribution function Phi."""
    return x * (1 + erf(x / Decimal(2).sqrt())) * Decimal("0.5")


def torch_linear(rows, weight, bias):
    """x W^T + b, W stored [out, in] as in torch.nn.Linear."""
    return [[dot(row, w) + b for w, b in zip(weight, bias)] for row in rows]


def heads_of(rows, h):
    """[N][h c] as a tensor [N, h, c]."""
    return Tensor((len(rows), h, len(rows[0]) // h), [x for row in rows for x in row])


def block(y, p, heads, k, ptr, payload, middle):
    """The attention block. p: parameters by name; payload: what the attention bias is made of; middle takes the sample."""
    score = [row[0] for row in linear_map(y, p["W_S"], p["b_S"])]
    top, partner, weight, sample_ptr = sample_pairs(score, k, TAU, ptr)
    middle.update(score=score, top=top, partner=partner, weight=weight, sample_ptr=sample_ptr)

    def sampled(rows):
        return sampled_tokens(rows, top, partner, weight)

    tokens = sampled(y)
    relative = None
    if "coordinates" in payload:
        x, m = payload["coordinates"], payload.get("normals")
        relative = point_bias(x, sampled(x), p, m, None if m is None else sampled(m))
    elif "s" in payload:
        relative = sequence_bias(payload["s"], sampled(payload["s"]), p)
    elif "rowptr" in payload:
        relative = graph_bias(payload["rowptr"], payload["col"], payload["edge_attr"], top, partner, weight, p)
    q, keys, v = (
        heads_of(linear_map(rows, p["W_" + name], p["b_" + name]), heads)
        for name, rows in (("Q", y), ("K", tokens), ("V", tokens))
    )
    leak = stacked(linear_map(tokens, p["W_C"], p["b_C"]))
    out = maxout_attention(q, keys, v, leak, ATTENTION_EPS, ptr, None if ptr is None else sample_ptr, relative)
    joined = [[x for s in range(heads) for x in out[i, s]] for i in range(len(y))]
    return linear_map(joined, p["W_O"], p["b_O"])


def layer(rows, p, heads, k, pre_norm, ptr, payload, middle):
    def norm(name, x):
        return layer_norm(x, p[name + ".weight"], p[name + ".bias"])

    def feed_forward(x):
        wide = [[gelu(v) for v in row] for row in torch_linear(x, p["ff.0.weight"], p["ff.0.bias"])]
        return torch_linear(wide, p["ff.2.weight"], p["ff.2.bias"])

    def add(x, y):
        return [[a + b for a, b in zip(*pair)] for pair in zip(x, y, strict=True)]

    if pre_norm:
        rows = add(rows, block(norm("norm1", rows), p, heads, k, ptr, payload, middle))
        return add(rows, feed_forward(norm("norm2", rows)))
    rows = norm("norm1", add(rows, block(rows, p, heads, k, ptr, payload, middle)))
    return norm("norm2", add(rows, feed_forward(rows)))


def point_classifier(p, heads, k, head_k, layers, ptr, payload, middles):
    """Tokens are ones through `embed`; post-norm layers; the head samples head_k pairs, takes the maximum over the
    sampled tokens of an item and maps it linearly to classes. A list of rows of class scores."""
    count = len(payload["coordinates"])
    rows = torch_linear([[ONE]] * count, p["embed.weight"], p["embed.bias"])
    for i in range(layers):
        prefix = f"layers.{i}."
        parameters = {name.removeprefix(prefix): tensor for name, tensor in p.items() if name.startswith(prefix)}
        middles.append({})
        rows = layer(rows, parameters, heads, k, False, ptr, payload, middles[-1])
    score = [row[0] for row in linear_map(rows, p["head.W_S"], p["head.b_S"])]
    top, partner, weight, sample_ptr = sample_pairs(score, head_k, TAU, ptr)
    middles.append(dict(score=score, top=top, partner=partner, weight=weight, sample_ptr=sample_ptr))
    tokens = sampled_tokens(rows, top, partner, weight)
    pooled = [largest([tokens[j] for j in item]) for item in items(sample_ptr, len(tokens))]
    return torch_linear(pooled, p["head.weight"], p["head.bias"])
