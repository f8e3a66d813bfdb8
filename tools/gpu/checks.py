# SPDX-License-Identifier: Apache-2.0
"""What the operators are held to on a GPU: the CPU's, which have their own tests against golden cases.

A check takes `small` (sizes for compute-sanitizer) and returns what it found as a text, or raises.
"""

import contextlib
import math

import torch

from cases import GPU, OPS, Case, attention_cases, offsets


def difference(actual, expected):
    """The largest of ||actual - expected|| / ||expected|| over the tensors; NaN counts as infinite."""
    worst = 0.0
    for a, e in zip(actual, expected):
        if e is None and a is None or e.numel() == 0:
            continue
        a, e = a.detach().double().cpu(), e.detach().double().cpu()
        error = float((a - e).norm() / max(float(e.norm()), 1e-30))
        worst = max(worst, error if math.isfinite(error) else math.inf)
    return worst


def require(condition, message):
    if not condition:
        raise AssertionError(message)


def require_same(first, again, what):
    require(all(torch.equal(a, b) for a, b in zip(first, again)), f"{what}: other bits on the same input")


def seeded(seed):
    return torch.Generator().manual_seed(seed)


def check_agreement(small):
    limits = {torch.float64: 1e-10, torch.float32: 2e-4, torch.float16: 5e-3, torch.bfloat16: 4e-2}
    worst = dict.fromkeys(limits, 0.0)
    for case in attention_cases():
        if small and case.floating[0].shape[0] + case.floating[1].shape[0] > 1000:
            continue
        for dtype, limit in limits.items():
            # Half precision beside the same on the CPU: both round the result, from which gradients are made.
            beside = dtype if dtype.itemsize == 2 else torch.float64
            rounded = [x.to(dtype).to(beside).requires_grad_() for x in case.floating]
            error = difference(case.results(GPU, dtype), case.results("cpu", beside, rounded))
            require(error <= limit, f"{case.name} {dtype}: {error:.1e} apart, at most {limit:.0e} allowed")
            worst[dtype] = max(worst[dtype], error)
    return "largest relative difference " + ", ".join(f"{str(d)[6:]} {e:.1e}" for d, e in worst.items())


def check_gradients(small):
    for relation in Case.RELATIONS:
        case = Case(relation, [4, 2], [3, 2], 2, 3, 2)
        where = case.on(GPU)
        torch.autograd.gradcheck(lambda *x: case.call(list(x), *where), case.leaves(GPU, torch.float64))
    return "gradcheck in float64"


