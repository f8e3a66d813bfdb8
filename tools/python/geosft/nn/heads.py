# SPDX-License-Identifier: Apache-2.0
"""Heads map tokens, packed by ptr or dense with a mask, to predictions, one per item (SFT section 5)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from .checks import check_like, check_options, check_probability, check_sizes, factory_kwargs
from .message_passing import EdgeIndex, edge_sum
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
    return edge_sum(x, EdgeIndex.of_items(layout, x.device))


def softmax_pool(x: Tensor, u: Tensor, layout: PackedLayout) -> Tensor:
    """The mean of the rows x [N, d] of each item of `layout` with weights softmax(x u), u [d]: [B, d]."""
    return torch.ops.geosft.softmax_pool(x, u.to(x.dtype), layout.ptr)


def projection_of(dim: int, made: dict) -> nn.Parameter:
    """Of softmax pooling."""
    return nn.Parameter(torch.randn(dim, **made) / math.sqrt(dim))


class Mlp(nn.Module):
    """layers - 1 times a linear map to `hidden` channels with GELU and dropout, then a linear map: [n, inputs] -> [n,
    out_features]."""

    def __init__(self, inputs: int, hidden: int, out_features: int, layers: int, dropout: float = 0.0, *, device=None, dtype=None):
        super().__init__()
        check_sizes(layers=layers, hidden=hidden, out_features=out_features)
        check_probability("dropout", dropout)
        self.linears = nn.ModuleList(
            nn.Linear(inputs if i == 0 else hidden, out_features if i + 1 == layers else hidden, device=device, dtype=dtype) for i in range(layers))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        for i, linear in enumerate(self.linears):
            x = linear(self.dropout(nn.functional.gelu(x) if i > 0 else x))
        return x


class PooledHead(nn.Module):
    """Pooled tokens of each item, with given features of the item, then an MLP: [N, dim] and graph_features [B, F] -> [B,
    out_features].

    Args:
        dim, out_features: channels.
        pooling: "softmax_pool", "sample_max", "sum", "mean" or "max".
        layers: of the MLP, whose hidden layers have `dim` channels.
        graph_features: F.
        dropout: of the input of every layer of the MLP.
        num_samples, sampler: for "sample_max": sampled pairs of an item, and options of :class:`Sampler`, by name.
        device, dtype: of the parameters.

    Raises a ValueError that names the argument.
    """

    pool = staticmethod(softmax_pool)

    def __init__(
        self, dim: int, out_features: int, pooling: str = "softmax_pool", layers: int = 1, graph_features: int = 0, *, dropout: float = 0.0,
        num_samples: int = 64, device=None, dtype=None, **sampler
    ):
        super().__init__()
        check_options(self, sampler, Sampler)
        if pooling not in ("softmax_pool", "sample_max", "sum", "mean", "max"):
            raise ValueError(f"pooling must be one of softmax_pool, sample_max, sum, mean, max, not {pooling!r}")
        check_sizes(dim=dim, out_features=out_features, layers=layers)
        check_sizes(0, graph_features=graph_features)
        made = factory_kwargs(device, dtype)
        self.dim, self.pooling, self.graph_features = dim, pooling, graph_features
        if pooling == "softmax_pool":
            self.u = projection_of(dim, made)
        if pooling == "sample_max":
            self.sampler = Sampler(dim, num_samples, **made, **sampler)
        self.mlp = Mlp(dim + graph_features, dim, out_features, layers, dropout, **made)

    def forward(
        self, x: Tensor, ptr: Tensor | Sequence[int] | PackedLayout | None = None, graph_features: Tensor | None = None, *,
        mask: Tensor | None = None, sampling: SamplingContext | None = None
    ) -> Tensor:
        """x [N, dim] packed by ptr int64 [B + 1], or [B, N, dim] with a mask, bool [B, N]; graph_features [B, F] of the same
        dtype, and the random numbers `sampling` of a sample: [B, out_features]."""
        (x,), layout, _ = pack([x], self.dim, ptr, mask, "x", self.mlp.linears[0].weight)
        pooled = self._pooled(x, layout, context_of(self, sampling))
        if self.graph_features > 0:
            check_like(graph_features, "graph_features", pooled, "x")
            if graph_features.shape != (layout.items, self.graph_features):
                raise ValueError(f"graph_features must be [{layout.items}, {self.graph_features}], got {list(graph_features.shape)}")
            pooled = torch.cat((pooled, graph_features.to(pooled.dtype)), 1)
        return self.mlp(pooled)

    def _pooled(self, x: Tensor, layout: PackedLayout, sampling: SamplingContext) -> Tensor:
        if self.pooling == "softmax_pool":
            return self.pool(x, self.u, layout)
        if self.pooling == "max":
            return max_pool(x, layout)
        if self.pooling == "sample_max":
            pairs = self.sampler(x, layout, sampling=sampling)
            return max_pool(pairs.sample(x), pairs.layout)
        sums = edge_sum(x, EdgeIndex.of_items(layout, x.device))
        if self.pooling == "sum":
            return sums
        return sums / layout.pointers(x.device).diff().clamp_min(1).unsqueeze(1).to(sums.dtype)


class SampleMaxHead(nn.Module):
    """A sample of the tokens, their maximum, dropout, a linear map: [N, dim] -> [B, out_features].

    Args:
        dim, out_features: channels.
        num_samples: sampled pairs of an item.
        dropout: of the pooled features.
        device, dtype: of the parameters.
        sampler: options of :class:`Sampler`, by name: tau, weighting, hard, with_replacement, noise.

    Raises a ValueError that names the argument.
    """

    def __init__(
        self, dim: int, out_features: int, num_samples: int = 512, *, dropout: float = 0.0, device=None, dtype=None,
        **sampler
    ):
        super().__init__()
        check_options(self, sampler, Sampler)
        check_sizes(dim=dim, out_features=out_features)
        check_probability("dropout", dropout)
        self.dim = dim
        self.sampler = Sampler(dim, num_samples, device=device, dtype=dtype, **sampler)
        self.dropout = nn.Dropout(dropout)
        self.linear = nn.Linear(dim, out_features, **factory_kwargs(device, dtype))

    def forward(
        self, x: Tensor, ptr: Tensor | Sequence[int] | PackedLayout | None = None, *,
        mask: Tensor | None = None, sampling: SamplingContext | None = None
    ) -> Tensor:
        """x [N, dim] packed by ptr int64 [B + 1], or [B, N, dim] with a mask, bool [B, N]; and the random numbers `sampling` of
        the pass: [B, out_features]."""
        (x,), layout, _ = pack([x], self.dim, ptr, mask, "x", self.linear.weight)
        pairs = self.sampler(x, layout, sampling=context_of(self, sampling))
        return self.linear(self.dropout(max_pool(pairs.sample(x), pairs.layout)))


class _LinearHead(nn.Module):
    """A head that ends with a linear map."""

    def __init__(self, dim: int, out_features: int, *, device=None, dtype=None):
        super().__init__()
        check_sizes(dim=dim, out_features=out_features)
        self.dim = dim
        made = factory_kwargs(device, dtype)
        self._add_parameters(dim, made)
        self.linear = nn.Linear(dim, out_features, **made)

    def _add_parameters(self, dim: int, made: dict) -> None:
        """Adds those in front of the linear map."""


class _WeightedHead(_LinearHead):
    """A head with a learned vector u, by which the softmax weighs the tokens."""

    pool = staticmethod(softmax_pool)

    def _add_parameters(self, dim: int, made: dict) -> None:
        self.u = projection_of(dim, made)

    def _pooled(self, x: Tensor, ptr: Tensor | Sequence[int] | PackedLayout | None, mask: Tensor | None) -> tuple[Tensor, PackedLayout]:
        """The weighted mean of each item, and the layout."""
        (x,), layout, _ = pack([x], self.dim, ptr, mask, "x", self.linear.weight)
        return self.pool(x, self.u, layout), layout


class SoftmaxPoolHead(_WeightedHead):
    """The mean of the tokens with softmax weights, a linear map: [N, dim] -> [B, out_features].

    Args:
        dim, out_features: channels.
        device, dtype: of the parameters.

    Raises a ValueError that names the argument.
    """

    def forward(
        self, x: Tensor, ptr: Tensor | Sequence[int] | PackedLayout | None = None, *, mask: Tensor | None = None
    ) -> Tensor:
        """x [N, dim] packed by ptr int64 [B + 1], or [B, N, dim] with a mask, bool [B, N]: [B, out_features]."""
        return self.linear(self._pooled(x, ptr, mask)[0])


class PairHead(_WeightedHead):
    """Whether two items belong together (dual encoder of the Long Range Arena): softmax-weighted means a and b of each, a
    hidden layer of (a, b, a b, a - b) with ReLU, a linear map. Items 2 i and 2 i + 1 are pair i.

    Args:
        dim, out_features: channels.
        device, dtype: of the parameters.

    Raises a ValueError that names the argument.
    """

    def _add_parameters(self, dim: int, made: dict) -> None:
        super()._add_parameters(dim, made)
        self.hidden = nn.Linear(4 * dim, dim, **made)

    def forward(
        self, x: Tensor, ptr: Tensor | Sequence[int] | PackedLayout | None = None, *, mask: Tensor | None = None
    ) -> Tensor:
        """x [N, dim] packed by ptr int64 [2 B + 1], or [2 B, N, dim] with a mask, bool [2 B, N]: [B, out_features]."""
        means, layout = self._pooled(x, ptr, mask)
        if layout.items % 2 != 0:
            raise ValueError(f"ptr must have items in pairs, got {layout.items} items")
        a, b = means.view(-1, 2, self.dim).unbind(1)
        return self.linear(torch.relu(self.hidden(torch.cat((a, b, a * b, a - b), 1))))


class SumHead(_LinearHead):
    """Additive quantities such as energies: a linear map of every token, summed over each item.

    Args:
        dim, out_features: channels.
        device, dtype: of the parameters.

    Raises a ValueError that names the argument.
    """

    def forward(
        self, x: Tensor, ptr: Tensor | Sequence[int] | PackedLayout | None = None, *, mask: Tensor | None = None
    ) -> Tensor:
        """x [N, dim] packed by ptr int64 [B + 1], or [B, N, dim] with a mask, bool [B, N]: [B, out_features]."""
        (x,), layout, _ = pack([x], self.dim, ptr, mask, "x", self.linear.weight)
        return sum_pool(self.linear(x), layout)


class TokenHead(_LinearHead):
    """A prediction per token.

    Args:
        dim, out_features: channels.
        device, dtype: of the parameters.

    Raises a ValueError that names the argument.
    """

    def forward(self, x: Tensor, *, mask: Tensor | None = None) -> Tensor:
        """x [N, dim]: [N, out_features]; or [B, N, dim] with a mask, bool [B, N]: [B, N, out_features], zeros where the mask is
        False."""
        check_like(x, "x", self.linear.weight)
        if x.dim() < 1 or x.shape[-1] != self.linear.in_features:
            raise ValueError(f"x must have shape [N, {self.linear.in_features}], got {list(x.shape)}")
        if mask is None:
            return self.linear(x)
        (rows,), _, unpacked = pack([x], self.dim, None, mask, "x")
        return unpacked.restore(self.linear(rows))
