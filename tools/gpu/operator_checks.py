# SPDX-License-Identifier: Apache-2.0
"""Checks of the operators other than attention on a GPU."""

import itertools

import torch

from cases import GPU, OPS, offsets
from checking import (NO_CAPTURE, difference, require, require_halves, require_repeatable, require_replay, require_same, runs,
                      seeded)
from operators import MAKERS

LIMITS = {torch.float64: 1e-10, torch.float32: 1e-4}


def check_operators(small):
    """Batches of no rows, of one, of some items without any, and of unequal ones, in the type of the CPU's."""
    long = [1024, 777, 1, 0, 1300]
    for sizes in ([0], [0, 0], [1], [0, 3, 0], [7, 5], long if small else [*long, 40000]):
        for make in MAKERS:
            case = make(sizes)
            for dtype, limit in LIMITS.items():
                actual, expected = case.results(GPU, dtype), case.results("cpu", dtype)
                what = f"{case.name}, items of {sizes}, {dtype}"
                require([x.shape for x in actual] == [x.shape for x in expected], f"{what}: another shape")
                require([x.dtype for x in actual] == [x.dtype for x in expected], f"{what}: another type")
                if case.rounded:  # in check_pairs
                    continue
                rows = [(a.cpu(), e) for a, e in zip(actual, expected) if not e.is_floating_point()]
                require(all(torch.equal(a, e) for a, e in rows), f"{what}: other rows")
                error = difference(actual, expected)
                require(error <= limit, f"{what}: {error:.1e} apart")
    return "as on the CPU in float32 and float64, empty batches too"


def check_operator_gradients(small):
    checked = []
    for make in MAKERS:
        case = make([7, 5])
        if not case.leaves:
            continue
        floating, pointers, others = case.arguments(GPU, torch.float64)
        kept = floating[case.leaves:]
        torch.autograd.gradcheck(
            lambda *leaves: tuple(x for x in case.call([*leaves, *kept], pointers, others) if x.requires_grad), floating[:case.leaves])
        checked.append(case.name)
    return "gradcheck in float64: " + ", ".join(checked)


def check_operator_determinism(small):
    sizes = [1024, 777, 1, 1300] if small else [1024, 777, 1, 1300, 40000]
    for make in MAKERS:
        case = make(sizes)
        for dtype in LIMITS:
            require_repeatable(lambda: case.results(GPU, dtype), small, f"{case.name} {dtype}")
    return f"the same bits in {runs(small)} runs, in float32 and float64"


def check_operator_graphs(small):
    """Forward and backward captured in a CUDA graph, replayed on other numbers. Operators that wait for the bounds of a
    ptr on the GPU are captured with one in page-locked memory alone."""
    if small:
        return NO_CAPTURE
    for make in MAKERS:
        case, other = make([650, 70]), make([650, 70], seed=99)
        floating, there, others = case.arguments(GPU, torch.float32)
        for pointers in ([] if case.waits else [there]) + ([[ptr.pin_memory() for ptr in case.pointers]] if there else []):
            place = pointers[0].device if pointers else "none"
            require_replay(lambda: case.outcome(floating, pointers, others), floating, other.floating, f"{case.name}, offsets on {place}")
    return "captured and replayed, with offsets in page-locked memory, and on the GPU but for samples and farthest points"


def pair_results(device, score, ptr, seeds, k, random):
    """The rows; the weights and their gradient."""
    leaf = score.to(device).requires_grad_()
    top, partner, weight, sample_ptr = OPS.sample_pairs(leaf, k, ptr.to(device), False, random, 1.0, None, seeds.to(device))
    grad_output = torch.randn(weight.shape, generator=seeded(6)).to(device)
    return [top, partner, sample_ptr], [weight, *torch.autograd.grad(weight, leaf, grad_output)]


def noisy_rows(device, score, ptr, seeds):
    return torch.stack(OPS.sample_pairs(score.to(device), 40, ptr.to(device), True, True, 1.0, None, seeds.to(device))[:2])


