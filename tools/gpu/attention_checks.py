# SPDX-License-Identifier: Apache-2.0
"""Checks of maxout, point, graph and sequence attention on a GPU."""

import torch

from cases import GPU, OPS, Case, attention_cases, offsets
from checking import (NO_CAPTURE, difference, filled_memory, require, require_halves, require_repeatable, require_replay,
                      require_same, runs, seeded)


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


def check_halves(small):
    """The gradient of v is the one that is not made from the rounded result."""
    for encoding in Case.ENCODINGS:
        large = not small and encoding != "dense"  # large enough for tiles of many rows a thread
        queries, keys = ([1024, 777, 1300, 1000], [270, 600, 1024, 300]) if large else ([70, 33], [40, 30])
        for heads, c in ((64 if large else 2, 16), (3, 33)):
            case = Case(encoding, queries, keys, heads, c, c)
            pointers, indices = case.on(GPU)
            require_halves(lambda *leaves: case.call(list(leaves), pointers, indices), case.floating, case.name, [2])
    return "half types give what float32 gives, rounded"


def check_gradients(small):
    for encoding in Case.ENCODINGS:
        case = Case(encoding, [4, 2], [3, 2], 2, 3, 2)
        where = case.on(GPU)
        torch.autograd.gradcheck(lambda *x: case.call(list(x), *where), case.leaves(GPU, torch.float64))
    return "gradcheck in float64"


def check_determinism(small):
    for encoding in Case.ENCODINGS:
        n = [70, 33] if small or encoding == "dense" else [1024, 777, 1300, 1000]
        case = Case(encoding, n, [k // 2 for k in n], 4 if small else 64, 16, 16)
        for dtype in (torch.float32, torch.float64):
            require_repeatable(lambda: case.results(GPU, dtype), small, f"{case.name} {dtype}")
    return f"the same bits in {runs(small)} runs, in float32 and float64"


def check_written(small):
    with filled_memory():
        for encoding in Case.ENCODINGS:
            case = Case(encoding, [65, 0, 70], [33, 0 if encoding == "graph" else 5, 0], 2, 16, 16)
            for tensor in case.results(GPU, torch.float32):
                require(bool(tensor.isfinite().all()), f"{case.name}: an element was not written")
    return "every element of results and gradients is written"


def check_graph(small):
    """Forward and backward captured in a CUDA graph, replayed on other numbers; capture refuses any host read."""
    if small:
        return NO_CAPTURE
    grad_output = torch.ones(72, 2, 16, device=GPU)
    for encoding in Case.ENCODINGS:
        case, other = (Case(encoding, [65, 7], [33, 40], 2, 16, 16, seed) for seed in (1, 2))
        there, indices = case.on(GPU)
        for pointers in (there, [ptr.pin_memory() for ptr in case.pointers]):
            leaves = case.leaves(GPU, torch.float32)

            def step():
                out = case.call(leaves, pointers, indices)
                return [out, *torch.autograd.grad(out, leaves, grad_output)]

            require_replay(step, leaves, other.floating, f"{case.name}, offsets on {pointers[0].device}")
    return "captured and replayed, with offsets on the GPU and in page-locked memory"


def check_ptr(small):
    """Offsets that point anywhere must not make a kernel leave its arrays (a sanitizer would see it)."""
    for encoding in ("normals", "graph", "sequence"):
        case = Case(encoding, [40, 30], [20, 10], 2, 8, 8)
        leaves, (_, indices) = case.leaves(GPU, torch.float32), case.on(GPU)
        for ptr in ([-9, 3, 1000], [0, 1000, 5], [70, 2, -1]):
            with filled_memory():  # rows of no item are never written, and initcheck would say so
                case.call(leaves, [torch.tensor(ptr, device=GPU)] * 2, indices).sum().backward()
    torch.cuda.synchronize()
    return "wrong offsets stay inside the arrays"


def check_not_requested(small):
    """The gradients that are asked for have the same bits where nobody asks for those of the attention bias's rows, and where
    somebody asks for those of one of them."""
    for encoding in Case.ENCODINGS:
        case = Case(encoding, [65, 7], [33, 40], 2, 16, 16, depth=70)
        pointers, indices = case.on(GPU)
        rows = range(4, len(case.floating) - (0 if encoding in ("none", "dense") else 4))

        def gradients(requested_rows):
            leaves = case.leaves(GPU, torch.float32)
            requested = [i for i in range(len(leaves)) if i not in rows or i in requested_rows]
            for i in set(rows) - set(requested):
                leaves[i].requires_grad_(False)
            out = case.call(leaves, pointers, indices)
            return dict(zip(requested, torch.autograd.grad(out.sum(), [leaves[i] for i in requested])))

        everything = gradients(rows)
        for requested_rows in ((), *((row,) for row in rows)):
            some = gradients(requested_rows)
            require_same([everything[i] for i in some], some.values(), f"{case.name}, of the rows {requested_rows}")
    return "the same bits"


def check_host_ptr(small):
    """Offsets on the CPU beside rows on the GPU give the same results."""
    for encoding in Case.ENCODINGS:
        case = Case(encoding, [65, 7], [33, 40], 2, 16, 16)
        leaves, (pointers, indices) = case.leaves(GPU, torch.float32), case.on(GPU)
        require_same([case.call(leaves, pointers, indices)], [case.call(leaves, case.pointers, indices)], case.name)
    score, ptr = torch.randn(72, generator=seeded(1)).to(GPU), offsets([65, 7])
    seeds = torch.arange(2, device=GPU)
    here, there = (OPS.sample_pairs(score, 9, p, True, True, 1.0, None, seeds) for p in (ptr, ptr.to(GPU)))
    require_same(here[:3], there[:3], "sample_pairs")
    require(here[3].device.type == "cpu" and there[3].device.type == GPU, "sample_ptr is where ptr is")
    return "the same results"
