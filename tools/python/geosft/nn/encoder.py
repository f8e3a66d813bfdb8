# SPDX-License-Identifier: Apache-2.0
"""Transformer layers, and stacks of them (SFT section 4.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch import Tensor, nn

from .attention import SamplingAttention
from .packed import PackedLayout, pack
from .relative import GraphEncoding, tensors_of
from .sampling import SamplingContext, context_of


def _packed_with(x: Tensor, relative, dim: int, ptr, mask: Tensor | None):
    """The packed tokens, the encoding of packed tokens, the layout, and the way back."""
    (x, *encoded), layout, unpacked = pack([x, *tensors_of(relative)], dim, ptr, mask, "x")
    if relative is not None and not isinstance(relative, GraphEncoding):
        relative = type(relative)(*encoded)
    return x, relative, layout, unpacked


class TransformerLayer(nn.Module):
    r"""Attention and feed-forward, each with a residual connection and a norm.

    Args:
        dim, num_heads, num_samples: of :class:`SamplingAttention`.
        norm_first: x + attention(norm(x)) instead of norm(x + attention(x)), and likewise for the feed-forward.
        mlp_ratio: hidden channels of the feed-forward (GELU) over dim.
        dropout: of the embeddings, after attention and after feed-forward.
        mlp_dropout: after the expansion of the feed-forward.
        attention: a module called as :class:`SamplingAttention` is, in its place; or a function without arguments that
            makes one, of which each layer of an :class:`Encoder` has its own.
        device, dtype: of the parameters.
        options: further options of SamplingAttention, by name: relative, relative_channels, …
    """

    def __init__(
        self, dim: int, num_heads: int = 4, num_samples: int = 32, *, norm_first: bool = False, mlp_ratio: int = 4,
        dropout: float = 0.0, mlp_dropout: float = 0.0, attention: nn.Module | Callable[[], nn.Module] | None = None, device=None, dtype=None,
        **options
    ):
        super().__init__()
        made = {"device": device, "dtype": dtype}
        if attention is not None and options:
            raise TypeError(f"options of SamplingAttention have no use beside attention: {', '.join(options)}")
        self.dim, self.norm_first = dim, norm_first
        if attention is not None and not isinstance(attention, nn.Module):
            attention = attention()
        self.attention = attention or SamplingAttention(dim, num_heads, num_samples, **made, **options)
        self.norm1, self.norm2 = nn.LayerNorm(dim, **made), nn.LayerNorm(dim, **made)
        self.expand = nn.Linear(dim, mlp_ratio * dim, **made)
        self.contract = nn.Linear(mlp_ratio * dim, dim, **made)
        self.dropout, self.mlp_dropout = nn.Dropout(dropout), nn.Dropout(mlp_dropout)

    def forward(
        self, x: Tensor, relative=None, ptr: Tensor | Sequence[int] | PackedLayout | None = None, *,
        mask: Tensor | None = None, sampling: SamplingContext | None = None
    ) -> Tensor:
        """x [N, dim] packed by ptr, or [B, N, dim] with a mask: the same shape. See :class:`SamplingAttention`."""
        x, relative, layout, unpacked = _packed_with(x, relative, self.dim, ptr, mask)
        sampling = context_of(self, sampling)
        mixed = self.attention(self.norm1(x) if self.norm_first else x, relative, layout, sampling=sampling)
        x = x + self.dropout(mixed)
        if not self.norm_first:
            x = self.norm1(x)
        hidden = self.mlp_dropout(nn.functional.gelu(self.expand(self.norm2(x) if self.norm_first else x)))
        x = x + self.dropout(self.contract(hidden))
        return unpacked.restore(x if self.norm_first else self.norm2(x))


class Encoder(nn.Module):
    r"""A stack of `depth` layers. With norm_first a last norm follows, since the residual stream is not normalised.

    Args:
        dim, num_heads, num_samples: of each :class:`TransformerLayer`.
        depth: layers, at least 1.
        device, dtype: of the parameters.
        options: further options of the layers, by name.
    """

    def __init__(
        self, dim: int, num_heads: int = 4, num_samples: int = 32, *, depth: int = 3, norm_first: bool = False,
        device=None, dtype=None, **options
    ):
        super().__init__()
        if depth < 1:
            raise ValueError(f"depth must be at least 1, got {depth}")
        made = {"device": device, "dtype": dtype}
        self.dim = dim
        self.layers = nn.ModuleList(
            TransformerLayer(dim, num_heads, num_samples, norm_first=norm_first, **made, **options) for _ in range(depth)
        )
        self.norm = nn.LayerNorm(dim, **made) if norm_first else None

    def forward(
        self, x: Tensor, relative=None, ptr: Tensor | Sequence[int] | PackedLayout | None = None, *,
        mask: Tensor | None = None, sampling: SamplingContext | None = None
    ) -> Tensor:
        """x [N, dim] packed by ptr, or [B, N, dim] with a mask: the same shape. See :class:`SamplingAttention`."""
        x, relative, layout, unpacked = _packed_with(x, relative, self.dim, ptr, mask)
        sampling = context_of(self, sampling)
        for layer in self.layers:
            x = layer(x, relative, layout, sampling=sampling)
        return unpacked.restore(x if self.norm is None else self.norm(x))
