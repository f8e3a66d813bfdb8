# SPDX-License-Identifier: Apache-2.0
"""Heads map tokens [N, dim] packed by ptr to predictions, one per item (SFT section 5)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from .packed import PackedLayout, pack
from .sampling import Sampler, SamplingContext, context_of


def max_pool(x: Tensor, layout: PackedLayout) -> Tensor:
    """The maximum of each channel over the rows of each item: [B, d], 0 for an empty item."""
    equal = layout.rows if layout.ptr is None else layout.equal
    if equal is not None and layout.rows > 0:
        return x.view(layout.items, equal, x.shape[1]).max(1).values
    index = layout.item_of_row(x.device).unsqueeze(1).expand_as(x)
    return x.new_zeros(layout.items, x.shape[1]).scatter_reduce(0, index, x, "amax", include_self=False)


def sum_pool(x: Tensor, layout: PackedLayout) -> Tensor:
    """The sum of the rows of each item: [B, d]."""
    sizes = layout.sizes()
    if sizes:
        return torch.stack([rows.sum(0) for rows in x.split(sizes)])
    return x.new_zeros(layout.items, x.shape[1]).index_add(0, layout.item_of_row(x.device), x)


def softmax_pool(x: Tensor, u: Tensor, layout: PackedLayout) -> Tensor:
    """The mean of the rows of each item with weights softmax(x u): [B, d]."""
    return torch.ops.geosft.softmax_pool(x, u.to(x.dtype), layout.ptr)


class SampleMaxHead(nn.Module):
    """A sample of the tokens, their maximum, dropout, a linear map: [N, dim] -> [B, out_features]."""

    def __init__(
        self, dim: int, out_features: int, num_samples: int = 512, *, dropout: float = 0.0, device=None, dtype=None,
        **sampler
    ):
        super().__init__()
        self.sampler = Sampler(dim, num_samples, device=device, dtype=dtype, **sampler)
        self.dropout = nn.Dropout(dropout)
        self.linear = nn.Linear(dim, out_features, device=device, dtype=dtype)

    def forward(
        self, x: Tensor, ptr: Tensor | Sequence[int] | PackedLayout | None = None, *,
        sampling: SamplingContext | None = None
    ) -> Tensor:
        pairs = self.sampler(x, ptr, sampling=context_of(self, sampling))
        return self.linear(self.dropout(max_pool(pairs.sample(x), pairs.layout)))


class SoftmaxPoolHead(nn.Module):
    """The mean of the tokens with softmax weights, a linear map: [N, dim] -> [B, out_features]."""

    pool = staticmethod(softmax_pool)

    def __init__(self, dim: int, out_features: int, *, device=None, dtype=None):
        super().__init__()
        self.dim = dim
        self.u = nn.Parameter(torch.randn(dim, device=device, dtype=dtype) / math.sqrt(dim))
        self.linear = nn.Linear(dim, out_features, device=device, dtype=dtype)

    def forward(self, x: Tensor, ptr: Tensor | Sequence[int] | PackedLayout | None = None) -> Tensor:
        (x,), layout, _ = pack([x], self.dim, ptr, None, "x")
        return self.linear(self.pool(x, self.u, layout))


class PairHead(nn.Module):
    """Whether two items belong together (dual encoder of the Long Range Arena): softmax-weighted means a and b of each, a
    hidden layer of (a, b, a b, a - b) with ReLU, a linear map. Items 2 i and 2 i + 1 are pair i: [N, dim] packed by ptr
    [2 B + 1] -> [B, out_features]."""

    pool = staticmethod(softmax_pool)

    def __init__(self, dim: int, out_features: int, *, device=None, dtype=None):
        super().__init__()
        self.dim = dim
        self.u = nn.Parameter(torch.randn(dim, device=device, dtype=dtype) / math.sqrt(dim))
        self.hidden = nn.Linear(4 * dim, dim, device=device, dtype=dtype)
        self.linear = nn.Linear(dim, out_features, device=device, dtype=dtype)

    def forward(self, x: Tensor, ptr: Tensor | Sequence[int] | PackedLayout) -> Tensor:
        (x,), layout, _ = pack([x], self.dim, ptr, None, "x")
        if layout.items % 2 != 0:
            raise ValueError(f"ptr must have items in pairs, got {layout.items} items")
        a, b = self.pool(x, self.u, layout).view(-1, 2, self.dim).unbind(1)
        return self.linear(torch.relu(self.hidden(torch.cat((a, b, a * b, a - b), 1))))


class SumHead(nn.Module):
    """Additive quantities such as energies: a linear map of every token, summed over each item: [N, dim] -> [B,
    out_features]."""

    def __init__(self, dim: int, out_features: int, *, device=None, dtype=None):
        super().__init__()
        self.dim = dim
        self.linear = nn.Linear(dim, out_features, device=device, dtype=dtype)

    def forward(self, x: Tensor, ptr: Tensor | Sequence[int] | PackedLayout | None = None) -> Tensor:
        (x,), layout, _ = pack([x], self.dim, ptr, None, "x")
        return sum_pool(self.linear(x), layout)


class TokenHead(nn.Module):
    """A prediction per token: [N, dim] -> [N, out_features]."""

    def __init__(self, dim: int, out_features: int, *, device=None, dtype=None):
        super().__init__()
        self.linear = nn.Linear(dim, out_features, device=device, dtype=dtype)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(x)
