# SPDX-License-Identifier: Apache-2.0
"""Functions shared by the checks of gpu/*_checks.py."""

import contextlib
import math

import torch

from cases import GPU


def difference(actual, expected):
    """The largest of ||actual - expected|| / ||expected|| over the tensors; NaN counts as infinite, equal infinities do not."""
    worst = 0.0
    for a, e in zip(actual, expected, strict=True):
        if e is None and a is None or e.numel() == 0:
            continue
        a, e = a.detach().double().cpu(), e.detach().double().cpu()
        apart = torch.where(a == e, 0, a - e)
        scale = torch.where(e.isinf(), 0, e)
        error = float(apart.norm() / max(float(scale.norm()), 1e-30))
        worst = max(worst, error if math.isfinite(error) else math.inf)
    return worst


def require(condition, message):
    if not condition:
        raise AssertionError(message)


def require_same(first, again, what):
    require(all(torch.equal(a, b) for a, b in zip(first, again, strict=True)), f"{what}: other bits on the same input")


def runs(small):
    """How often a call must give the same bits."""
    return 3 if small else 20


def require_repeatable(call, small, what):
    first = call()
    for _ in range(runs(small) - 1):
        require_same(first, call(), what)


def seeded(seed):
    return torch.Generator().manual_seed(seed)


def require_halves(call, tensors, what, gradients=None):
    """Half types give what the same numbers in float32 give, rounded: the result and the gradients of these tensors (None:
    of all), which must not be made from the rounded result."""
    places = range(len(tensors)) if gradients is None else gradients
    for half in (torch.float16, torch.bfloat16):
        results = []
        for dtype in (half, torch.float32):
            leaves = [t.to(GPU, half).to(dtype).requires_grad_() for t in tensors]
            out = call(*leaves)
            requested = [leaves[i] for i in places]
            results.append([t.to(half) for t in (out, *torch.autograd.grad(out, requested, torch.ones_like(out)))])
        require_same(*results, f"{what}, {half}")


@contextlib.contextmanager
def filled_memory():
    """Memory that PyTorch hands out is filled with NaN meanwhile."""
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)


NO_CAPTURE = "left to the full run: under a sanitizer memory comes from no pool, and capture needs one"


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


def require_replay(step, leaves, values, what):
    """Captures step(), which returns tensors, and compares a replay on other values of the leaves with a call."""
    graph, results = captured(step)
    with torch.no_grad():
        for leaf, value in zip(leaves, values, strict=True):
            leaf.copy_(value)
    graph.replay()
    require_same([x.clone() for x in results], step(), f"{what}, a replay and a call")