def replaced_rows(device, score, ptr, seeds):
    samples = 40 * int(ptr.diff().clamp_max(1).sum())
    pairs = OPS._select_pairs_with_replacement(score.to(device), 40, ptr.to(device), seeds.to(device), samples)
    return torch.stack(pairs[:2])


def check_pairs(small):
    """Samples without noise and with a partner at random are the CPU's; noise is to the rounding of two logarithms. Rows
    of the first batch are compared, of the others selected or, where half of them are sampled, sorted."""
    seeds = torch.arange(6) + 11
    few, several, many = [0, 5, 5, 6, 606, 608, 611], [0, 5, 5, 6, 606, 5000, 30000], [0, 5, 5, 6, 100000, 150000, 200000]
    for ptr in (few, several) if small else (few, several, many):
        ptr = torch.tensor(ptr)
        whole = torch.randn(int(ptr[-1]), generator=seeded(5)).mul(50).round().div(50)
        for dtype, limit in ((torch.float32, 1e-5), (torch.float64, 1e-12)):
            score = whole.to(dtype)
            for k in (1, 40, 256, 1 << 62):
                for random in (False, True):
                    (rows, weights), (cpu_rows, cpu_weights) = (pair_results(d, score, ptr, seeds, k, random) for d in (GPU, "cpu"))
                    what = f"{len(score)} rows, {dtype}, k={k} random={random}"
                    require(all(torch.equal(a.cpu(), b) for a, b in zip(rows, cpu_rows)), f"{what}: other rows")
                    require(difference(weights, cpu_weights) < limit, f"{what}: other weights")
            for what, sampled_rows in (("with noise", noisy_rows), ("with replacement", replaced_rows)):
                here, there = (sampled_rows(d, score, ptr, seeds).cpu() for d in (GPU, "cpu"))
                same = float((here == there).double().mean())
                require(same > 0.99, f"{what}, {dtype}, only {same:.0%} of the rows are those of the CPU")
    return "the rows and weights of the CPU in float32 and float64"


