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

    def __init__(self, dim: int, out_features: int, *, device=None, dtype=None):
        super().__init__()
        self.dim = dim
        self.u = nn.Parameter(torch.randn(dim, device=device, dtype=dtype) / math.sqrt(dim))
        self.linear = nn.Linear(dim, out_features, device=device, dtype=dtype)

    def forward(self, x: Tensor, ptr: Tensor | Sequence[int] | PackedLayout | None = None) -> Tensor:
        (x,), layout, _ = pack([x], self.dim, ptr, None, "x")
        return self.linear(torch.ops.geosft.softmax_pool(x, self.u.to(x.dtype), layout.ptr))
