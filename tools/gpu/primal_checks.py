# SPDX-License-Identifier: Apache-2.0
"""Checks of primal attention on a GPU."""

import torch

from cases import GPU, OPS, offsets
from checking import (NO_CAPTURE, difference, filled_memory, require, require_halves, require_repeatable, require_replay,
                      require_same, runs, seeded)


def pair_mask(queries, keys, pool=(1,)):
    """Every query sees one pooled key of its item and the last one, as far as there are any; a mask for each factor of pool."""
    rows = []
    for head, factor in enumerate(pool):
        pooled = [-(-n // factor) for n in keys]
        begins = offsets(pooled).tolist()
        rows += [sorted({begins[b] + (i + head) % n, begins[b] + n - 1}) if n else []
                 for b, n in enumerate(pooled) for i in range(queries[b])]
    col = torch.tensor([j for row in rows for j in row], dtype=torch.int64)
    return {"mask_rowptr": offsets([len(row) for row in rows]), "mask_col": col}


def padded_mask(mask, width=4):
    """The same pairs in rows of as many columns, with -1 before and behind them."""
    rowptr, at = mask["mask_rowptr"], torch.arange(width)
    table = torch.full((len(rowptr) - 1, width), -1)
    table[(at > 0) & (at <= rowptr.diff().unsqueeze(1))] = mask["mask_col"]
    return {"mask_rowptr": torch.arange(len(rowptr)) * width, "mask_col": table.flatten()}


class PrimalCase:
    """Arguments of primal_attention on the CPU, float64; two heads."""

    def __init__(self, name, queries, keys, options, widths=(8, 8), seed=18):
        generator = seeded(seed)
        rows = ((sum(queries), widths[0]), (sum(keys), widths[0]), (sum(keys), widths[1]))
        self.floating = [torch.randn(n, 2, w, generator=generator, dtype=torch.float64) for n, w in rows]
        self.floating += [options["beta"]] if "beta" in options else []
        self.options = {name: x for name, x in options.items() if name != "beta"}
        self.pointers = [offsets(queries), offsets(keys)]
        self.name = f"{name}, queries {queries}, keys {keys}, widths {widths}"

    def call(self, device, place, pointers=None):
        """The operator as a function of q, k, v and, where there is one, beta."""
        there = {name: x.to(device) if torch.is_tensor(x) else x for name, x in self.options.items()}
        where = dict(zip(("q_ptr", "k_ptr"), (p.to(place) for p in pointers or self.pointers)))
        return lambda q, k, v, beta=None: OPS.primal_attention(q, k, v, beta, **there, **where)

    def leaves(self, device, dtype):
        return [x.to(device, dtype).requires_grad_() for x in self.floating]

    def results(self, device, dtype, place=None, pointers=None):
        """The result and all gradients; `place` is the device of the offsets."""
        leaves = self.leaves(device, dtype)
        out = self.call(device, place or device, pointers)(*leaves)
        return [out.detach(), *torch.autograd.grad((out * out).sum(), leaves)]


def families(queries, keys, widths=(8, 8)):
    """Plain, recentred and pooled, linear, masked, with a mask a head."""
    pooled = {"beta": torch.randn(2, generator=seeded(17), dtype=torch.float64), "pool": [1, 2]}
    yield PrimalCase("plain", queries, keys, {}, widths)
    yield PrimalCase("recentred and pooled", queries, keys, pooled, widths)
    yield PrimalCase("linear", queries, keys, {"kernel": "linear", "eps": 1e-3, **pooled}, widths)
    yield PrimalCase("masked", queries, keys, pair_mask(queries, keys), widths)
    yield PrimalCase("masked by head", queries, keys, {**pooled, **pair_mask(queries, keys, pooled["pool"])}, widths)


def primal_cases(small):
    yield from families([129, 0, 33, 2, 5], [40, 7, 90, 3, 0])
    # Sums over items, of more rows than one block adds up.
    linear = {"kernel": "linear", "eps": 1e-3, "beta": torch.randn(2, generator=seeded(16), dtype=torch.float64)}
    yield PrimalCase("linear and recentred", [4200, 3], [2500, 40], linear)
    for widths in ((1, 1), (32, 20), (17, 33), (128, 20)):
        yield from families([70, 3], [9, 40], widths)
    if not small:
        yield from families([1500, 700], [900, 2100])
        yield from families([3000], [40000], (16, 16))


def check_primal(small):
    for case in primal_cases(small):
        expected = case.results("cpu", torch.float64)
        for place in (GPU, "cpu"):
            with filled_memory():
                for dtype, limit in ((torch.float64, 1e-9), (torch.float32, 3e-4)):
                    error = difference(case.results(GPU, dtype, place), expected)
                    require(error <= limit, f"{case.name}, offsets on {place}, {dtype}: {error:.1e} apart")
        require_same(case.results(GPU, torch.float32, GPU), case.results(GPU, torch.float32, "cpu"), f"{case.name}, offsets on either device")
    for case in families([129, 33], [40, 90]):
        for dtype, limit in ((torch.float16, 5e-3), (torch.bfloat16, 4e-2)):
            error = difference(case.results(GPU, dtype), case.results("cpu", dtype))
            require(error <= limit, f"{case.name}, {dtype}: {error:.1e} apart")
        require_halves(case.call(GPU, GPU), case.floating, case.name, [2])
    for case in families([40, 9], [30, 70], (160, 8)):  # wider than the kernels take
        expected = case.results("cpu", torch.float64)
        if "mask_col" in case.options:
            case.options.update(padded_mask(case.options))
        error = difference(case.results(GPU, torch.float64), expected)
        require(error <= 1e-9, f"{case.name}: {error:.1e} apart")
    return "as on the CPU in all types, wherever the offsets are"


def check_primal_columns(small):
    for case in families([129, 0, 33, 5], [40, 7, 90, 0]):
        if "mask_col" in case.options:
            expected = case.results(GPU, torch.float32)
            case.options.update(padded_mask(case.options))
            with filled_memory():
                require_same(case.results(GPU, torch.float32), expected, f"{case.name}, with columns that are no keys")
    return "columns of -1 count for nothing, in the result and in gradients"


def check_primal_gradients(small):
    for case in families([4, 2], [3, 5], (2, 3)):
        torch.autograd.gradcheck(case.call(GPU, GPU), case.leaves(GPU, torch.float64))
    return "gradcheck in float64"


def check_primal_determinism(small):
    queries, keys = ([129, 0, 33], [40, 7, 90]) if small else ([5000, 100, 2000], [3000, 700, 4000])
    for case in families(queries, keys):
        for dtype in (torch.float32, torch.float64):
            require_repeatable(lambda: case.results(GPU, dtype), small, f"{case.name} {dtype}")
    return f"the same bits in {runs(small)} runs, in float32 and float64"


def check_primal_graph(small):
    """Both ways captured in a CUDA graph, and replayed on other numbers."""
    if small:
        return NO_CAPTURE
    for seed, case in enumerate(families([700, 30], [400, 90])):
        other = PrimalCase("", [700, 30], [400, 90], {"beta": torch.ones(2)}, seed=seed)
        leaves = case.leaves(GPU, torch.float32)
        for pointers in ([p.to(GPU) for p in case.pointers], [p.pin_memory() for p in case.pointers]):
            place = pointers[0].device
            call = case.call(GPU, place, pointers)

            def step():
                out = call(*leaves)
                return [out, *torch.autograd.grad((out * out).sum(), leaves)]

            require_replay(step, leaves, other.floating[:len(leaves)], f"{case.name}, offsets on {place}")
    return "captured and replayed, with offsets in page-locked memory and on the GPU"


def check_primal_ptr(small):
    """Offsets and masks that point anywhere must not make a kernel leave its arrays (a sanitizer would see it)."""
    wrong = ([-9, 800, 100, 5000], [1000, 0, 1000, 0], [0, 1000, 1000, 999])
    for case in families([300, 200, 500], [300, 200, 500], (8, 5)):
        if "mask_col" in case.options:
            generator = seeded(19)
            for name, maximum in (("mask_rowptr", 3000), ("mask_col", 2000)):
                case.options[name] = torch.randint(-9, maximum, case.options[name].shape, generator=generator)
        for ptr in wrong:
            with filled_memory():  # rows of no item are never written, and initcheck would say so
                case.results(GPU, torch.float32, GPU, [torch.tensor(ptr), case.pointers[1]])
                case.results(GPU, torch.float32, GPU, [torch.tensor(ptr)] * 2)
    torch.cuda.synchronize()
    return "wrong offsets and masks stay inside the arrays"
