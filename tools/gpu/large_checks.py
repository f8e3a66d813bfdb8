# SPDX-License-Identifier: Apache-2.0
"""Checks calls of more than 2^31 elements on a GPU: correct where part of the result is known, or rejected with a message."""

import torch

from cases import GPU, OPS
from checking import difference, require

MANY = 1 << 31


def rows_beyond(width):
    """The fewest rows of so many numbers, a multiple of 64, that are more than MANY together."""
    return (MANY // width // 64 + 1) * 64


def large_attention(score):
    """The last queries beside the same ones alone."""
    heads, c, keys = 4, 128, 8
    q = torch.randn(rows_beyond(heads * c), heads, c, device=GPU, dtype=torch.float16)
    k, v = (torch.randn(keys, heads, c, device=GPU, dtype=torch.float16) for _ in range(2))
    attend = score(q.shape[0], keys, heads)
    out = attend(q, k, v, slice(None))[-64:]
    require(difference([out], [attend(q[-64:], k, v, slice(-64, None))]) < 2e-3, "the last queries alone give another result")


def large_gradients(score):
    """The last queries' gradients beside those of the same ones alone, the keys' beside the sum over two parts of the queries.

    More than 2^31 numbers of 2 bytes are in q, grad_output, the result and the gradient of q: 17 GB together, and 1 GB
    for rows of queries without channels.
    """
    heads, c, keys = 4, 128, 8
    q = torch.randn(rows_beyond(heads * c), heads, c, device=GPU, dtype=torch.float16)
    k, v = (torch.randn(keys, heads, c, device=GPU, dtype=torch.float16) for _ in range(2))
    attend = score(q.shape[0], keys, heads)

    def gradients(rows):
        leaves = [x.requires_grad_() for x in (q[rows].detach(), k.detach(), v.detach())]
        grad_output = leaves[0].detach() / 16  # sums over all queries stay numbers of float16
        return torch.autograd.grad(attend(*leaves, rows), leaves, grad_output)

    last, *whole = gradients(slice(None))
    last = last[-64:].clone()
    require(difference([last], gradients(slice(-64, None))[:1]) < 2e-3, "the last queries alone have other gradients")
    half = q.shape[0] // 2
    parts = [gradients(rows)[1:] for rows in (slice(half), slice(half, None))]
    require(difference(whole, [a.float() + b.float() for a, b in zip(*parts)]) < 5e-3, "keys have other gradients than their parts")


def by_maxout(queries, keys, heads):
    leak = torch.zeros(keys, heads, device=GPU, dtype=torch.float16)
    return lambda q, k, v, rows: OPS.maxout_attention(q, k, v, leak)


def by_points(queries, keys, heads):
    x, xs, leak = (torch.randn(n, m, device=GPU, dtype=torch.float16) for n, m in ((queries, 3), (keys, 3), (keys, heads)))
    weights = [torch.randn(*shape, device=GPU, dtype=torch.float16) for shape in ((1, heads), (heads,)) * 2]
    return lambda q, k, v, rows: OPS.point_attention(q, k, v, leak, x[rows], xs, None, None, *weights)


def by_sequence(queries, keys, heads):
    s, ss, leak = (torch.randn(n, m, device=GPU, dtype=torch.float16) for n, m in ((queries, 4), (keys, 4), (keys, heads)))
    weights = [torch.randn(*shape, device=GPU, dtype=torch.float16) for shape in ((4, heads), (heads,)) * 2]
    return lambda q, k, v, rows: OPS.sequence_attention(q, k, v, leak, s[rows], ss, *weights)


def by_graph(queries, keys, heads):
    """Nodes without edges: of the graph only rowptr is long."""
    edge, leak, one = (torch.ones(*shape, device=GPU, dtype=torch.float16) for shape in ((0, 1), (keys, heads), (keys,)))
    weights = [torch.randn(*shape, device=GPU, dtype=torch.float16) for shape in ((1, heads), (heads,)) * 2]
    col, first = torch.arange(0, device=GPU), torch.arange(keys, device=GPU)

    def call(q, k, v, rows):
        rowptr = torch.zeros(q.shape[0] + 1, device=GPU, dtype=torch.int64)
        return OPS.graph_attention(q, k, v, leak, rowptr, col, edge, first, first, one, *weights)

    return call


def large_products(attend):
    """Few keys and many queries of attend(q, k, v)."""
    q = torch.randn(rows_beyond(8), 1, 8, device=GPU, dtype=torch.float16)
    k, v = (torch.randn(8, 1, 8, device=GPU, dtype=torch.float16) for _ in range(2))
    out = attend(q, k, v)[-64:]
    require(difference([out], [attend(q[-64:], k, v)]) < 2e-3, "the last queries alone give another result")


def large_pairs():
    """Items of 2,049 rows: the best ones of the last of them."""
    each = 2049
    items = MANY // each + 1
    score = torch.randn(items * each, device=GPU)
    top = OPS.sample_pairs(score, 1, torch.arange(items + 1) * each)[0][-64:]
    best = score.view(items, each)[-64:].argmax(1) + torch.arange(items - 64, items, device=GPU) * each
    require(torch.equal(top, best), "other rows are the best of the last items")


def large_gather():
    """The last rows; and their gradient: 9 GB, and 1 GB for offsets of the rows."""
    x = torch.zeros(rows_beyond(64), 64, device=GPU, dtype=torch.float16)
    x[-64:] = 1 + torch.arange(64, device=GPU).unsqueeze(1)
    x.requires_grad_()
    rows = torch.arange(x.shape[0] - 64, x.shape[0], device=GPU)
    out = OPS.gather_pairs(x, rows, rows, torch.ones(64, device=GPU, dtype=torch.float16))
    require(torch.equal(out, x[-64:]), "the last rows are others")
    gradient = torch.autograd.grad(out, x, torch.ones_like(out))[0]
    require(bool((gradient[-64:] == 1).all()) and not bool(gradient[:-64].any()), "other rows have gradients")


def large_pool():
    """One row of a score that leaves nothing to the others."""
    x = torch.zeros(rows_beyond(64), 64, device=GPU, dtype=torch.float16)
    x[-1] = 40
    out = OPS.softmax_pool(x, torch.ones(64, device=GPU, dtype=torch.float16) / 64)
    require(difference([out], [x[-1:]]) < 1e-3, "the last row does not count")


def large_farthest():
    points = torch.rand(rows_beyond(3), 3, device=GPU)
    points[-1] = 9
    rows = OPS.farthest_point_sampling(points, 2).tolist()
    require(rows == [0, points.shape[0] - 1], f"rows {rows} instead of the first and the last")


def large_knn():
    """Many answers: all of 33 points to each query."""
    points, queries = torch.rand(33, 3, device=GPU), torch.rand(rows_beyond(33), 3, device=GPU)
    index, dist2 = (x[-64:].clone() for x in OPS.knn(points, queries, 33))
    alone = OPS.knn(points, queries[-64:].contiguous(), 33)
    require(torch.equal(index, alone[0]) and torch.equal(dist2, alone[1]), "the last queries alone have other neighbours")


def large_walks():
    """Pairs of nodes: a walk is back after an even number of steps."""
    nodes = 1 << 16
    steps = MANY // nodes + 64
    node = torch.arange(nodes + 1, device=GPU)
    last = OPS.random_walk_pe(node, node[:-1] ^ 1, steps)[-64:]
    require(bool((last[:, 1::2] == 1).all()) and not bool(last[:, 0::2].any()), "walks of the last nodes are others")


def large_dropout():
    x, seed = torch.ones(rows_beyond(1), device=GPU, dtype=torch.float16), torch.tensor([5], device=GPU)
    out, alone = OPS._seeded_dropout(x, 0.3, seed)[-999:], OPS._seeded_dropout(x[-999:].contiguous(), 0.3, seed, x.shape[0] - 999)
    require(torch.equal(out, alone), "the last elements alone are others")


# GB that a call is expected to take at most, with what it is given.
CALLS = {
    "maxout_attention": (12, lambda: large_attention(by_maxout)),
    "point_attention": (12, lambda: large_attention(by_points)),
    "graph_attention": (12, lambda: large_attention(by_graph)),
    "sequence_attention": (12, lambda: large_attention(by_sequence)),
    "maxout_attention, gradients": (22, lambda: large_gradients(by_maxout)),
    "point_attention, gradients": (22, lambda: large_gradients(by_points)),
    "graph_attention, gradients": (22, lambda: large_gradients(by_graph)),
    "sequence_attention, gradients": (22, lambda: large_gradients(by_sequence)),
    "polynomial_attention": (40, lambda: large_products(lambda q, k, v: OPS.polynomial_attention(q, k, v, 2, 0.3))),
    "primal_attention": (40, lambda: large_products(OPS.primal_attention)),
    "primal_attention, linear": (40, lambda: large_products(lambda q, k, v: OPS.primal_attention(q, k, v, kernel="linear"))),
    "sample_pairs": (64, large_pairs),
    "gather_pairs, with gradients": (12, large_gather),
    "softmax_pool": (8, large_pool),
    "farthest_point_sampling": (20, large_farthest),
    "knn": (32, large_knn),
    "random_walk_pe": (16, large_walks),
    "dropout": (10, large_dropout),
}


# Of our launches, and of LibTorch where it counts in 32 bits.
REFUSALS = ("2^31", "32-bit", "32 bit", "int32", "INT_MAX", "2147483647")


def outcome(gigabytes, call):
    """What is said of one call."""
    free = torch.cuda.mem_get_info()[0] / 1e9
    if free < gigabytes:
        return f"left out: {gigabytes} GB may be needed, {free:.0f} GB are free"
    try:
        call()
        return "right"
    except torch.OutOfMemoryError:
        return f"left out: more than the {free:.0f} GB that are free"
    except RuntimeError as error:
        text = str(error).split("\n")[0]
        if "INTERNAL ASSERT" in text or not any(words in text for words in REFUSALS):
            raise
        return f"refused: {text[:100]}"


def check_large(small):
    if small:
        return "left to the full run: it takes the memory of the whole GPU"
    said = {}
    torch.cuda.empty_cache()
    for name, (gigabytes, call) in CALLS.items():
        said[name] = outcome(gigabytes, call)
        torch.cuda.empty_cache()
    return "; ".join(f"{name} {text}" for name, text in said.items())
