# SPDX-License-Identifier: Apache-2.0
"""Graph convolutions beside attention or without it, the virtual node, and batch normalisation of packed rows (Rampasek et
al., "Recipe for a general, powerful, scalable graph transformer", 2022)."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu

from .._tensors import check_flags, check_numbers, not_a_tensor
from .checks import cast_like, check_eps, check_like, check_sizes, factory_kwargs
from .packed import PackedLayout, segment_of

_ops = torch.ops.geosft
LOCALS, NORMALIZATIONS = ("none", "gcn", "gine", "gated_gcn"), ("layer", "batch", "none")
_GATE_EPS = 1e-6


def _check_index(**indices: Tensor) -> None:
    """Indices by name: int64 of one dimension, on one device."""
    device = None
    for name, index in indices.items():
        if not isinstance(index, Tensor):
            raise not_a_tensor(name, index)
        if index.dtype != torch.int64 or index.dim() != 1 or index.layout != torch.strided:
            raise ValueError(f"{name} must be int64 of one dimension, got {index.dtype} {list(index.shape)}")
        device = device or index.device
        if index.device != device or index.is_meta:
            raise ValueError(f"{name} must be on one device with the other indices, {device}, and have values, got {index.device}")


def check_values(name: str, index: Tensor, rows: int) -> None:
    """Of a CPU tensor, where they can be read: from 0 to rows - 1."""
    if index.device.type != "cpu" or torch.compiler.is_compiling() or index.numel() == 0:
        return
    if int(index.min()) < 0 or int(index.max()) >= rows:
        raise ValueError(f"{name} must lie in [0, {rows}), got {int(index.min())} to {int(index.max())}")


def check_offsets(name: str, offsets: Tensor, edges: int) -> None:
    """Of edges in CSR: not empty and, where values can be read, from 0 to the number of edges."""
    if offsets.shape[0] == 0:
        raise ValueError(f"{name} must have one entry more than there are rows, got none")
    if offsets.device.type != "cpu" or torch.compiler.is_compiling():
        return
    if int(offsets[0]) != 0 or int(offsets[-1]) != edges or bool((offsets[1:] < offsets[:-1]).any()):
        raise ValueError(f"{name} must rise from 0 to the number of edges, {edges}, got {offsets[:8].tolist()}")


class EdgeIndex(NamedTuple):
    """Edges between R rows, which receive, and C columns, which send.

    Attributes:
        rowptr, col: int64 [R + 1] and [E], the edges in CSR: those of row i are rowptr[i] … rowptr[i + 1] - 1, from col.
        row: int64 [E], the row of each edge.
        colptr, order: int64 [C + 1] and [E], the same edges by column.
    """

    rowptr: Tensor
    col: Tensor
    row: Tensor
    colptr: Tensor
    order: Tensor

    @staticmethod
    def of(rowptr: Tensor, col: Tensor, columns: int) -> EdgeIndex:
        """The edges of a graph in CSR: `rowptr` int64 [R + 1] and `col` int64 [E], of `columns` nodes that send. Raises a
        ValueError that names the argument for other types, and for values on the CPU that are not edges of such a graph."""
        _check_index(rowptr=rowptr, col=col)
        check_sizes(0, columns=columns)
        check_offsets("rowptr", rowptr, col.shape[0])
        check_values("col", col, columns)
        count = torch.zeros(columns, dtype=torch.int64, device=col.device).index_add(0, col, torch.ones_like(col))
        colptr = nn.functional.pad(count.cumsum(0), (1, 0))
        return EdgeIndex(rowptr, col, segment_of(rowptr, col.shape[0], col.device), colptr, col.sort(stable=True).indices)

    @staticmethod
    def of_items(layout: PackedLayout, device: torch.device) -> EdgeIndex:
        """The edges from packed items to their rows, for the items of `layout` on `device`: sums over them are sums over the
        rows of each item."""
        rows = torch.arange(layout.rows, device=device)
        return EdgeIndex(layout.pointers(device), rows, layout.item_of_row(device), torch.arange(layout.rows + 1, device=device), rows)

    def transposed(self) -> EdgeIndex:
        """Of edges of items: sums over them copy the row of an item to its rows."""
        return EdgeIndex(self.colptr, self.row, self.col, self.rowptr, self.order)


class _EdgeSum(torch.autograd.Function):
    """The kernel of models/ops/edge_sum.h."""

    @staticmethod
    def forward(context, x, edge, scale, relu, *index):
        context.relu = relu
        context.save_for_backward(x, edge, scale, *index)
        index = EdgeIndex(*index)
        return _ops._edge_sum_forward(x, edge, scale, index.rowptr, index.col, relu)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(context, grad):
        x, edge, scale, *index = context.saved_tensors
        index = EdgeIndex(*index)
        x_grad, edge_grad = _ops._edge_sum_backward(grad.contiguous(), x, edge, scale, index.row, index.colptr, index.order, context.relu)
        scale_grad = None
        if context.needs_input_grad[2]:
            computed = torch.promote_types(x.dtype, torch.float32)
            message = x[index.col].to(computed) if edge is None else x[index.col].to(computed) + edge
            scale_grad = (grad[index.row].to(computed) * (message.relu() if context.relu else message)).sum(1).to(scale.dtype)
        return x_grad, None if edge is None else edge_grad, scale_grad, None, *[None] * 5


class _GatedEdgeSum(torch.autograd.Function):
    """The kernel of models/ops/gated_edge_sum.h."""

    @staticmethod
    def forward(context, query, key, value, edge, *index):
        rowptr, col = index[:2]
        out, gate, total = _ops._gated_edge_sum_forward(query, key, value, edge, rowptr, col)
        context.save_for_backward(out, gate, total, value, *index)
        return out.to(query.dtype), gate.to(query.dtype)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(context, out_grad, gate_grad):
        saved = context.saved_tensors
        grads = _ops._gated_edge_sum_backward(out_grad.contiguous(), gate_grad.contiguous(), *saved)
        return *(one.to(saved[3].dtype) for one in grads), *[None] * 5


def edge_sum(x: Tensor, index: EdgeIndex, edge: Tensor | None = None, scale: Tensor | None = None, relu: bool = False) -> Tensor:
    """[R, d]: the sum over the edges of each row of scale f(x[col] + edge), for x [C, d], edge [E, d] and scale [E], f the
    identity or relu. It is differentiable once in x, edge and scale."""
    if not torch.compiler.is_compiling():
        return _EdgeSum.apply(x.contiguous(), edge, scale, relu, *index)
    message = x[index.col] if edge is None else x[index.col] + edge
    message = message.relu() if relu else message
    message = message if scale is None else message * scale.unsqueeze(1)
    return x.new_zeros(index.rowptr.shape[0] - 1, x.shape[1]).index_add(0, index.row, message)


def gated_edge_sum(query: Tensor, key: Tensor, value: Tensor, edge: Tensor, index: EdgeIndex) -> tuple[Tensor, Tensor]:
    """The edge-gated mean of GatedGCN [R, d] and the gates [E, d], before the sigmoid."""
    if not torch.compiler.is_compiling():
        return _GatedEdgeSum.apply(*(one.contiguous() for one in (query, key, value, edge)), *index)
    gate = query[index.row] + key[index.col] + edge
    share = gate.sigmoid()
    empty = query.new_zeros(query.shape)
    total = empty.index_add(0, index.row, share) + _GATE_EPS
    return empty.index_add(0, index.row, share * value[index.col]) / total, gate


class PackedBatchNorm(nn.Module):
    """Batch normalisation (Ioffe and Szegedy, 2015) of packed rows: no padding takes part in the statistics. Buffers hold
    running averages, with which a module in evaluation mode normalises. There a normalised value is limited to
    MAX_NORMALIZED: in training it is at most the square root of the rows of the batch, whereas a running variance of nearly
    0, that of a channel of rare features, has no bound.

    Args:
        channels: of a row.
        momentum: weight of the present batch in the running averages.
        eps: added to the variance.
        device, dtype: of the parameters and buffers.

    forward takes x [n, channels] of the dtype and device of the parameters, and returns the same shape. Raises a ValueError
    or TypeError that names x otherwise.
    """

    MAX_NORMALIZED = 32.0  # that of a batch of 1,024 rows

    def __init__(self, channels: int, momentum: float = 0.1, eps: float = 1e-5, *, device=None, dtype=None):
        super().__init__()
        check_sizes(channels=channels)
        check_numbers(momentum=momentum)
        check_eps(eps)
        made = factory_kwargs(device, dtype)
        self.momentum, self.eps = momentum, eps
        self.weight, self.bias = nn.Parameter(torch.ones(channels, **made)), nn.Parameter(torch.zeros(channels, **made))
        self.register_buffer("running_mean", torch.zeros(channels, **made))
        self.register_buffer("running_var", torch.ones(channels, **made))

    def forward(self, x: Tensor) -> Tensor:
        """x [n, channels]: the same shape."""
        check_like(x, "x", self.weight)
        if x.dim() != 2 or x.shape[1] != self.weight.shape[0]:
            raise ValueError(f"x must have shape [n, {self.weight.shape[0]}], got {list(x.shape)}")
        if not self.training:
            inverse = (self.running_var + self.eps).rsqrt()
            scale, reach = self.weight * inverse, self.MAX_NORMALIZED / inverse
            limited = torch.clamp(x, self.running_mean - reach, self.running_mean + reach)
            return torch.addcmul(self.bias - self.running_mean * scale, limited, scale)
        exact, count = x.double(), max(x.shape[0], 1)
        mean = exact.sum(0) / count
        variance = ((exact.square().sum(0) / count) - mean.square()).clamp_min(0)
        scale = self.weight * (variance + self.eps).rsqrt()
        self._average(mean.detach(), variance.detach() * (count / max(count - 1, 1)))
        return torch.addcmul((self.bias - mean * scale).to(x.dtype), x, scale.to(x.dtype))

    @torch.no_grad()
    def _average(self, mean: Tensor, variance: Tensor) -> None:
        """Statistics that are not finite leave the buffers as they are."""
        usable = mean.isfinite().all() & variance.isfinite().all()
        for running, found in ((self.running_mean, mean), (self.running_var, variance)):
            running.lerp_(torch.where(usable, found.to(running.dtype), running), self.momentum)


def normalization(kind: str, channels: int, made: dict) -> nn.Module | None:
    """The module of a kind of normalisation; None for "none"."""
    if kind not in NORMALIZATIONS:
        raise ValueError(f"normalization must be one of {', '.join(NORMALIZATIONS)}, not {kind!r}")
    return {"layer": nn.LayerNorm, "batch": PackedBatchNorm}[kind](channels, **made) if kind != "none" else None


def normalized(norm: nn.Module | None, x: Tensor) -> Tensor:
    return x if norm is None else norm(x)


def _check_local_graph(index: EdgeIndex, edge_attr: Tensor | None, edges: Tensor | None) -> None:
    _check_index(rowptr=index.rowptr, col=index.col, row=index.row, colptr=index.colptr, order=index.order)
    count, rows, columns = index.col.shape[0], index.rowptr.shape[0] - 1, index.colptr.shape[0] - 1
    for name, one in (("row", index.row), ("order", index.order)):
        if one.shape[0] != count:
            raise ValueError(f"{name} must have an entry for each of the {count} edges, got {one.shape[0]}")
    check_offsets("rowptr", index.rowptr, count)
    check_offsets("colptr", index.colptr, count)
    for name, one, end in (("col", index.col, columns), ("row", index.row, rows), ("order", index.order, count)):
        check_values(name, one, end)
    for name, one in (("edge_attr", edge_attr), ("edges", edges)):
        if one is None:
            continue
        check_like(one, name, None)
        if one.dim() != 2 or one.shape[0] != count:
            raise ValueError(f"{name} must have a row for each of the {count} edges, got {list(one.shape)}")


class LocalGraph:
    """The edges of a packed batch for convolutions, with what belongs to them.

    Args:
        index: the edges, of :meth:`EdgeIndex.of`.
        kind: "gcn", whose weights are computed, "gine" or "gated_gcn"; "none": that of a copy, without checks.
        like: for "gcn", a floating tensor of the dtype and device of the weights.
        edge_attr: features [E, r] of the edges, or None.
        edges: the state [E, dim] of the edges of "gated_gcn", which layers replace, or None.

    Attribute `edge_weight` [E], or None: weights of the messages, which gated_gcn does not read.

    Raises a ValueError or TypeError that names the argument.
    """

    def __init__(self, index: EdgeIndex, kind: str, like: Tensor | None, edge_attr: Tensor | None = None, edges: Tensor | None = None):
        if not isinstance(index, EdgeIndex):
            raise TypeError(f"index must be an EdgeIndex, got {type(index).__name__}")
        if not isinstance(kind, str) or kind not in LOCALS:
            raise ValueError(f"kind must be one of {', '.join(LOCALS)}, not {kind!r}")
        if kind != "none":
            _check_local_graph(index, edge_attr, edges)
        self.index, self.edge_attr, self.edges, self.kind = index, edge_attr, edges, kind
        self.edge_weight = self.self_weight = None
        if kind == "gcn":
            check_like(like, "like", None)
            degree = (index.rowptr.diff() + 1).to(like)
            root = degree.rsqrt()
            self.edge_weight = root.index_select(0, index.row) * root.index_select(0, index.col)
            self.self_weight = degree.reciprocal().unsqueeze(1)

    def copy(self) -> LocalGraph:
        """For a pass, whose layers replace the state of the edges."""
        made = LocalGraph(self.index, "none", None, self.edge_attr, self.edges)
        made.kind, made.edge_weight, made.self_weight = self.kind, self.edge_weight, self.self_weight
        return made

    def check(self, x: Tensor, kind: str, edge_channels: int) -> None:
        """Raises a ValueError that names what does not fit a convolution `kind` of nodes x [N, dim] with `edge_channels`."""
        if self.kind != kind:
            raise ValueError(f"graph must be of kind {kind!r}, got one of {self.kind!r}")
        if self.index.rowptr.shape[0] != x.shape[0] + 1 or self.index.colptr.shape[0] != x.shape[0] + 1:
            raise ValueError(f"x must have a row for each of the {self.index.rowptr.shape[0] - 1} nodes of graph, got {x.shape[0]}")
        name, rows, channels = ("edges", self.edges, x.shape[1]) if kind == "gated_gcn" else ("edge_attr", self.edge_attr, edge_channels)
        if edge_channels == 0:
            return
        if rows is None:
            raise ValueError(f"{name} must be given in graph for a convolution with edge_channels {edge_channels}")
        check_like(rows, name, x, "x")
        if rows.shape != (self.index.col.shape[0], channels):
            raise ValueError(f"{name} must have shape {[self.index.col.shape[0], channels]}, a row per edge, got {list(rows.shape)}")


class MessagePassing(nn.Module):
    r"""One convolution, without residual connection, activation and norm of the nodes (models/layers/message_passing.h).

    Args:
        dim: channels of a node.
        kind: "gcn", "gine" or "gated_gcn".
        edge_channels: r, of the features of an edge; 0: none, for gcn and gine only.
        updates_edges: of gated_gcn: a next layer reads the edges.
        norm: of the edges of gated_gcn: "layer", "batch" or "none".
        device, dtype: of the parameters.

    forward takes x [N, dim] and a :class:`LocalGraph` of these N nodes and of this kind, with edge_attr [E, edge_channels],
    or for gated_gcn with edges [E, dim], which it replaces; and returns [N, dim]. Raises a ValueError or TypeError that
    names the argument.
    """

    def __init__(
        self, dim: int, kind: str, edge_channels: int = 0, *, updates_edges: bool = False, norm: str = "layer", device=None, dtype=None
    ):
        super().__init__()
        if kind not in LOCALS[1:]:
            raise ValueError(f"kind must be one of {', '.join(LOCALS[1:])}, not {kind!r}")
        check_sizes(dim=dim)
        check_sizes(1 if kind == "gated_gcn" else 0, edge_channels=edge_channels)
        check_flags(updates_edges=updates_edges)
        made = factory_kwargs(device, dtype)
        self.kind, self.edge_channels, self.updates_edges = kind, edge_channels, updates_edges
        self.node = nn.Linear(dim, dim, bias=kind != "gcn", **made)
        if kind == "gated_gcn":
            self.query, self.key, self.value = (nn.Linear(dim, dim, **made) for _ in range(3))
        if edge_channels > 0:
            self.edge = nn.Linear(dim if kind == "gated_gcn" else edge_channels, dim, **made)
        if kind == "gine":
            self.output = nn.Linear(dim, dim, **made)
            self.eps = nn.Parameter(torch.zeros(1, **made))
        if kind == "gcn":
            self.bias = nn.Parameter(torch.zeros(dim, **made))
            if edge_channels > 0:
                self.root = nn.Parameter(torch.randn(dim, **made))
        if kind == "gated_gcn" and updates_edges:
            self.edge_norm = normalization(norm, dim, made)

    def forward(self, x: Tensor, graph: LocalGraph) -> Tensor:
        """x [N, dim]: [N, dim]. gated_gcn replaces graph.edges."""
        check_like(x, "x", self.node.weight)
        if x.dim() != 2 or x.shape[1] != self.node.in_features:
            raise ValueError(f"x must have shape [N, {self.node.in_features}], got {list(x.shape)}")
        x = cast_like(x, self.node.weight)
        if not isinstance(graph, LocalGraph):
            raise TypeError(f"graph must be a LocalGraph, got {type(graph).__name__}")
        graph.check(x, self.kind, self.edge_channels)

        def mapped(linear, rows):
            return linear(rows).to(x.dtype)

        edge = mapped(self.edge, graph.edges if self.kind == "gated_gcn" else graph.edge_attr) if self.edge_channels > 0 else None
        if self.kind == "gcn":
            rows = mapped(self.node, x)
            sums = edge_sum(rows, graph.index, edge, graph.edge_weight, relu=edge is not None)
            own = rows if edge is None else torch.relu(rows + self.root)
            return torch.addcmul(sums, own, graph.self_weight) + self.bias
        if self.kind == "gine":
            sums = edge_sum(x, graph.index, edge, graph.edge_weight, relu=edge is not None)
            return mapped(self.output, gelu(self.node(x * (1 + self.eps) + sums)))
        mean, gate = gated_edge_sum(mapped(self.query, x), mapped(self.key, x), mapped(self.value, x), edge, graph.index)
        if self.updates_edges:
            graph.edges = graph.edges + gelu(normalized(self.edge_norm, gate))
        return mapped(self.node, x) + mean


class VirtualNode(nn.Module):
    """One more node per item, which all nodes of the item read before a layer and write after it (Gilmer et al., 2017)."""

    def __init__(self, dim: int, norm: str, made: dict):
        super().__init__()
        self.embedding = nn.Parameter(torch.zeros(dim, **made))
        self.linear = nn.Linear(dim, dim, **made)
        self.norm = normalization(norm, dim, made)

    def start(self, items: int) -> Tensor:
        return self.embedding.expand(items, -1)

    def read(self, x: Tensor, state: Tensor, of_items: EdgeIndex) -> Tensor:
        return x + edge_sum(state.to(x.dtype), of_items.transposed())

    def write(self, x: Tensor, state: Tensor, of_items: EdgeIndex) -> Tensor:
        return state + gelu(normalized(self.norm, self.linear(state + edge_sum(x, of_items)).to(x.dtype)))
