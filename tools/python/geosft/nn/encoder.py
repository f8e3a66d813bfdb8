# SPDX-License-Identifier: Apache-2.0
"""Transformer layers, and stacks of them (SFT section 4.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from .attention import SamplingAttention
from .._tensors import check_flags, check_integers
from .checks import check_options, check_points, check_probability, check_sizes, factory_kwargs
from .message_passing import LOCALS, EdgeIndex, LocalGraph, MessagePassing, VirtualNode, normalized
from .message_passing import normalization as norm_of
from .packed import PackedLayout, pack
from .relative import GraphEncoding, names_of, tensors_of
from .sampling import Sampler, SamplingContext, context_of

_JUMPING = ("none", "concatenate", "max", "sum")


def _packed_with(x: Tensor, relative, dim: int, ptr, mask: Tensor | None, like: Tensor):
    """The packed tokens, the encoding of packed tokens, the layout, and the way back."""
    (x, *encoded), layout, unpacked = pack([x, *tensors_of(relative)], dim, ptr, mask, "x", like, names_of(relative))
    if relative is not None and not isinstance(relative, GraphEncoding):
        relative = type(relative)(*encoded)
    if not isinstance(ptr, PackedLayout):
        check_points(relative, layout)
    return x, relative, layout, unpacked


class TransformerLayer(nn.Module):
    r"""Attention and feed-forward, each with a residual connection and a norm.

    Args:
        dim, num_heads, num_samples: of :class:`SamplingAttention`.
        norm_first: x + attention(norm(x)) instead of norm(x + attention(x)), and likewise for the feed-forward.
        mlp_ratio: hidden channels of the feed-forward (GELU) over dim; 0: no feed-forward.
        dropout: of the embeddings, after attention and after feed-forward.
        mlp_dropout: after the expansion of the feed-forward.
        normalization: "layer", "batch" (over the rows of all items) or "none".
        residual: the residual connection of attention and of the convolution.
        local: a convolution along the edges beside attention: "gcn", "gine", "gated_gcn", or "none".
        edge_channels, updates_edges: of :class:`MessagePassing`.
        attention: a module in the place of :class:`SamplingAttention`, called as ``attention(x, relative, ptr, sampling=…)`` with packed x
            [N, dim] and a PackedLayout `ptr` (``ptr.pointers(device)`` are the offsets); a function without arguments that
            makes one, of which each layer of an :class:`Encoder` has its own; or "none": the convolution alone.
        device, dtype: of the parameters.
        options: further options of SamplingAttention, by name: relative, relative_channels, …

    Raises a ValueError or TypeError that names the argument.
    """

    def __init__(
        self, dim: int, num_heads: int = 4, num_samples: int = 32, *, norm_first: bool = False, mlp_ratio: int = 4,
        dropout: float = 0.0, mlp_dropout: float = 0.0, normalization: str = "layer", residual: bool = True, local: str = "none",
        edge_channels: int = 0, updates_edges: bool = False, attention: nn.Module | Callable[[], nn.Module] | str | None = None,
        device=None, dtype=None, **options
    ):
        super().__init__()
        check_options(self, options, SamplingAttention, Sampler)
        made = factory_kwargs(device, dtype)
        check_sizes(dim=dim)
        check_integers(num_heads=num_heads)
        check_integers(num_samples=num_samples)
        check_sizes(0, mlp_ratio=mlp_ratio)
        check_sizes(0, mlp_ratio=mlp_ratio * dim)
        check_probability("dropout", dropout)
        check_probability("mlp_dropout", mlp_dropout)
        check_flags(norm_first=norm_first, residual=residual, updates_edges=updates_edges)
        if local not in LOCALS:
            raise ValueError(f"local must be one of {', '.join(LOCALS)}, not {local!r}")
        if attention is not None and options:
            raise TypeError(f"options of SamplingAttention have no use beside attention: {', '.join(options)}")
        if attention == "none" and local == "none":
            raise ValueError("local must be a convolution with attention='none', got 'none'")
        self.dim, self.norm_first, self.residual = dim, norm_first, residual
        if attention is not None and attention != "none" and not isinstance(attention, nn.Module):
            if not callable(attention) or isinstance(attention, type):
                raise TypeError(f"attention must be a module, a function without arguments that makes one, or 'none', got {attention!r}")
            attention = attention()
            if not isinstance(attention, nn.Module):
                raise TypeError(f"attention must be a function that makes a module, got one that makes {type(attention).__name__}")
        self.attention = self.norm1 = self.local = self.local_norm = self.norm2 = None
        if attention != "none":
            self.attention = attention or SamplingAttention(dim, num_heads, num_samples, **made, **options)
            self.norm1 = norm_of(normalization, dim, made)
        if local != "none":
            self.local = MessagePassing(dim, local, edge_channels, updates_edges=updates_edges, norm=normalization, **made)
            self.local_norm = norm_of(normalization, dim, made)
        self.expand = self.contract = None
        if mlp_ratio > 0:
            self.norm2 = norm_of(normalization, dim, made)
            self.expand = nn.Linear(dim, mlp_ratio * dim, **made)
            self.contract = nn.Linear(mlp_ratio * dim, dim, **made)
        self.dropout, self.mlp_dropout = nn.Dropout(dropout), nn.Dropout(mlp_dropout)

    def forward(
        self, x: Tensor, relative=None, ptr: Tensor | Sequence[int] | PackedLayout | None = None, *,
        mask: Tensor | None = None, sampling: SamplingContext | None = None, graph: LocalGraph | None = None
    ) -> Tensor:
        """x [N, dim] packed by ptr int64 [B + 1], or [B, N, dim] with a mask, bool [B, N]: the same shape. `relative` and
        `sampling` are those of :class:`SamplingAttention`. A convolution needs `graph`, whose nodes are the packed rows of x: of [B, N, dim]
        those of one item after the other."""
        x, relative, layout, unpacked = _packed_with(x, relative, self.dim, ptr, mask, next(self.parameters()))
        if (graph is not None) != (self.local is not None):
            raise ValueError(f"graph must be given exactly when the layer has a convolution, got {type(graph).__name__}")
        x = self._mix(x, relative, layout, context_of(self, sampling), graph)
        if self.expand is None:
            return unpacked.restore(x)
        inner = normalized(self.norm2, x) if self.norm_first else x
        hidden = self.mlp_dropout(nn.functional.gelu(self.expand(inner)))
        x = x + self.dropout(self.contract(hidden))
        return unpacked.restore(x if self.norm_first else normalized(self.norm2, x))

    def _mix(self, x: Tensor, relative, layout: PackedLayout, sampling: SamplingContext, graph: LocalGraph | None) -> Tensor:
        def on_top(branch):
            return x + branch if self.residual else branch

        local = None
        if self.local is not None:
            local = self.local(normalized(self.local_norm, x) if self.norm_first else x, graph)
        if self.attention is None:
            return on_top(self.dropout(nn.functional.gelu(local if self.norm_first else normalized(self.local_norm, local))))
        if local is not None:
            local = self.dropout(local)
            if not self.norm_first:
                local = normalized(self.local_norm, on_top(local))
        mixed = self.attention(normalized(self.norm1, x) if self.norm_first else x, relative, layout, sampling=sampling)
        mixed = on_top(self.dropout(mixed))
        if not self.norm_first:
            mixed = normalized(self.norm1, mixed)
        return mixed if local is None else mixed + local


class Encoder(nn.Module):
    r"""A stack of `depth` layers. With norm_first a last norm follows, since the residual stream is not normalised.

    Args:
        dim, num_heads, num_samples: of each :class:`TransformerLayer`.
        depth: layers, at least 1.
        norm_first, normalization: of the layers, and of the last norm.
        jumping_knowledge: tokens are those of the last layer ("none"), or of all layers: "concatenate" (with a linear map to
            dim), "max" or "sum" (Xu et al., 2018).
        virtual_node: one more node per item.
        device, dtype: of the parameters.
        options: further options of the layers, by name.

    Raises a ValueError or TypeError that names the argument.
    """

    def __init__(
        self, dim: int, num_heads: int = 4, num_samples: int = 32, *, depth: int = 3, norm_first: bool = False,
        normalization: str = "layer", jumping_knowledge: str = "none", virtual_node: bool = False, device=None, dtype=None, **options
    ):
        super().__init__()
        check_options(self, options, TransformerLayer, SamplingAttention, Sampler, without=("updates_edges",))
        check_sizes(depth=depth)
        check_flags(norm_first=norm_first, virtual_node=virtual_node)
        if jumping_knowledge not in _JUMPING:
            raise ValueError(f"jumping_knowledge must be one of {', '.join(_JUMPING)}, not {jumping_knowledge!r}")
        made = factory_kwargs(device, dtype)
        self.dim, self.jumping_knowledge = dim, jumping_knowledge
        self.layers = nn.ModuleList(
            TransformerLayer(dim, num_heads, num_samples, norm_first=norm_first, normalization=normalization, updates_edges=layer + 1 < depth,
                             **made, **options) for layer in range(depth)
        )
        self.virtual_node = VirtualNode(dim, normalization, made) if virtual_node else None
        self.jump = nn.Linear(depth * dim, dim, **made) if jumping_knowledge == "concatenate" else None
        self.norm = norm_of(normalization, dim, made) if norm_first else None

    def forward(
        self, x: Tensor, relative=None, ptr: Tensor | Sequence[int] | PackedLayout | None = None, *,
        mask: Tensor | None = None, sampling: SamplingContext | None = None, graph: LocalGraph | None = None
    ) -> Tensor:
        """x [N, dim] packed by ptr int64 [B + 1], or [B, N, dim] with a mask, bool [B, N]: the same shape. `relative`,
        `sampling` and `graph` are those of :class:`TransformerLayer`."""
        x, relative, layout, unpacked = _packed_with(x, relative, self.dim, ptr, mask, next(self.parameters()))
        sampling = context_of(self, sampling)
        if graph is not None and not isinstance(graph, LocalGraph):
            raise TypeError(f"graph must be a LocalGraph, got {type(graph).__name__}")
        graph = None if graph is None else graph.copy()
        if self.virtual_node is not None:
            of_items = EdgeIndex.of_items(layout, x.device)
            state = self.virtual_node.start(layout.items)
        outputs = []
        for place, layer in enumerate(self.layers):
            if self.virtual_node is not None:
                x = self.virtual_node.read(x, state, of_items)
            x = layer(x, relative, layout, sampling=sampling, graph=graph)
            outputs.append(x)
            if self.virtual_node is not None and place + 1 < len(self.layers):
                state = self.virtual_node.write(x, state, of_items)
        return unpacked.restore(normalized(self.norm, self._joined(outputs)))

    def _joined(self, outputs: list[Tensor]) -> Tensor:
        if self.jumping_knowledge == "none":
            return outputs[-1]
        if self.jumping_knowledge == "concatenate":
            return self.jump(torch.cat(outputs, 1)).to(outputs[-1].dtype)
        joined = outputs[0]
        for one in outputs[1:]:
            joined = torch.maximum(joined, one) if self.jumping_knowledge == "max" else joined + one
        return joined