def check_determinism(small):
    repeats = 3 if small else 20
    for relation in Case.RELATIONS:
        n = [70, 33] if small or relation == "dense" else [1024, 777, 1300, 1000]
        case = Case(relation, n, [k // 2 for k in n], 4 if small else 64, 16, 16)
        first = case.results(GPU, torch.float32)
        for _ in range(repeats - 1):
            require_same(first, case.results(GPU, torch.float32), case.name)
    return f"the same bits in {repeats} runs"


@contextlib.contextmanager
def filled_memory():
    """Memory that PyTorch hands out is filled with NaN meanwhile."""
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)


def check_written(small):
    with filled_memory():
        for relation in Case.RELATIONS:
            case = Case(relation, [65, 0, 70], [33, 0 if relation == "graph" else 5, 0], 2, 16, 16)
            for tensor in case.results(GPU, torch.float32):
                require(bool(tensor.isfinite().all()), f"{case.name}: an element was not written")
    return "every element of results and gradients is written"


def captured(step):
    """A CUDA graph of step(), and what it returned."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        results = step()
    return graph, results


def check_graph(small):
    """Forward and backward captured in a CUDA graph, replayed on other numbers; capture refuses any host read."""
    if small:
        return "left to the full run: under a sanitizer memory comes from no pool, and capture needs one"
    for relation in Case.RELATIONS:
        case, other = (Case(relation, [65, 7], [33, 40], 2, 16, 16, seed) for seed in (1, 2))
        leaves, where = case.leaves(GPU, torch.float32), case.on(GPU)
        upstream = torch.ones(72, 2, 16, device=GPU)

        def step():
            out = case.call(leaves, *where)
            return [out, *torch.autograd.grad(out, leaves, upstream)]

        graph, results = captured(step)
        with torch.no_grad():
            for leaf, value in zip(leaves, other.floating):
                leaf.copy_(value)
        graph.replay()
        require_same([x.clone() for x in results], step(), f"{case.name}, a replay and a call")
    return "captured and replayed"


def check_ptr(small):
    """Offsets that point anywhere must not make a kernel leave its arrays (a sanitizer would see it)."""
    for relation in ("normals", "graph", "sequence"):
        case = Case(relation, [40, 30], [20, 10], 2, 8, 8)
        leaves, (_, indices) = case.leaves(GPU, torch.float32), case.on(GPU)
        for ptr in ([-9, 3, 1000], [0, 1000, 5], [70, 2, -1]):
            with filled_memory():  # rows of no item are never written, and initcheck would say so
                case.call(leaves, [torch.tensor(ptr, device=GPU)] * 2, indices).sum().backward()
    torch.cuda.synchronize()
    return "wrong offsets stay inside the arrays"


def check_host_ptr(small):
    """Offsets on the CPU beside rows on the GPU give the same results."""
    for relation in Case.RELATIONS:
        case = Case(relation, [65, 7], [33, 40], 2, 16, 16)
        leaves, (pointers, indices) = case.leaves(GPU, torch.float32), case.on(GPU)
        require_same([case.call(leaves, pointers, indices)], [case.call(leaves, case.pointers, indices)], case.name)
    score, ptr = torch.randn(72, generator=seeded(1)).to(GPU), offsets([65, 7])
    seeds = torch.arange(2, device=GPU)
    here, there = (OPS.sample_pairs(score, 9, p, True, True, 1.0, None, seeds) for p in (ptr, ptr.to(GPU)))
    require_same(here[:3], there[:3], "sample_pairs")
    require(here[3].device.type == "cpu" and there[3].device.type == GPU, "sample_ptr is where ptr is")
    return "the same results"


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


def check_knn(small):
    generator = seeded(8)
    for dtype in (torch.float32, torch.float64):
        for sizes, askers, k in (([700], [33], 16), ([600, 0, 3, 597], [5, 4, 0, 200], 7), ([5], [9], 40),
                                 ([300], [300], 33), ([5000] if small else [30000, 20000], [300] if small else [30000, 9], 16)):
            points, queries = (torch.randn(sum(n), 3, generator=generator).mul(64).round().div(64).to(dtype) for n in (sizes, askers))
            pointers = [offsets(sizes), offsets(askers)]
            index, dist2 = OPS.knn(points, queries, k, *pointers)
            leaves = [x.to(GPU).requires_grad_() for x in (points, queries)]
            found, there = OPS.knn(*leaves, k, *(p.to(GPU) for p in pointers))
            what = f"{dtype}, points {sizes}, queries {askers}, k={k}"
            require(torch.equal(found.cpu(), index), f"{what}: other rows than on the CPU")
            require(torch.equal(there.cpu(), dist2), f"{what}: other distances than on the CPU")
            if there.isfinite().any():
                gradients = torch.autograd.grad(there[there.isfinite()].sum(), leaves)
                require(all(bool(g.isfinite().all()) for g in gradients), f"{what}: a gradient is not finite")
    return "the rows and distances of the CPU, bit by bit"


def check_walks(small):
    generator = seeded(9)
    for nodes, edges, weighted in ((1, 0, False), (40, 130, True), (300, 900, False), (400 if small else 6000, 20000, True)):
        source = torch.randint(nodes, (edges,), generator=generator).sort().values
        col = torch.randint(nodes, (edges,), generator=generator)
        rowptr = torch.searchsorted(source, torch.arange(nodes + 1))
        weight = torch.rand(edges, generator=generator, dtype=torch.float64) if weighted else None
        expected = OPS.random_walk_pe(rowptr, col, 9, weight)
        there = [x if x is None else x.to(GPU) for x in (rowptr, col, weight)]
        actual, again = (OPS.random_walk_pe(there[0], there[1], 9, there[2]) for _ in range(2))
        error = difference([actual], [expected])
        require(error < (1e-10 if weighted else 1e-5), f"{nodes} nodes: {error:.1e} apart")
        require_same([actual], [again], f"{nodes} nodes")
    return "as on the CPU, and the same bits again"


class PolynomialCase:
    """Arguments of polynomial_attention on the CPU, float64."""

    def __init__(self, queries, keys, widths, degree, causal=False, center=False, seed=10):
        generator = seeded(seed)
        c, cv = widths
        rows = ((sum(queries), c), (sum(keys), c), (sum(keys), cv))
        self.floating = [0.7 * c**-0.5 * torch.randn(n, 2, w, generator=generator, dtype=torch.float64) for n, w in rows]
        self.pointers = [offsets(queries), offsets(keys)]
        self.numbers = degree, 2.0, causal
        self.center = center
        self.name = f"queries {queries}, keys {keys}, c={c} cv={cv}, degree {degree}" + " causal" * causal + " center" * center

    def results(self, device, dtype, place=None, pointers=None):
        """The result and all gradients; `place` is the device of the offsets, None for none."""
        leaves = [x.to(device, dtype).requires_grad_() for x in self.floating]
        where = [p.to(place) if place else None for p in pointers or self.pointers]
        out = OPS.polynomial_attention(*leaves, *self.numbers, *where, self.center)
        return [out.detach(), *torch.autograd.grad((out * out).sum(), leaves)]


def polynomial_cases(small):
    """Short items, pair by pair; long ones by monomials, with every size of table; both at once; masked, of several chunks."""
    ragged, others = [129, 0, 33, 2], [40, 7, 90, 0]
    yield PolynomialCase(ragged, others, (8, 13), 4)
    yield PolynomialCase(ragged, ragged, (33, 20), 2, center=True)
    yield PolynomialCase(ragged, ragged, (8, 64), 3, causal=True)
    yield PolynomialCase([300, 5, 0, 257], [400, 9, 3, 70], (2, 3), 2, center=True)
    yield PolynomialCase([600, 3, 300], [600, 3, 300], (3, 20), 2, causal=True)
    yield PolynomialCase([70, 40], [150, 900], (128, 40), 1)
    if small:
        return
    for widths in ((8, 8), (8, 20), (10, 5), (16, 16)):
        yield PolynomialCase([2000, 100, 1300], [1500, 30, 2100], widths, 3 if widths[0] == 10 else 2)
    yield PolynomialCase([3000, 1500], [2500, 2000], (8, 8), 4, center=True)
    yield PolynomialCase([290, 500], [900, 400], (2, 3), 60)
    yield PolynomialCase([7000, 12000], [7000, 12000], (8, 8), 2, causal=True)
    yield PolynomialCase([5000], [5000], (8, 8), 4, causal=True)
    yield PolynomialCase([40], [300000], (8, 8), 2)
    yield PolynomialCase([64] * 500, [64] * 500, (4, 4), 2)


def check_polynomial(small):
    for case in polynomial_cases(small):
        expected = case.results("cpu", torch.float64, "cpu")
        for place in (GPU, "cpu"):  # the kernels find the items, or the host knows them
            with filled_memory():
                for dtype, limit in ((torch.float64, 1e-9), (torch.float32, 3e-4)):
                    error = difference(case.results(GPU, dtype, place), expected)
                    require(error <= limit, f"{case.name}, offsets on {place}, {dtype}: {error:.1e} apart")
            first = case.results(GPU, torch.float32, place)
            require_same(first, case.results(GPU, torch.float32, place), case.name)
        require_same(first, case.results(GPU, torch.float32, GPU), f"{case.name}, offsets on either device")
    return "as on the CPU, and the same bits again, wherever the offsets are"


def check_polynomial_alone(small):
    """Without offsets, in half types, and one token, whose gradients are 0 but for rounding."""
    one = PolynomialCase([500 if small else 5000], [300 if small else 9000], (8, 8), 2)
    for dtype, limit in ((torch.float64, 1e-9), (torch.float32, 3e-4), (torch.float16, 5e-3), (torch.bfloat16, 4e-2)):
        results = one.results(GPU, dtype)
        require(all(x.dtype == dtype for x in results), f"{dtype}: another type")
        # Half precision beside the same on the CPU: both round the result, from which gradients are made.
        error = difference(results, one.results("cpu", dtype if dtype.itemsize == 2 else torch.float64))
        require(error <= limit, f"{one.name}, {dtype}: {error:.1e} apart")
    token = PolynomialCase([1], [1], (8, 8), 2)
    results = token.results(GPU, torch.float64)
    require(difference(results[:1], token.results("cpu", torch.float64)[:1]) < 1e-12, "one token: another result")
    require(all(float(x.abs().max()) < 1e-10 for x in results[1:3]), "one token: gradients of q and k")
    return "as on the CPU"


def check_polynomial_graph(small):
    """Both ways captured in a CUDA graph with the offsets on the GPU, and replayed on other offsets."""
    if small:
        return "left to the full run: under a sanitizer memory comes from no pool, and capture needs one"
    case, numbers = PolynomialCase([700, 30, 400], [700, 30, 400], (3, 4), 2), offsets([20, 1000, 110])
    leaves = [x.to(GPU, torch.float32).requires_grad_() for x in case.floating]
    pointer = case.pointers[0].to(GPU)

    def step():
        out = OPS.polynomial_attention(*leaves, *case.numbers, pointer, pointer, False)
        return [out, *torch.autograd.grad((out * out).sum(), leaves)]

    graph, results = captured(step)
    pointer.copy_(numbers)
    graph.replay()
    require_same([x.clone() for x in results], step(), "polynomial_attention, a replay and a call")
    return "captured and replayed"


def check_polynomial_ptr(small):
    """Offsets that point anywhere must not make a kernel leave its arrays (a sanitizer would see it)."""
    for causal in (False, True):
        case = PolynomialCase([300, 200, 500], [300, 200, 500], (2, 3), 2, causal=causal)
        for ptr in ([-9, 800, 100, 5000], [1000, 0, 1000, 0], [0, 1000, 1000, 999]):
            with filled_memory():  # rows of no item are never written, and initcheck would say so
                case.results(GPU, torch.float32, GPU, [torch.tensor(ptr), case.pointers[1]])
                case.results(GPU, torch.float32, GPU, [torch.tensor(ptr)] * 2)
    torch.cuda.synchronize()
    return "wrong offsets stay inside the arrays"


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
    return "as on the CPU, and the same bits again"


def pair_results(device, score, ptr, seeds, k, random):
    leaf = score.to(device).requires_grad_()
    top, partner, weight, sample_ptr = OPS.sample_pairs(leaf, k, ptr.to(device), False, random, 1.0, None, seeds.to(device))
    upstream = torch.randn(weight.shape, generator=seeded(6)).to(device)
    return [top, partner, sample_ptr], [weight, *torch.autograd.grad(weight, leaf, upstream)]


def primal_cases(small):
    """Name, items' queries and keys, and the options of a call: plain, recentred and pooled, linear, masked."""
    ragged, others = [129, 0, 33, 2], [40, 7, 90, 3]
    beta = torch.randn(2, generator=seeded(17), dtype=torch.float64)
    pooled = {"beta": beta, "pool": [1, 2]}
    for queries, keys in ((ragged, others),) if small else ((ragged, others), ([1500, 700], [900, 2100])):
        yield "plain", queries, keys, {}
        yield "recentred and pooled", queries, keys, pooled
        yield "linear", queries, keys, {"kernel": "linear", "eps": 1e-3, **pooled}
        begins = offsets(keys)
        seen = [int(begins[b]) + j for b, n in enumerate(queries) for i in range(n) for j in (i % keys[b], keys[b] - 1)]
        col = torch.tensor(seen).view(-1, 2).sort(1).values
        apart = torch.ones_like(col, dtype=torch.bool)
        apart[:, 1] = col[:, 1] > col[:, 0]
        yield "masked", queries, keys, {"mask_rowptr": offsets(apart.sum(1).tolist()), "mask_col": col[apart]}


def primal_results(queries, keys, options, device, dtype):
    generator = seeded(18)
    rows = (sum(queries), sum(keys), sum(keys))
    leaves = [torch.randn(n, 2, 8, generator=generator, dtype=torch.float64).to(device, dtype) for n in rows]
    leaves = [x.requires_grad_() for x in leaves]
    there = {name: x.to(device) if torch.is_tensor(x) else x for name, x in options.items()}
    if "beta" in there:
        there["beta"] = there["beta"].to(dtype).requires_grad_()
        leaves.append(there["beta"])
    pointers = {"q_ptr": offsets(queries).to(device), "k_ptr": offsets(keys).to(device)}
    out = OPS.primal_attention(*leaves[:3], **there, **pointers)
    return [out.detach(), *torch.autograd.grad((out * out).sum(), leaves)]


def check_primal(small):
    """Composed of PyTorch's operations, some of which add in any order: equal bits are told, not asked for."""
    other_bits = []
    for name, *case in primal_cases(small):
        expected = primal_results(*case, "cpu", torch.float64)
        for dtype, limit in ((torch.float64, 1e-10), (torch.float32, 2e-4)):
            error = difference(primal_results(*case, GPU, dtype), expected)
            require(error <= limit, f"{name}, queries {case[0]}, {dtype}: {error:.1e} apart")
        first, again = (primal_results(*case, GPU, torch.float32) for _ in range(2))
        if not all(torch.equal(a, b) for a, b in zip(first, again)) and name not in other_bits:
            other_bits.append(name)
    return "as on the CPU, " + (f"with other bits on a second call: {', '.join(other_bits)}" if other_bits else "and the same bits again")


def check_pairs(small):
    """Draws without noise and with a partner at random are the CPU's; noise is to the rounding of two logarithms."""
    seeds = torch.arange(6) + 11
    for ptr in ([0, 5, 5, 6, 606, 608, 611],) if small else ([0, 5, 5, 6, 606, 5000, 30000], [0, 5, 5, 6, 100000, 150000, 200000]):
        ptr = torch.tensor(ptr)
        score = torch.randn(int(ptr[-1]), generator=seeded(5)).mul(50).round().div(50)
        for k in (1, 40, 256, 1 << 62):
            for random in (False, True):
                (rows, weights), (cpu_rows, cpu_weights) = (pair_results(d, score, ptr, seeds, k, random) for d in (GPU, "cpu"))
                what = f"{len(score)} rows, k={k} random={random}"
                require(all(torch.equal(a.cpu(), b) for a, b in zip(rows, cpu_rows)), f"{what}: other rows")
                require(difference(weights, cpu_weights) < 1e-5, f"{what}: other weights")
        noisy = [OPS.sample_pairs(score.to(d), 40, ptr.to(d), True, True, 1.0, None, seeds.to(d))[0].cpu() for d in (GPU, "cpu")]
        same = float((noisy[0] == noisy[1]).double().mean())
        require(same > 0.99, f"with noise only {same:.0%} of the rows are those of the CPU")
    return "the rows and weights of the CPU"


def check_gather(small):
    rows = 500 if small else 40000
    x, weight = torch.randn(rows, 3, 17, generator=seeded(12)), torch.rand(rows // 2, generator=seeded(13))
    top, partner = (torch.randint(rows, (rows // 2,), generator=seeded(s)) for s in (14, 15))

    def results(device):
        leaves = [t.to(device).requires_grad_() for t in (x, weight)]
        out = OPS.gather_pairs(leaves[0], top.to(device), partner.to(device), leaves[1])
        return [out, *torch.autograd.grad((out * out).sum(), leaves)]

    error = difference(results(GPU), results("cpu"))
    require(error < 1e-5, f"{error:.1e} apart")
    require_same(results(GPU), results(GPU), "gather_pairs")
    return "as on the CPU, and the same bits again"


def check_dropout(small):
    x = torch.randn(12345, generator=seeded(16))
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        here, there = (OPS._seeded_dropout(x.to(d, dtype), 0.3, torch.tensor([-7], device=d)).cpu() for d in ("cpu", GPU))
        require(torch.equal(here, there), f"{dtype}: other elements or values than on the CPU")
    return "the elements of the CPU, bit by bit"


def check_augmentation(small):
    """The rows are the CPU's; sums run in another order, and exponentials, logarithms and sines round differently."""
    sizes = [30, 0, 1, 700, 257] if small else [30, 0, 1, 700, 257, 100000] + [10000] * 40
    ptr, generator = offsets(sizes), seeded(19)
    points = torch.randn(sum(sizes), 3, generator=generator, dtype=torch.float64) + 4
    normals = torch.nn.functional.normalize(torch.randn(sum(sizes), 3, generator=generator, dtype=torch.float64))
    seeds = torch.arange(len(sizes)) * 17 - 20
    for dtype, limit in ((torch.float32, 1e-6), (torch.float64, 1e-12)):
        for most, rotation, numbers in ((256, 2, [0.3, 0.6, 1.4, 0.02, 0.05, 0.3]), (1 << 40, 1, [0.0, 1.0, 1.0, 0.0, 0.0, 0.0])):
            def results(device):
                return OPS._augment_clouds(points.to(device, dtype), normals.to(device, dtype), ptr, seeds, most, rotation, numbers)
            expected, actual, again = (results(device) for device in ("cpu", GPU, GPU))
            what = f"{dtype}, at most {most} points"
            require_same(actual, again, what)
            require(all(torch.equal(a.cpu(), e) for a, e in zip(actual[2:], expected[2:])), f"{what}: other rows than on the CPU")
            error = difference(actual[:2], expected[:2])
            require(error <= limit, f"{what}: {error:.1e} apart, at most {limit:.0e} allowed")
    return "the rows of the CPU, coordinates to rounding, and the same bits again"


CHECKS = {
    "attention: CPU against CUDA": check_agreement,
    "attention: gradients": check_gradients,
    "attention: determinism": check_determinism,
    "attention: results are written": check_written,
    "attention: CUDA graph": check_graph,
    "attention: wrong offsets": check_ptr,
    "offsets on the CPU": check_host_ptr,
    "polynomial_attention: CPU against CUDA": check_polynomial,
    "polynomial_attention: one item": check_polynomial_alone,
    "polynomial_attention: CUDA graph": check_polynomial_graph,
    "polynomial_attention: wrong offsets": check_polynomial_ptr,
    "primal_attention: CPU against CUDA": check_primal,
    "sample_pairs: CPU against CUDA": check_pairs,
    "gather_pairs: CPU against CUDA": check_gather,
    "softmax_pool: CPU against CUDA": check_pool,
    "dropout: CPU against CUDA": check_dropout,
    "farthest_point_sampling: CPU against CUDA": check_farthest,
    "augment_clouds: CPU against CUDA": check_augmentation,
    "knn: CPU against CUDA": check_knn,
    "random_walk_pe: CPU against CUDA": check_walks,
}
