# SPDX-License-Identifier: Apache-2.0
"""Graph convolutions beside attention or without it, the virtual node, and batch normalisation of packed rows (Rampasek et
al., "Recipe for a general, powerful, scalable graph transformer", 2022)."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu

from .checks import check_sizes
from .packed import PackedLayout, segment_of

_ops = torch.ops.geosft
LOCALS, NORMALIZATIONS = ("none", "gcn", "gine", "gated_gcn"), ("layer", "batch", "none")
_GATE_EPS = 1e-6


class EdgeIndex(NamedTuple):
    """Edges from R rows, which receive, to C columns, which send: `rowptr` int64 [R + 1], `col` and `row` int64 [E]; and by
    column, `order` [E] and `colptr` [C + 1]."""

    rowptr: Tensor
    col: Tensor
    row: Tensor
    colptr: Tensor
    order: Tensor

    @staticmethod
    def of(rowptr: Tensor, col: Tensor, columns: int) -> EdgeIndex:
        """The edges of a graph in CSR."""
        count = torch.zeros(columns, dtype=torch.int64, device=col.device).index_add(0, col, torch.ones_like(col))
        colptr = nn.functional.pad(count.cumsum(0), (1, 0))
        return EdgeIndex(rowptr, col, segment_of(rowptr, col.shape[0], col.device), colptr, col.sort(stable=True).indices)

    @staticmethod
    def of_items(layout: PackedLayout, device: torch.device) -> EdgeIndex:
        """The edges from packed items to their rows: sums over them are sums over the rows of each item."""
        rows = torch.arange(layout.rows, device=device)
        return EdgeIndex(layout.pointers(device), rows, layout.item_of_row(device), torch.arange(layout.rows + 1, device=device), rows)

    def transposed(self) -> EdgeIndex:
        """Of edges of items: sums over them copy the row of an item to its rows."""
        return EdgeIndex(self.colptr, self.row, self.col, self.rowptr, self.order)


class _EdgeSum(torch.autograd.Function):
    """The kernel of models/ops/edge_sum.h. The gradient of `scale` is not computed."""

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
        return x_grad, None if edge is None else edge_grad, None, None, *[None] * 5


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
    identity or relu. It is differentiable once in x and edge."""
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
    """Batch normalisation (Ioffe and Szegedy, 2015) of packed rows [n, channels]: no padding takes part in the statistics.
    Buffers hold running averages, with which a module in evaluation mode normalises."""

    def __init__(self, channels: int, momentum: float = 0.1, eps: float = 1e-5, *, device=None, dtype=None):
        super().__init__()
        check_sizes(channels=channels)
        made = {"device": device, "dtype": dtype}
        self.momentum, self.eps = momentum, eps
        self.weight, self.bias = nn.Parameter(torch.ones(channels, **made)), nn.Parameter(torch.zeros(channels, **made))
        self.register_buffer("running_mean", torch.zeros(channels, **made))
        self.register_buffer("running_var", torch.ones(channels, **made))

    def forward(self, x: Tensor) -> Tensor:
        if not self.training:
            scale = self.weight * (self.running_var + self.eps).rsqrt()
            return torch.addcmul(self.bias - self.running_mean * scale, x, scale)
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


class LocalGraph:
    """The edges of a packed batch for convolutions: `index`, features `edge_attr` [E, r] or None, the weights of "gcn", and
    the state `edges` [E, dim] of "gated_gcn", which layers replace."""

    def __init__(self, index: EdgeIndex, kind: str, like: Tensor | None, edge_attr: Tensor | None = None, edges: Tensor | None = None):
        self.index, self.edge_attr, self.edges, self.kind = index, edge_attr, edges, kind
        self.edge_weight = self.self_weight = None
        if kind == "gcn":
            degree = (index.rowptr.diff() + 1).to(like)
            root = degree.rsqrt()
            self.edge_weight = root.index_select(0, index.row) * root.index_select(0, index.col)
            self.self_weight = degree.reciprocal().unsqueeze(1)

    def copy(self) -> LocalGraph:
        """For a pass, whose layers replace the state of the edges."""
        made = LocalGraph(self.index, "none", self.self_weight, self.edge_attr, self.edges)
        made.kind, made.edge_weight, made.self_weight = self.kind, self.edge_weight, self.self_weight
        return made


class MessagePassing(nn.Module):
    r"""One convolution, without residual connection, activation and norm of the nodes (models/layers/message_passing.h).

    Args:
        dim: channels of a node.
        kind: "gcn", "gine" or "gated_gcn".
        edge_channels: r, of the features of an edge; 0: none, for gcn and gine only.
        updates_edges: of gated_gcn: a next layer reads the edges.
        norm: of the edges of gated_gcn: "layer", "batch" or "none".
    """

    def __init__(
        self, dim: int, kind: str, edge_channels: int = 0, *, updates_edges: bool = False, norm: str = "layer", device=None, dtype=None
    ):
        super().__init__()
        if kind not in LOCALS[1:]:
            raise ValueError(f"kind must be one of {', '.join(LOCALS[1:])}, not {kind!r}")
        check_sizes(1 if kind == "gated_gcn" else 0, edge_channels=edge_channels)
        made = {"device": device, "dtype": dtype}
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
        def mapped(linear, rows):
            return linear(rows).to(x.dtype)

        edge = mapped(self.edge, graph.edges if self.kind == "gated_gcn" else graph.edge_attr) if self.edge_channels > 0 else None
        if self.kind == "gcn":
            rows = mapped(self.node, x)
            sums = edge_sum(rows, graph.index, edge, graph.edge_weight, relu=edge is not None)
            own = rows if edge is None else torch.relu(rows + self.root)
            return torch.addcmul(sums, own, graph.self_weight) + self.bias
        if self.kind == "gine":
            sums = edge_sum(x, graph.index, edge, relu=edge is not None)
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
