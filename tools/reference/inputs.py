# SPDX-License-Identifier: Apache-2.0
"""The inputs of each fixture: CASES maps its name to a function that returns them, by name.

Random numbers come from Python's random.Random, seeded with the fixture's name. Only its random() is used, whose
sequence Python guarantees, and only arithmetic that rounds alike everywhere. Numbers that the tests cast to float32 are
rounded to it here, so that a test in float32 has the same inputs.

The numbers that say what a case is (sizes, k, eps, degree, ...) are written here, and so are those of cases that exist
for special values: ties, equal points, large and small logits, rows without a positive score.
"""

import itertools
import math
import random
import struct

from formulas.autograd import Decimal, Tensor
from formulas.sinusoids import sinusoid

SIZES = [1, 2, 5, 17, 64]  # of the items of most packed cases
FEW = [1, 2, 5, 17]  # where there are layers
CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def offsets(sizes):
    """ptr of items of these sizes."""
    return integers([0, *itertools.accumulate(sizes)])


def integers(values):
    return Tensor((len(values),), map(int, values), whole=True)


def integer(number):
    return Tensor((), [int(number)])


def real(number):
    """A 0-dim tensor; Decimal(float) is exact."""
    return Tensor((), [Decimal(float(number))])


def reals(shape, numbers):
    return Tensor(shape, [Decimal(float(x)) for x in numbers])


