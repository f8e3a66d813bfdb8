# SPDX-License-Identifier: Apache-2.0
# Written by tools/python/generate.py.
from collections.abc import Sequence

from torch import Generator, Tensor

__all__ = [
    "farthest_point_sampling",
    "gather_pairs",
    "graph_attention",
    "knn",
    "maxout_attention",
    "point_attention",
    "polynomial_attention",
    "primal_attention",
    "random_walk_pe",
    "sample_pairs",
    "sequence_attention",
    "softmax_pool",
]

def farthest_point_sampling(
    points: Tensor, m: int, ptr: Tensor | Sequence[int] | None = None, start: int = 0
) -> Tensor: ...

def gather_pairs(x: Tensor, top: Tensor, partner: Tensor, weight: Tensor) -> Tensor: ...

def graph_attention(
    q: Tensor, k: Tensor, v: Tensor, leak: Tensor, rowptr: Tensor, col: Tensor, edge_attr: Tensor, top: Tensor,
    partner: Tensor, weight: Tensor, w_mul: Tensor, b_mul: Tensor, w_add: Tensor, b_add: Tensor,
    q_ptr: Tensor | Sequence[int] | None = None, k_ptr: Tensor | Sequence[int] | None = None, eps: float = 1e-06
) -> Tensor: ...

def knn(
    points: Tensor, queries: Tensor, k: int, ptr: Tensor | Sequence[int] | None = None,
    query_ptr: Tensor | Sequence[int] | None = None
) -> tuple[Tensor, Tensor]: ...

def maxout_attention(
    q: Tensor, k: Tensor, v: Tensor, leak: Tensor, r_mul: Tensor | None = None, r_add: Tensor | None = None,
    q_ptr: Tensor | Sequence[int] | None = None, k_ptr: Tensor | Sequence[int] | None = None, eps: float = 1e-06
) -> Tensor: ...

def point_attention(
    q: Tensor, k: Tensor, v: Tensor, leak: Tensor, x: Tensor, xs: Tensor, m: Tensor | None, ms: Tensor | None,
    w_mul: Tensor, b_mul: Tensor, w_add: Tensor, b_add: Tensor, q_ptr: Tensor | Sequence[int] | None = None,
    k_ptr: Tensor | Sequence[int] | None = None, eps: float = 1e-06
) -> Tensor: ...

def polynomial_attention(
    q: Tensor, k: Tensor, v: Tensor, degree: int, scale: float, causal: bool = False,
    q_ptr: Tensor | Sequence[int] | None = None, k_ptr: Tensor | Sequence[int] | None = None, center: bool = False
) -> Tensor: ...

def primal_attention(
    q: Tensor, k: Tensor, v: Tensor, beta: Tensor | None = None, pool: Sequence[int] | None = None,
    kernel: str = 'softmax', eps: float = 1e-06, q_ptr: Tensor | Sequence[int] | None = None,
    k_ptr: Tensor | Sequence[int] | None = None, mask_rowptr: Tensor | None = None, mask_col: Tensor | None = None,
    scale: float | None = None
) -> Tensor: ...

def random_walk_pe(rowptr: Tensor, col: Tensor, steps: int, weight: Tensor | None = None) -> Tensor: ...

def sample_pairs(
    score: Tensor, k: int, ptr: Tensor | Sequence[int] | None = None, noise: bool = False, random_partner: bool = False,
    tau: float = 1.0, generator: Generator | None = None, seeds: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor, Tensor]: ...

def sequence_attention(
    q: Tensor, k: Tensor, v: Tensor, leak: Tensor, s: Tensor, ss: Tensor, w_mul: Tensor, b_mul: Tensor, w_add: Tensor,
    b_add: Tensor, q_ptr: Tensor | Sequence[int] | None = None, k_ptr: Tensor | Sequence[int] | None = None,
    eps: float = 1e-06
) -> Tensor: ...

def softmax_pool(x: Tensor, u: Tensor, ptr: Tensor | Sequence[int] | None = None) -> Tensor: ...