def check_gather(small):
    """Also of a weight in another type than x; the wider one is that of the result."""
    rows = 500 if small else 40000
    x, weight = torch.randn(rows, 3, 17, generator=seeded(12)), torch.rand(rows // 2, generator=seeded(13))
    top, partner = (torch.randint(rows, (rows // 2,), generator=seeded(s)) for s in (14, 15))

    def results(device, dtype, weights=None):
        leaves = [x.detach().to(device, dtype, copy=True).requires_grad_(),
                  weight.detach().to(device, weights or dtype, copy=True).requires_grad_()]
        out = OPS.gather_pairs(leaves[0], top.to(device), partner.to(device), leaves[1])
        return [out, *torch.autograd.grad((out * out).sum(), leaves)]

    for dtype, weights in itertools.permutations((torch.float64, torch.float32, torch.float16, torch.bfloat16), 2):
        here, there = (results(d, dtype, weights) for d in (GPU, "cpu"))
        require([t.dtype for t in here] == [t.dtype for t in there], f"{dtype} and {weights}: another type")
        error = difference(here, there)
        require(error < 2e-2, f"{dtype} and {weights}: {error:.1e} apart")  # the CPU rounds between its operators
    for dtype, limit in ((torch.float32, 1e-5), (torch.float64, 1e-12)):
        error = difference(results(GPU, dtype), results("cpu", dtype))
        require(error < limit, f"{dtype}: {error:.1e} apart")
    require_same(results(GPU, torch.float32), results(GPU, torch.float32), "gather_pairs")
    both = results(GPU, torch.float32)
    for alone in (0, 1):
        leaves = [t.detach().to(GPU, copy=True).requires_grad_(i == alone) for i, t in enumerate((x, weight))]
        out = OPS.gather_pairs(leaves[0], top.to(GPU), partner.to(GPU), leaves[1])
        require_same(torch.autograd.grad((out * out).sum(), leaves[alone]), [both[1 + alone]], f"gather_pairs, gradient {alone} alone")
    require_halves(lambda a, b: OPS.gather_pairs(a, top.to(GPU), partner.to(GPU), b), (x, weight), "gather_pairs")
    return "as on the CPU in all types, the same bits again, half types as float32"


def check_pool(small):
    generator = seeded(4)
    ptr = torch.tensor([0, 5, 5, 1300, 1812, 1813] if small else [0, 5, 5, 1300, 1812, 500000])
    x = torch.randn(int(ptr[-1]), 67, generator=generator, dtype=torch.float64)
    u = torch.randn(67, generator=generator, dtype=torch.float64)

    def results(device, dtype):
        leaves = [t.to(device, dtype).requires_grad_() for t in (x, u)]
        out = OPS.softmax_pool(*leaves, ptr.to(device))
        return [out, *torch.autograd.grad((out * out).sum(), leaves)]

    for dtype, limit in ((torch.float64, 1e-10), (torch.float32, 1e-4)):
        error = difference(results(GPU, dtype), results("cpu", torch.float64))
        require(error <= limit, f"{dtype}: {error:.1e} apart, at most {limit:.0e} allowed")
    require_same(results(GPU, torch.float32), results(GPU, torch.float32), "softmax_pool")
    require_halves(lambda a, b: OPS.softmax_pool(a, b, ptr.to(GPU)), (x, u), "softmax_pool")
    return "as on the CPU, the same bits again, half types as float32"


def check_dropout(small):
    x = torch.randn(12345, generator=seeded(16))
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        here, there = (OPS._seeded_dropout(x.to(d, dtype), 0.3, torch.tensor([-7], device=d)).cpu() for d in ("cpu", GPU))
        require(torch.equal(here, there), f"{dtype}: other elements or values than on the CPU")
    return "the elements of the CPU, bit by bit"


def check_farthest(small):
    generator = seeded(3)
    for dtype in (torch.float32, torch.float64):
        for sizes, m in (([700], 40), ([5], 9), ([600, 0, 3, 597], 20), ([10241], 16), ([3000] * (2 if small else 40), 128)):
            points = torch.randn(sum(sizes), 3, generator=generator, dtype=torch.float64).to(dtype)
            ptr = offsets(sizes)
            expected = OPS.farthest_point_sampling(points, m, ptr)
            actual = OPS.farthest_point_sampling(points.to(GPU), m, ptr.to(GPU)).cpu()
            require(torch.equal(actual, expected), f"{dtype}, items of {sizes}, m={m}: other rows than on the CPU")
            if sum(sizes) < 5000:
                order = OPS._farthest_point_order(points.to(GPU), ptr)  # ptr on the CPU: nothing is waited for
                require(torch.equal(order.cpu(), OPS._farthest_point_order(points, ptr)),
                        f"{dtype}, items of {sizes}: another canonical order than on the CPU")
    return "the rows of the CPU, index by index"


def check_augmentation(small):
    """The rows are the CPU's; sums run in another order, and exponentials, logarithms and sines round differently."""
    sizes = [30, 0, 1, 700, 257] if small else [30, 0, 1, 700, 257, 100000] + [10000] * 40
    ptr, generator = offsets(sizes), seeded(19)
    points = torch.randn(sum(sizes), 3, generator=generator, dtype=torch.float64) + 4
    normals = torch.nn.functional.normalize(torch.randn(sum(sizes), 3, generator=generator, dtype=torch.float64))
    seeds = torch.arange(len(sizes)) * 17 - 20
    for dtype, limit in ((torch.float32, 1e-6), (torch.float64, 1e-12)):
        for maximum, rotation, numbers in ((256, 2, [0.3, 0.6, 1.4, 0.02, 0.05, 0.3]), (1 << 40, 1, [0.0, 1.0, 1.0, 0.0, 0.0, 0.0])):
            def results(device):
                return OPS._augment_clouds(points.to(device, dtype), normals.to(device, dtype), ptr, seeds, maximum, rotation, numbers)
            expected, actual = (results(device) for device in ("cpu", GPU))
            what = f"{dtype}, at most {maximum} points"
            require_repeatable(lambda: results(GPU), small, what)
            require(all(torch.equal(a.cpu(), e) for a, e in zip(actual[2:], expected[2:])), f"{what}: other rows than on the CPU")
            error = difference(actual[:2], expected[:2])
            require(error <= limit, f"{what}: {error:.1e} apart, at most {limit:.0e} allowed")
    return f"the rows of the CPU, coordinates to rounding, and the same bits in {runs(small)} runs"


def knn_gradients(rows, k, pointers):
    """Of the sum of the squared distances to what was found."""
    leaves = [x.detach().requires_grad_() for x in rows]
    dist2 = OPS.knn(*leaves, k, *(p.to(leaves[0].device) for p in pointers))[1]
    return torch.autograd.grad(torch.where(dist2.isfinite(), dist2, 0).sum(), leaves)


def check_knn(small):
    generator = seeded(8)
    for dtype, limit in ((torch.float32, 1e-5), (torch.float64, 1e-12)):
        for sizes, askers, k in (([700], [33], 16), ([600, 0, 3, 597], [5, 4, 0, 200], 7), ([5], [9], 40),
                                 ([300], [300], 33), ([5000] if small else [30000, 20000], [300] if small else [30000, 9], 16)):
            points, queries = (torch.randn(sum(n), 3, generator=generator).mul(64).round().div(64).to(dtype) for n in (sizes, askers))
            pointers = [offsets(sizes), offsets(askers)]
            index, dist2 = OPS.knn(points, queries, k, *pointers)
            leaves = [x.to(GPU) for x in (points, queries)]
            found, there = OPS.knn(*leaves, k, *(p.to(GPU) for p in pointers))
            what = f"{dtype}, points {sizes}, queries {askers}, k={k}"
            require(torch.equal(found.cpu(), index), f"{what}: other rows than on the CPU")
            require(torch.equal(there.cpu(), dist2), f"{what}: other distances than on the CPU")
            error = difference(knn_gradients(leaves, k, pointers), knn_gradients([points, queries], k, pointers))
            require(error < limit, f"{what}: gradients {error:.1e} apart")
    return "the rows and distances of the CPU, bit by bit, and its gradients"


def graphs_of(sizes, degree, generator):
    """rowptr and col of so many edges a node, none of which leads out of its graph."""
    each = torch.tensor(sizes).repeat_interleave(torch.tensor(sizes))
    first = offsets(sizes)[:-1].repeat_interleave(torch.tensor(sizes))
    source = torch.randint(len(each), (degree * len(each),), generator=generator).sort().values
    col = first[source] + (torch.rand(len(source), generator=generator, dtype=torch.float64) * each[source]).long()
    return torch.searchsorted(source, torch.arange(len(each) + 1)), col


def check_walks(small):
    """One graph, many, and both together. Stretches of more than 8,192 nodes in float64, or 11,585 in float32, fit into no
    slice of the memory, and have blocks of their own."""
    generator = seeded(9)
    small_ones = (([1], 0, 9, False), ([3], 1, 9, False), ([40], 3, 9, True), ([300], 3, 9, False), ([400], 50, 9, True), ([10] * 20 + [8400] + [7] * 20, 1, 2, True))
    large_ones = (([6000], 3, 9, True), ([20000], 3, 9, True), ([50] * 800, 2, 9, False),
                  ([50] * 400 + [20000] + [50] * 400 + [13000, 9], 2, 9, False))
    for sizes, degree, steps, weighted in small_ones if small else small_ones + large_ones:
        rowptr, col = graphs_of(sizes, degree, generator)
        weight = torch.rand(len(col), generator=generator, dtype=torch.float64) if weighted else None
        expected = OPS.random_walk_pe(rowptr, col, steps, weight)
        there = [x if x is None else x.to(GPU) for x in (rowptr, col, weight)]
        actual, again = (OPS.random_walk_pe(there[0], there[1], steps, there[2]) for _ in range(2))
        error, what = difference([actual], [expected]), f"{len(sizes)} graphs of {sum(sizes)} nodes"
        require(error < (1e-10 if weighted else 1e-5), f"{what}: {error:.1e} apart")
        require_same([actual], [again], what)
    return "as on the CPU, and the same bits again"