def to_float32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def sampled_sizes(sizes, k):
    """How many pairs sample_pairs makes of items of these sizes."""
    return [1 if size == 1 else min(k, size // 2) for size in sizes]


class Source(random.Random):
    """Tensors of random numbers. A scale or shift is applied before rounding to float32."""

    def bell(self):
        """The sum of 12 uniform numbers, less 6: mean 0, variance 1, close to normal."""
        return math.fsum(self.random() for _ in range(12)) - 6

    def normal(self, *shape, scale=1.0, shift=0.0):
        return reals(shape, [to_float32(shift + scale * self.bell()) for _ in range(math.prod(shape))])

    def uniform_in(self, low, high, *shape):
        return reals(shape, [to_float32(low + (high - low) * self.random()) for _ in range(math.prod(shape))])

    def below(self, count):
        return int(self.random() * count)

    def whole(self, low, high, *shape):
        """Integers from low to high, as real numbers."""
        return reals(shape, [low + self.below(high - low + 1) for _ in range(math.prod(shape))])

    def gumbel_like(self, *shape):
        """Noise with a tail to the right, as that of Gumbel(0, 1)."""

        def one():
            tail = self.random() * self.random() * self.random()
            return 0.6 * self.bell() + 4 * tail

        return reals(shape, [to_float32(one()) for _ in range(math.prod(shape))])

    def directions(self, count):
        """[count, 3], unit vectors before they are rounded."""
        rows = [[self.bell() for _ in range(3)] for _ in range(count)]
        return reals(
            (count, 3), [to_float32(x / math.sqrt(math.fsum(y * y for y in row))) for row in rows for x in row]
        )

    def shuffled(self, values):
        values = list(values)
        for i in reversed(range(len(values))):
            j = self.below(i + 1)
            values[i], values[j] = values[j], values[i]
        return values

    def with_probability(self, probability):
        return self.random() < probability


# Sampling -----------------------------------------------------------------------------------------------------------


def pairs_case(name, score, k, tau=1.0, sizes=None):
    def make():
        r = Source("sample_pairs_" + name)
        values = score(r)
        inputs = {"score": values, "k": integer(k), "tau": real(tau)}
        if sizes:
            inputs["ptr"] = offsets(sizes)
        inputs["grad_out.weight"] = r.normal(sum(sampled_sizes(sizes or [len(values)], k)))
        return inputs

    CASES["sample_pairs_" + name] = make


def listed(*numbers):
    return lambda r: reals((len(numbers),), numbers)


pairs_case("one_item", lambda r: r.normal(17), 4)
pairs_case("ragged", lambda r: r.normal(89), 8, sizes=SIZES)
pairs_case("ragged_empty_item", lambda r: r.normal(12), 3, sizes=[0, 5, 0, 7, 0])
pairs_case("k_ge_n", lambda r: r.normal(7), 7)
pairs_case("single_token", lambda r: r.normal(1), 5)
pairs_case("tau", lambda r: r.normal(17), 4, tau=0.5)
pairs_case("all_equal", listed(*[0.25] * 11), 3)
pairs_case("ties", lambda r: r.whole(-1, 1, 29), 6, sizes=[9, 20])
# e^z underflows, 1 + e^z rounds to 1 or overflows; the weights are 1 to rounding.
pairs_case("extreme", listed(-1000, -300, -301.5, 40, 700, 650, -90, -120), 4)
# softplus(z) underflows in float64, the ratio of two does not.
pairs_case("underflow", listed(-1000, -999.5, -1001.25, -1000.75, -998, -1002, -998.5, -1001.5), 4)


def sampler_inputs():
    """Scores, noise and tokens that the sampler_* cases share."""
    r = Source("sampler")
    return r, {"score": r.normal(22), "x": r.normal(22, 3)}


def given_pairs_case(name):
    def make():
        r, inputs = sampler_inputs()
        inputs["noise"] = r.gumbel_like(22)
        top, partner = [], []
        for rows, pairs in ((range(5), 2), (range(5, 22), 4)):
            ranked = sorted(rows, key=lambda i: -(inputs["score"][i] + inputs["noise"][i]))
            top += ranked[:pairs]
            partner += r.shuffled(ranked[pairs:])[:pairs]
        return {
            **inputs,
            "top": integers(top),
            "partner": integers(partner),
            "ptr": offsets([5, 17]),
            "sample_ptr": offsets([2, 4]),
            "tau": real(0.75),
            "grad_out.sample": r.normal(6, 3),
        }

    CASES[name] = make


for variant in ("softplus", "hard_straight_through", "gumbel_softmax"):
    given_pairs_case("sampler_" + variant)


@case
def sampler_with_replacement():
    r, inputs = sampler_inputs()
    return {
        **inputs,
        "noise_top": r.gumbel_like(22, 4),
        "noise_partner": r.gumbel_like(22, 4),
        "ptr": offsets([5, 17]),
        "tau": real(1),
        "grad_out.sample": r.normal(8, 3),
    }


@case
def softmax_pool():
    r = Source("softmax_pool")
    return {"x": r.normal(24, 5), "u": r.normal(5), "ptr": offsets([1, 6, 17]), "grad_out": r.normal(3, 5)}


# Maxout attention and its biases ----------------------------------------------------------------------------


def attention_inputs(r, queries, keys, heads, c, cv=None):
    """queries, keys: a count, or the sizes of several items."""
    packed = isinstance(queries, list)
    nq, nk = (sum(queries), sum(keys)) if packed else (queries, keys)
    inputs = {
        "q": r.normal(nq, heads, c),
        "k": r.normal(nk, heads, c),
        "v": r.normal(nk, heads, cv or c),
        "leak": r.normal(nk, heads),
        "eps": real(1e-6),
        "grad_out": r.normal(nq, heads, cv or c),
    }
    return {**inputs, "q_ptr": offsets(queries), "k_ptr": offsets(keys)} if packed else inputs


def maxout_case(name, *sizes, **given):
    """given: further inputs, functions of the source."""

    def make():
        r = Source("maxout_" + name)
        return {**attention_inputs(r, *sizes), **{key: value(r) for key, value in given.items()}}

    CASES["maxout_" + name] = make


SAMPLED = sampled_sizes(SIZES, 8)
PAIRS = sum(a * b for a, b in zip(SIZES, SAMPLED))


def positive(*shape):
    return lambda r: r.uniform_in(0.05, 2, *shape)


def normal(*shape, **options):
    return lambda r: r.normal(*shape, **options)


maxout_case("one_item", 17, 8, 1, 3)
maxout_case("ragged", SIZES, SAMPLED, 2, 16)
maxout_case("ragged_relative", SIZES, SAMPLED, 4, 5, r_mul=positive(PAIRS, 4), r_add=normal(PAIRS, 4))
maxout_case("empty_items", [3, 0, 4, 2], [2, 3, 0, 5], 2, 5)
maxout_case("many_keys", 9, 67, 2, 5, 3, r_mul=positive(603, 2), r_add=normal(603, 2))
maxout_case("mul_only", 13, 7, 2, 16, r_mul=positive(91, 2))
maxout_case("add_only", 13, 7, 3, 17, 7, r_add=normal(91, 3))
# Small integers: q == k often, and scores of exactly 0 (c = 4: the scale is 1/2).
maxout_case("ties", 16, 6, 2, 4, q=lambda r: r.whole(-2, 1, 16, 2, 4), k=lambda r: r.whole(-2, 1, 6, 2, 4))
# No positive score: rows of zeros, in all queries, or in the first half of them.
maxout_case("all_zero", 6, 5, 2, 3, r_add=normal(30, 2, shift=-30))
maxout_case(
    "zero_rows",
    12,
    5,
    2,
    3,
    r_add=lambda r: Tensor((60, 2), r.normal(30, 2, shift=-30).elements + r.normal(30, 2).elements),
)
# Without leak and eps: probabilities that sum to 1, and denominators of exactly 0.
maxout_case(
    "no_leak_eps0",
    8,
    6,
    2,
    5,
    leak=lambda r: reals((6, 2), [-10000] * 12),
    eps=lambda r: real(0),
    r_add=normal(48, 2, shift=-1.5),
)


def relative_weights(r, channels, heads, shift=0.0):
    return {
        "w_mul": r.normal(channels, heads, scale=0.5),
        "b_mul": r.normal(heads, scale=0.5),
        "w_add": r.normal(channels, heads, scale=0.5),
        "b_add": r.normal(heads, scale=0.5, shift=shift),
    }


def point_case(name, queries, keys, heads, c, cv=None, channels=1, shift=0.0):
    """channels: of the relative encoding; 1 without normals, 2, 4 or 5 with them."""

    def make():
        r = Source("point_" + name)
        inputs = attention_inputs(r, queries, keys, heads, c, cv)
        nq, nk = len(inputs["q"]), len(inputs["k"])
        inputs.update(x=r.normal(nq, 3, scale=0.5), xs=r.normal(nk, 3, scale=0.5))
        if channels > 1:
            inputs.update(m=r.directions(nq), ms=r.normal(nk, 3, scale=0.5))
        return {**inputs, **relative_weights(r, channels, heads, shift)}

    CASES["point_" + name] = make


point_case("one_item", 17, 8, 1, 3)
point_case("ragged", SIZES, SAMPLED, 2, 16)
point_case("ragged_normals", SIZES, SAMPLED, 4, 5, channels=2)
point_case("normals_c17", 19, 11, 3, 17, 6, channels=2)
point_case("zero_rows", 12, 5, 2, 3, channels=2, shift=-2.5)
point_case("angles_one_item", 17, 8, 1, 3, channels=4)
point_case("angles_ragged", SIZES, SAMPLED, 4, 5, channels=4)
point_case("angles_c17", 19, 11, 3, 17, 6, channels=4)
point_case("chirality_one_item", 17, 8, 1, 3, channels=5)
point_case("chirality_ragged", SIZES, SAMPLED, 2, 16, channels=5)


def float32_sinusoid(n, d):
    return Tensor((n, d), [Decimal(to_float32(float(x))) for row in sinusoid(n, d) for x in row])


def sequence_case(name, queries, keys, heads, c, cv, width, pairs, seed=""):
    """s: sinusoids of the positions in each item; ss: mixtures of rows of the key's item, as sampling makes them."""

    def make():
        r = Source("sequence_" + name + seed)
        inputs = attention_inputs(r, queries, keys, heads, c, cv)
        s, ss = [], []
        for size, count in pairs:
            table = float32_sinusoid(size, width)
            s += table.elements
            for _ in range(count):
                a, b, p = table[r.below(size)], table[r.below(size)], r.random()
                ss += [Decimal(to_float32(p * float(x) + (1 - p) * float(y))) for x, y in zip(a, b)]
        inputs.update(s=Tensor((len(inputs["q"]), width), s), ss=Tensor((len(inputs["k"]), width), ss))
        return {**inputs, **relative_weights(r, width, heads)}

    CASES["sequence_" + name] = make


# With this seed no gradient is a small difference of large terms, which float32 could not resolve.
sequence_case("one_item", 17, 8, 1, 16, 16, 16, [(17, 8)], seed=" 3")
sequence_case("ragged", SIZES, SAMPLED, 4, 3, 3, 12, list(zip(SIZES, SAMPLED)))
sequence_case("c17", 21, 9, 2, 17, 4, 5, [(21, 9)])


CASES["sinusoid"] = lambda: {"n": integer(64), "d": integer(10)}


# Graphs -------------------------------------------------------------------------------------------------------------


def random_edges(r, sizes, per_node, directed=False, duplicates=0):
    """Edges (i, j) inside the items, about per_node of them from each node, self-loops among them. The last node of an
    item of more than 8 has none. duplicates: how many of the edges are stored twice."""
    edges, first = [], 0
    for size in sizes:
        connected = range(first, first + size - (size > 8))
        pairs = {
            (i, j)
            for i in connected
            for j in connected
            if r.with_probability(min(0.5, per_node / size / (1 if directed else 2)))
        }
        edges += sorted(pairs if directed else pairs | {(j, i) for i, j in pairs})
        first += size
    return edges + r.shuffled(edges)[:duplicates]


def csr(r, nodes, edges):
    """rowptr and col; columns of a row in random order."""
    rows = [r.shuffled(j for i, j in edges if i == node) for node in range(nodes)]
    return {"rowptr": offsets([len(row) for row in rows]), "col": integers([j for row in rows for j in row])}


def edge_features(r, count, channels):
    """[count, channels], random but for the last channel, which is 1."""
    rows = [[to_float32(r.bell()) for _ in range(channels - 1)] + [1.0] for _ in range(count)]
    return reals((count, channels), [x for row in rows for x in row])


def graph_case(name, sizes, sampled, heads, c, cv, channels, per_node, pairs=None, packed=True, **options):
    """sampled: pairs of each item. pairs: (top, partner), otherwise distinct nodes of the item at random."""

    def make():
        r = Source("graph_" + name)
        inputs = attention_inputs(r, *((sizes, sampled) if packed else (sizes[0], sampled[0])), heads, c, cv)
        edges = random_edges(r, sizes, per_node, **options) if per_node else []
        inputs.update(csr(r, sum(sizes), edges))
        inputs["edge_attr"] = edge_features(r, len(edges), channels)
        top, partner, first = [], [], 0
        for size, count in zip(sizes, sampled):
            nodes = r.shuffled(range(first, first + size))
            top += nodes[:count]
            partner += nodes[count : 2 * count] if size > 1 else nodes
            first += size
        top, partner = pairs or (top, partner)
        inputs.update(top=integers(top), partner=integers(partner), weight=r.uniform_in(0, 1, sum(sampled)))
        return {**inputs, **relative_weights(r, channels, heads)}

    CASES["graph_" + name] = make


graph_case("one_item", [17], [5], 1, 3, 3, 1, 4, packed=False)
graph_case("ragged", SIZES, SAMPLED, 4, 5, 5, 3, 4)
graph_case("ragged_directed_c16", SIZES, SAMPLED, 2, 16, 16, 2, 2, directed=True)
graph_case("duplicate_edges", [9, 14], [4, 4], 3, 17, 5, 2, 3, duplicates=20)
graph_case("no_edges", [6, 3], [3, 1], 2, 3, 3, 2, 0)
# A node in several pairs, and a pair of one node.
graph_case(
    "repeated_samples", [13], [6], 2, 5, 5, 2, 3, packed=False, pairs=([2, 2, 12, 0, 5, 10], [0, 7, 12, 1, 6, 3])
)


def walk_case(name, steps, nodes, edges, weights=None):
    """edges: a function of the source. weights: None for ones, "edge": one per edge, "pair": one per pair of nodes."""

    def make():
        r = Source("random_walk_pe_" + name)
        inputs = csr(r, nodes, edges(r))
        rowptr, col = inputs["rowptr"], inputs["col"]
        weight_of, ordered = {}, []
        for i in range(nodes):
            for e in range(rowptr[i], rowptr[i + 1]):
                key = tuple(sorted((i, col[e]))) if weights == "pair" else (i, col[e])
                if key not in weight_of:
                    weight_of[key] = to_float32(0.5 + 2.5 * r.random()) if weights else 1.0
                ordered.append(weight_of[key])
        return {**inputs, "steps": integer(steps), "weight": reals((len(ordered),), ordered)}

    CASES["random_walk_pe_" + name] = make


def both_ways(*edges):
    return sorted({*edges, *((j, i) for i, j in edges)})


PACKED_GRAPHS = [1, 5, 16, 30, 1]  # two of them single nodes without edges
walk_case("triangle_path", 6, 7, lambda r: both_ways((0, 1), (1, 2), (2, 0), (3, 4), (4, 5)))  # and node 6 alone
walk_case("cycle_loops", 9, 9, lambda r: both_ways(*((i, (i + 1) % 9) for i in range(9)), (1, 1), (4, 4)))
walk_case("directed", 12, 24, lambda r: random_edges(r, [24], 2, directed=True))
walk_case("directed_weighted", 7, 24, lambda r: random_edges(r, [24], 2, directed=True), "edge")
walk_case("packed", 20, 53, lambda r: random_edges(r, PACKED_GRAPHS, 3.5))
walk_case("weighted", 16, 53, lambda r: random_edges(r, PACKED_GRAPHS, 3.5), "pair")


# Points -------------------------------------------------------------------------------------------------------------

GRID = [(x, y, z) for x in range(4) for y in range(4) for z in range(4)]


def rows_of_3(rows):
    rows = list(rows)
    return reals((len(rows), 3), [x for row in rows for x in row])


def farthest_case(name, points, m, start, sizes=None):
    def make():
        inputs = {"points": points(Source("farthest_point_sampling_" + name)), "m": integer(m), "start": integer(start)}
        return {**inputs, "ptr": offsets(sizes)} if sizes else inputs

    CASES["farthest_point_sampling_" + name] = make


farthest_case("random", normal(200, 3), 40, 0)
farthest_case("ragged", normal(89, 3), 8, 0, SIZES)
farthest_case("m_ge_n", normal(6, 3), 9, 2)
farthest_case("grid", lambda r: rows_of_3(GRID), 20, 5)  # many equal distances
farthest_case("duplicates", lambda r: r.whole(0, 1, 20, 3), 14, 3)  # corners of a cube: more points than places


def knn_case(name, points, queries, k, sizes=None, query_sizes=None):
    """queries: a function of the source, or None for the points themselves."""

    def make():
        r = Source("knn_" + name)
        inputs = {"points": points(r), "k": integer(k)}
        inputs["queries"] = queries(r) if queries else inputs["points"]
        if sizes:
            inputs.update(ptr=offsets(sizes), query_ptr=offsets(query_sizes or sizes))
        return {**inputs, "grad_out.dist2": r.normal(len(inputs["queries"]), k)}

    CASES["knn_" + name] = make


knn_case("one_item", normal(64, 3), normal(17, 3), 5)
knn_case("self_ragged", normal(89, 3), None, 4, SIZES)
knn_case("empty_items", normal(7, 3), normal(6, 3), 3, [0, 5, 2], [2, 4, 0])
knn_case("grid_ties", lambda r: rows_of_3(GRID), lambda r: rows_of_3(GRID[::3]), 10)
knn_case("duplicates", lambda r: r.whole(0, 1, 20, 3), lambda r: r.whole(0, 1, 6, 3), 12)


# Primal-dual and polynomial attention -------------------------------------------------------------------------------


def operator_inputs(r, queries, keys, heads, c, cv, q=normal, k=normal):
    """keys: None for as many as queries, item by item."""
    packed = isinstance(queries, list)
    keys = keys or queries
    nq, nk = (sum(queries), sum(keys)) if packed else (queries, keys)
    inputs = {
        "q": q(nq, heads, c)(r),
        "k": k(nk, heads, c)(r),
        "v": r.normal(nk, heads, cv),
        "grad_out": r.normal(nq, heads, cv),
    }
    return {**inputs, "q_ptr": offsets(queries), "k_ptr": offsets(keys)} if packed else inputs


def operator_case(name, queries, keys, heads, c, cv, q=normal, k=normal, seed="", **given):
    def make():
        r = Source(name + seed)
        return {
            **operator_inputs(r, queries, keys, heads, c, cv, q, k),
            **{key: value(r) if callable(value) else value for key, value in given.items()},
        }

    CASES[name] = make


def scaled_normal(scale=1.0, shift=0.0):
    return lambda *shape: normal(*shape, scale=scale, shift=shift)


def float32_list(*numbers):
    return reals((len(numbers),), map(to_float32, numbers))


CROSS = [2, 3, 0, 4, 33], [3, 0, 5, 6, 1]  # queries and keys of items: some without keys, one without queries
LINEAR = {"kernel": integer(1), "eps": real(1e-6)}
operator_case("primal_plain_one", 7, None, 1, 4, 4)
operator_case("primal_plain_ragged", SIZES, None, 2, 3, 5)
operator_case("primal_cross_ragged", *CROSS, 3, 5, 2)
# Logits up to 2000. With this seed the two largest logits of one row are near enough for gradients of 1e-4.
operator_case("primal_large_logits", 6, 9, 1, 3, 3, q=scaled_normal(60), k=scaled_normal(20), seed=" 48")
operator_case("primal_bn_scalar_ragged", SIZES, None, 2, 3, 3, beta=real(0.6))
operator_case("primal_bn_heads_one", 11, 23, 3, 5, 4, beta=normal(3))
operator_case("primal_sh_ragged", SIZES, None, 4, 3, 3, pool=integers([1, 1, 2, 4]))
operator_case(
    "primal_bnsh_ragged", SIZES, None, 4, 3, 2, beta=float32_list(0.2, 0.5, 0.9, 1.3), pool=integers([1, 2, 4, 8])
)
operator_case("primal_linear_one", 9, None, 2, 4, 3, **LINEAR)
operator_case(
    "primal_linear_bnsh_ragged",
    SIZES,
    None,
    2,
    3,
    3,
    beta=float32_list(0.4, 1.1),
    pool=integers([3, 1]),
    kernel=integer(1),
    eps=real(1e-3),
)
# Features near e^-7: the sum of weights is of the order of eps.
operator_case("primal_linear_small_sum", 5, 6, 1, 3, 2, q=scaled_normal(1, -7), k=scaled_normal(1, -7), **LINEAR)


def sparse_case(name, sizes, heads, factors, per_head, cv, **given):
    """Each query sees about 0.4 of its item's pooled keys; every fifth sees none, every seventh all."""

    def make():
        r = Source(name)
        inputs = {**operator_inputs(r, sizes, None, heads, 3, cv), **given}
        rows, query = [], 0
        for s in range(heads if per_head else 1):
            first = 0
            for size in sizes if isinstance(sizes, list) else [sizes]:
                count = -(-size // factors[s])
                for _ in range(size):
                    query += 1
                    probability = 0 if query % 5 == 3 else 1 if query % 7 == 5 else 0.4
                    rows.append([first + j for j in range(count) if r.with_probability(probability)])
                first += count
        return {
            **inputs,
            "mask_rowptr": offsets(map(len, rows)),
            "mask_col": integers([j for row in rows for j in row]),
        }

    CASES[name] = make


sparse_case("primal_sparse_one", 13, 2, [1, 1], False, 3)
sparse_case("primal_sparse_bnsh_ragged", SIZES, 3, [1, 2, 4], True, 2, beta=real(0.8), pool=integers([1, 2, 4]))

operator_case("primal_layer_bn_full", FEW, None, 2, 3, 3, eps=real(1e-5))
operator_case("primal_layer_conv1d_s5", FEW, None, 2, 3, 3, weight=normal(2, 5))
operator_case("primal_layer_conv1d_s5_shared", FEW, None, 2, 3, 3, weight=normal(1, 5))
operator_case("primal_layer_conv1d_s4", FEW, None, 2, 3, 3, weight=normal(2, 4))
operator_case("primal_layer_conv2d_s2", 20, None, 2, 3, 3, weight=normal(2, 2, 2), nh=integer(4), nw=integer(5))
operator_case(
    "primal_layer_conv2d_s3", 15, None, 2, 3, 3, weight=normal(2, 3, 3, scale=0.6), nh=integer(5), nw=integer(3)
)


def scaled_head_case(name, mode=0, kernel=0, **given):
    def make():
        r = Source("primal_layer_scaled_head_" + name)
        return {
            "x": r.normal(25, 6),
            "w_q": r.normal(6, 12, scale=0.5),
            "w_k": r.normal(6, 12, scale=0.5),
            "w_v": r.normal(6, 8, scale=0.5),
            "w_o": r.normal(8, 5, scale=0.4),
            "b_k": r.normal(12),
            "b_v": r.normal(8),
            **given,
            "h": integer(4),
            "pool": integers([1, 1, 2, 4]),
            "mode": integer(mode),
            "kernel": integer(kernel),
            "eps": real(1e-6),
            "ptr": offsets(FEW),
            "grad_out": r.normal(25, 5),
        }

    CASES["primal_layer_scaled_head_" + name] = make


scaled_head_case("mean")
scaled_head_case("mean_bn", beta=real(0.7))
scaled_head_case("mean_linear", kernel=1)
scaled_head_case("max", mode=1)


@case
def primal_svr():
    """Targets: smooth functions of the keys, and noise."""
    r = Source("primal_svr")
    keys, x = r.normal(40, 6), r.normal(15, 6)
    targets = []
    for row in keys:
        a, b, c, *_ = map(float, row)
        targets += [0.4 * a * b - 0.2 * c + 0.1 * r.bell(), 0.1 * a * a + 0.3 * b + 0.1 * r.bell()]
    return {
        "keys": keys,
        "targets": reals((40, 2), map(to_float32, targets)),
        "x": x,
        "C": real(3e4),
        "epsilon": real(0.0625),
    }


def polynomial_case(name, queries, keys, heads, c, cv, degree, scale, **flags):
    operator_case(
        "polynomial_" + name,
        queries,
        keys,
        heads,
        c,
        cv,
        degree=integer(degree),
        scale=real(scale),
        **{flag: integer(value) for flag, value in flags.items()},
    )


polynomial_case("one", 9, None, 1, 4, 4, 2, 0.3)
polynomial_case("ragged_g3", SIZES, None, 2, 2, 3, 3, 0.25)
polynomial_case("ragged_g4", SIZES, None, 2, 3, 5, 4, 0.25)
polynomial_case("ragged_g6", SIZES, None, 1, 3, 3, 6, 0.25)
polynomial_case("cross_ragged", *CROSS, 3, 5, 2, 2, 0.2)
polynomial_case("causal_one", 21, None, 1, 3, 4, 4, 1 / 3, causal=1)
polynomial_case("causal_ragged", SIZES, None, 2, 3, 3, 2, 0.25, causal=1)
polynomial_case("centered_ragged", SIZES, None, 1, 3, 3, 4, 0.25, center=1)
polynomial_case("negative_scale", 12, None, 2, 3, 3, 4, -0.3)
polynomial_case("g0", 6, 8, 1, 3, 2, 0, 1.0)
polynomial_case("g1", 10, None, 1, 5, 3, 1, 0.05)


@case
def polynomial_closed_forms():
    r = Source("polynomial_closed_forms")
    return {
        "x": r.normal(14, 4),
        "w": r.normal(4, 4, scale=0.5),
        "w_v": r.normal(4, 4, scale=0.5),
        "scale": real(0.25),
        "degree": integer(4),
        "grad_out": r.normal(14, 4),
    }


def polynomial_layers_case(name, layers, cross_entropy=False, causal=0, center=0):
    def make():
        r = Source("polynomial_layers_" + name)
        inputs = {"x": r.normal(23, 6)}
        inputs["target"] = integers([r.below(6) for _ in range(23)]) if cross_entropy else r.normal(23, 6)
        inputs.update(
            heads=integer(2),
            degree=integer(6),
            scale=real(1 / 3),
            causal=integer(causal),
            center=integer(center),
            ptr=offsets([1, 5, 17]),
        )
        for i in range(layers):
            inputs.update({f"{name}_{i}": r.normal(6, 6, scale=0.25) for name in ("w_q", "w_k", "w_v", "w_o")})
        return inputs

    CASES["polynomial_layers_" + name] = make


polynomial_layers_case("2_l2", 2)
polynomial_layers_case("2_l2_centered", 2, center=1)
polynomial_layers_case("3_ce_causal", 3, cross_entropy=True, causal=1)


# Layers and models --------------------------------------------------------------------------------------------------


def layer_parameters(r, d, heads, channels):
    near = 1 / math.sqrt(d)

    def weights(*shape):
        return r.normal(*shape, scale=near)

    parameters = {"W_S": weights(d, 1), "b_S": r.normal(1, scale=0.2)}
    for name in "QKV":
        parameters.update({"W_" + name: weights(d, d), "b_" + name: r.normal(d, scale=0.25)})
    parameters.update(W_C=weights(d, heads), b_C=r.normal(heads, scale=0.25))
    if channels:
        parameters.update(relative_weights(r, channels, heads))
    parameters.update(W_O=weights(d, d), b_O=r.normal(d, scale=0.25))
    for name in ("norm1", "norm2"):
        parameters.update({name + ".weight": r.normal(d, scale=0.2, shift=1), name + ".bias": r.normal(d, scale=0.2)})
    parameters.update(
        {
            "ff.0.weight": weights(4 * d, d),
            "ff.0.bias": r.normal(4 * d, scale=0.25),
            "ff.2.weight": r.normal(d, 4 * d, scale=near / 2),
            "ff.2.bias": r.normal(d, scale=0.25),
        }
    )
    return parameters


def layer_case(name, payload, d, heads, k, pre_norm, sizes):
    """sizes: several items with a ptr, or one without."""

    def make():
        r = Source("layer_" + name)
        n = sum(sizes)
        inputs, channels = {"x": r.normal(n, d)}, 0
        if "coordinates" in payload:
            inputs["coordinates"], channels = r.normal(n, 3, scale=0.5), 1
        if "normals" in payload:
            inputs["normals"], channels = r.directions(n), 2
        if "sequence" in payload:
            inputs["s"], channels = Tensor((n, d), [x for size in sizes for x in float32_sinusoid(size, d).elements]), d
        if "graph" in payload:
            edges = random_edges(r, sizes, 4)
            inputs.update(csr(r, n, edges), edge_attr=edge_features(r, len(edges), 2))
            channels = 2
        inputs.update(
            layer_parameters(r, d, heads, channels), heads=integer(heads), k=integer(k), pre_norm=integer(pre_norm)
        )
        if len(sizes) > 1:
            inputs["ptr"] = offsets(sizes)
        return {**inputs, "grad_out": r.normal(n, d)}

    CASES["layer_" + name] = make


layer_case("post_plain", (), 12, 4, 5, 0, [17])
layer_case("post_point_ragged", ("coordinates", "normals"), 12, 4, 4, 0, FEW)
layer_case("post_sequence", ("sequence",), 12, 4, 5, 0, [17])
layer_case("post_graph_ragged", ("graph",), 10, 2, 4, 0, [2, 5, 17])
layer_case("pre_plain_ragged", (), 10, 2, 4, 1, FEW)
layer_case("pre_point", ("coordinates",), 15, 3, 5, 1, [17])
layer_case("pre_sequence_ragged", ("sequence",), 10, 2, 4, 1, [1, 5, 17])
layer_case("pre_graph", ("graph",), 12, 4, 5, 1, [17])


def eighths(r, *shape):
    """Multiples of 1/8 from -1 to 1: sums of products of few of them are exact, also in float32."""
    return reals(shape, [(r.below(17) - 8) / 8 for _ in range(math.prod(shape))])


def classifier_case(name, d, k, head_k, classes, sizes, normals, seed):
    """All tokens are equal before the first layer, and their scores must tie: embed and the first W_S are multiples of
    1/8. Scores of later layers differ little; with this seed they differ by MIN_MARGINS of fixtures.py."""

    def make():
        r = Source(f"model_point_{name} {seed}")
        n = sum(sizes)
        inputs = {"coordinates": r.normal(n, 3, scale=0.5)}
        if normals:
            inputs["normals"] = r.directions(n)
        inputs.update({"embed.weight": eighths(r, d, 1), "embed.bias": eighths(r, d)})
        for i in range(2):
            parameters = layer_parameters(r, d, 2, 2 if normals else 1)
            if i == 0:
                parameters.update(W_S=eighths(r, d, 1), b_S=eighths(r, 1))
            inputs.update({f"layers.{i}.{key}": tensor for key, tensor in parameters.items()})
        inputs.update(
            {
                "head.W_S": r.normal(d, 1, scale=0.4),
                "head.b_S": r.normal(1, scale=0.2),
                "head.weight": r.normal(classes, d, scale=0.35),
                "head.bias": r.normal(classes, scale=0.25),
            }
        )
        return {
            **inputs,
            "heads": integer(2),
            "k": integer(k),
            "head_k": integer(head_k),
            "layers": integer(2),
            "ptr": offsets(sizes),
            "grad_out": r.normal(len(sizes), classes),
        }

    CASES["model_point_" + name] = make


classifier_case("rotation_invariant", 8, 4, 5, 3, [9, 17], True, 13)
classifier_case("rotation_invariant_no_normals", 6, 3, 4, 4, [12, 15], False, 26)
