# SPDX-License-Identifier: Apache-2.0
"""Checks calls with invalid offsets and indices on a GPU: their results are unspecified, but they must not crash or corrupt
memory."""

import torch

from cases import GPU, OPS
from checking import filled_memory, require_same, seeded
from operators import gather_case, nearest_case, pairs_case, pool_case, replacement_case, walks_case


def wrong_samples():
    score, seeds = torch.randn(20000, generator=seeded(20)).to(GPU), torch.arange(2, device=GPU)
    for ptr in ([300, 20000], [300, 10000, 20000], [0, 19000, 18998], [-9, 40000, 20000], [20000, 300, 0]):
        there, own = torch.tensor(ptr, device=GPU), seeds[:len(ptr) - 1]
        for samples in (1, 80):
            OPS._select_pairs(score, 40, there, True, True, own, samples)
            OPS._select_pairs_with_replacement(score, 40, there, own, samples)
        OPS._select_pairs(score, 1 << 62, there, True, True, own, 10000)  # sorted
    OPS.sample_pairs(score, 40, torch.tensor([300, 20000], device=GPU), True, True, 1.0, None, seeds[:1])
    rows = torch.tensor([-5, 20000, 1 << 40], device=GPU)
    noise = torch.zeros(2, 3, device=GPU)
    OPS._pair_weight(score, rows, rows.flip(0), noise, 1.0)
    OPS._pair_weight_backward(noise[0], score, rows, rows.flip(0), noise, 1.0)


def wrong_neighbours():
    points = torch.randn(20000, 3, generator=seeded(21)).to(GPU)
    right, late, none, falling, beyond = [0, 20000], [10000, 20000], [10000, 10000], [20000, 300], [-9, 1 << 40]
    for pair in ((right, late), (right, none), (late, right), (falling, beyond), (beyond, falling), (none, late)):
        ptr, query_ptr = (torch.tensor(p, device=GPU) for p in pair)
        leaf = points.clone().requires_grad_()
        dist2 = OPS.knn(leaf, leaf, 16, ptr, query_ptr)[1]
        torch.autograd.grad(dist2.nan_to_num(0, 0, 0).sum(), leaf)
        OPS._farthest_point_sampling(points, 20, ptr, 0, 20)


def wrong_rows():
    x = torch.randn(500, 17, generator=seeded(22)).to(GPU).requires_grad_()
    weight = torch.ones(3, device=GPU).requires_grad_()
    rows = torch.tensor([-5, 500, 1 << 40], device=GPU)
    torch.autograd.grad(OPS.gather_pairs(x, rows, rows.flip(0), weight).sum(), [x, weight])
    u = torch.randn(17, generator=seeded(23)).to(GPU).requires_grad_()
    for ptr in ([300, 500], [500, 2, -9], [-9, 1 << 40]):
        torch.autograd.grad(OPS.softmax_pool(x, u, torch.tensor(ptr, device=GPU)).sum(), [x, u])


def wrong_edges():
    col = torch.tensor([0, -7, 1 << 40, 3, 2, 500], device=GPU)
    for rowptr in ([0, 2, 4, 5, 6], [300, 2, -9, 1 << 40, 6], [6, 5, 4, 2, 0]):
        OPS.random_walk_pe(torch.tensor(rowptr, device=GPU), col, 9)


def check_operator_ptr(small):
    """Offsets and indices that point anywhere must not make a kernel leave its arrays (a sanitizer would see it), nor
    end the GPU's context: right calls that follow give what they did."""
    cases = [make([1024, 777]) for make in (pairs_case, replacement_case, nearest_case, gather_case, pool_case, walks_case)]
    before = [case.results(GPU, torch.float32) for case in cases]
    for wrong in (wrong_samples, wrong_neighbours, wrong_rows, wrong_edges):
        with filled_memory():  # rows of no item are never written, and initcheck would say so
            wrong()
        torch.cuda.synchronize()
        for case, results in zip(cases, before, strict=True):
            require_same(case.results(GPU, torch.float32), results, f"{case.name}, after {wrong.__name__}")
    return "wrong offsets and indices stay inside the arrays"
