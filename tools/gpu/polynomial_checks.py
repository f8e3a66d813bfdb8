# SPDX-License-Identifier: Apache-2.0
"""Checks of polynomial attention on a GPU."""

import torch

from cases import GPU, OPS, offsets
from checking import (NO_CAPTURE, captured, difference, filled_memory, require, require_halves, require_repeatable, require_same,
                      runs, seeded)


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
    require_halves(lambda *leaves: OPS.polynomial_attention(*leaves, *one.numbers), one.floating, one.name, [2])
    token = PolynomialCase([1], [1], (8, 8), 2)
    results = token.results(GPU, torch.float64)
    require(difference(results[:1], token.results("cpu", torch.float64)[:1]) < 1e-12, "one token: another result")
    require(all(float(x.abs().max()) < 1e-10 for x in results[1:3]), "one token: gradients of q and k")
    return "as on the CPU"


def check_polynomial_gradients(small):
    """Short items, pair by pair, and one long enough for monomials, in one direction drawn at random."""
    short = PolynomialCase([4, 2], [3, 2], (2, 3), 2, center=True), PolynomialCase([5], [5], (2, 2), 3, causal=True)
    for case, fast in ((short[0], False), (short[1], False), (PolynomialCase([300], [300], (2, 2), 2), True)):
        pointers = [p.to(GPU) for p in case.pointers]
        leaves = [x.to(GPU).requires_grad_() for x in case.floating]
        torch.autograd.gradcheck(lambda *x: OPS.polynomial_attention(*x, *case.numbers, *pointers, case.center), leaves, fast_mode=fast)
    return "gradcheck in float64"


def check_polynomial_determinism(small):
    sizes = [300, 5, 0, 257] if small else [7000, 100, 12000]
    for case in (PolynomialCase(sizes, sizes, (8, 8), 2), PolynomialCase(sizes, sizes, (8, 8), 2, causal=True)):
        for dtype in (torch.float32, torch.float64):
            require_repeatable(lambda: case.results(GPU, dtype, GPU), small, f"{case.name} {dtype}")
    return f"the same bits in {runs(small)} runs, in float32 and float64"


def check_polynomial_graph(small):
    """Both ways captured in a CUDA graph with the offsets on the GPU, and replayed on other offsets."""
    if small:
        return NO_CAPTURE
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
