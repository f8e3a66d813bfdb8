# SPDX-License-Identifier: Apache-2.0
"""Classification and regression of graphs and of their nodes (SFT sections 5 and 6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from .encoder import Encoder
from .heads import PairHead, SampleMaxHead, SoftmaxPoolHead, SumHead, TokenHead
from .packed import PackedLayout
from .relative import GraphEncoding, SequenceEncoding, sinusoids_at
from .sampling import SamplingContext, context_of

_HEADS = {"softmax_pool": ("pool_head", SoftmaxPoolHead), "sample_max": ("sample_head", SampleMaxHead),
          "sum": ("sum_head", SumHead), "nodes": ("token_head", TokenHead), "pairs": ("pair_head", PairHead)}
_POSITIONS = ("none", "added", "relative")
_MIN_DEVIATION = 1e-6


class FeaturedGraphs(NamedTuple):
    """Packed graphs with features of nodes and edges: nodes and edges of all B graphs one after the other.

    Attributes:
        ptr: int64 [B + 1], or a sequence of B + 1 integers: the nodes of each graph.
        rowptr, col: int64 [N + 1] and [E], the edges in CSR; both directions of an undirected edge.
        node_categories, node_values: int64 [N, columns] and floating [N, columns], or None.
        edge_categories, edge_values: the same of the edges, in the order of the CSR.
        coordinates: [N, 3] of the nodes, or None.
        node_encoding: [N, columns], such as :func:`geosft.random_walk_pe`, or None.
        weight: [E] of the edges, for encodings; None: 1.
    """

    ptr: Tensor | Sequence[int]
    rowptr: Tensor
    col: Tensor
    node_categories: Tensor | None = None
    node_values: Tensor | None = None
    edge_categories: Tensor | None = None
    edge_values: Tensor | None = None
    coordinates: Tensor | None = None
    node_encoding: Tensor | None = None
    weight: Tensor | None = None

    @staticmethod
    def from_edges(
        edge_index: Tensor, ptr: Tensor | Sequence[int], *, edge_categories: Tensor | None = None,
        edge_values: Tensor | None = None, weight: Tensor | None = None, **nodes: Tensor | None
    ) -> FeaturedGraphs:
        """Graphs of a list of edges: `edge_index` int64 [2, E], source and target rows, in any order, features of the
        edges in the order of the list. Raises a ValueError if an edge has an end that is no node."""
        ptr = torch.as_tensor(ptr)
        if ptr.dtype != torch.int64 or ptr.dim() != 1 or ptr.numel() < 2:
            raise ValueError(f"ptr must be int64 [B + 1], got {ptr.dtype} {list(ptr.shape)}")
        if edge_index.dtype != torch.int64 or edge_index.dim() != 2 or edge_index.shape[0] != 2:
            raise ValueError(f"edge_index must be int64 [2, E], got {edge_index.dtype} {list(edge_index.shape)}")
        count = int(ptr[-1])
        if edge_index.numel() > 0 and not (0 <= int(edge_index.min()) and int(edge_index.max()) < count):
            raise ValueError(f"edge_index must name nodes from 0 to {count - 1}, got {int(edge_index.min())} to {int(edge_index.max())}")
        source, order = edge_index[0].sort(stable=True)
        of_edges = {}
        for name, rows in (("edge_categories", edge_categories), ("edge_values", edge_values), ("weight", weight)):
            if rows is not None and rows.shape[:1] != order.shape:
                raise ValueError(f"{name} must have a row for each of the {order.numel()} edges, got {list(rows.shape)}")
            of_edges[name] = None if rows is None else rows[order]
        rowptr = nn.functional.pad(torch.bincount(source, minlength=count).cumsum(0), (1, 0))
        return FeaturedGraphs(ptr, rowptr, edge_index[1][order], **of_edges, **nodes)

    def to(self, *args, **kwargs) -> FeaturedGraphs:
        """The same on another device: every tensor's `to`, with a dtype for floating ones alone."""
        def moved(tensor):
            if not isinstance(tensor, Tensor):
                return tensor
            there = tensor.to(*args, **kwargs)
            return there if tensor.is_floating_point() else there.to(tensor.dtype)
        return FeaturedGraphs(*map(moved, self))


def _table_rows(categories: Tensor, vocabulary: Sequence[int]) -> Tensor:
    """The row of each category in one table of all columns."""
    begin = [sum(vocabulary[:column]) for column in range(len(vocabulary))]
    return categories.long() + torch.tensor(begin, device=categories.device)


def _check_columns(rows: Tensor | None, name: str, columns: int, count: int) -> None:
    found = rows.shape[1] if rows is not None and rows.dim() == 2 else 0
    if found != columns:
        raise ValueError(f"{name} must have {columns} columns, as the model was built for, got {found}")
    if rows is not None and columns > 0 and rows.shape[0] != count:
        raise ValueError(f"{name} must have {count} rows, got {rows.shape[0]}")


def _check_categories(rows: Tensor | None, name: str, vocabulary: Sequence[int]) -> None:
    """Values of a CPU tensor, where they can be read."""
    if rows is None or not vocabulary or rows.device.type != "cpu" or torch.compiler.is_compiling() or rows.numel() == 0:
        return
    if rows.is_floating_point() or rows.is_complex() or rows.dtype == torch.bool:
        raise ValueError(f"{name} must be integers, got {rows.dtype}")
    known = rows[:, :len(vocabulary)]
    if int(known.min()) < 0 or (known.amax(0) >= torch.tensor(vocabulary)).any():
        raise ValueError(f"{name} must lie in [0, size) of {list(vocabulary)}, got {known.amin(0).tolist()} to {known.amax(0).tolist()}")


class GraphModel(nn.Module):
    r"""Predicts targets of graphs or of their nodes. Tokens are the sum of an embedding of each category and a linear map
    of the numeric features, the node encoding included; attention sees the edges, or the positions of ordered nodes.

    Args:
        out_features: classes, labels or targets, at least 1.
        dim, num_heads, num_samples, depth: of the :class:`Encoder`.
        node_vocabulary, edge_vocabulary: the number of values of each column of categories.
        node_values, edge_values: numeric columns.
        encoding: columns of node_encoding.
        signed_encoding: the signs of its columns are arbitrary (Laplacian eigenvectors): training flips them at random.
        positions: "none", "added" (sinusoids of the place of a node in its item are added to tokens) or "relative"
            (they are what attention sees, in place of edges).
        position_channels: of the sinusoids of "relative"; 0: dim.
        documents: an item is a pair of documents that do not attend to each other; a further last column of
            node_categories says which a node is of, 0 then 1. For, and only for, the head "pairs".
        relative: attention sees the edges.
        distance_channels, distance_range: with `relative`, attention sees distances of the nodes' coordinates too, up to
            `distance_range` in their unit; 0 channels: it does not.
        head: "softmax_pool", "sample_max" or "sum" per graph; "nodes" per node; "pairs" per pair of documents.
        head_samples, head_dropout, head_sampler: of the head "sample_max": sampled pairs, dropout of what is pooled, and
            options of its :class:`Sampler`.
        device, dtype: of the parameters.
        options: further options of the encoder's layers, by name.

    Numeric features are standardised by buffers, mean 0 and deviation 1 until :meth:`standardize` sets them.
    """

    def __init__(
        self, out_features: int, dim: int = 64, num_heads: int = 4, num_samples: int = 32, *, depth: int = 4,
        node_vocabulary: Sequence[int] = (), node_values: int = 0, edge_vocabulary: Sequence[int] = (), edge_values: int = 0,
        encoding: int = 0, signed_encoding: bool = False, positions: str = "none", position_channels: int = 0,
        documents: bool = False, relative: bool = True, distance_channels: int = 0, distance_range: float = 5.0,
        head: str = "softmax_pool", head_samples: int = 64, head_dropout: float = 0.0, head_sampler: dict | None = None,
        device=None, dtype=None, **options
    ):
        super().__init__()
        if out_features < 1:
            raise ValueError(f"out_features must be at least 1, got {out_features}")
        if head not in _HEADS:
            raise ValueError(f"head must be one of {', '.join(_HEADS)}, not {head!r}")
        if positions not in _POSITIONS:
            raise ValueError(f"positions must be one of {', '.join(_POSITIONS)}, not {positions!r}")
        if documents != (head == "pairs"):
            raise ValueError("head must be pairs for items of two documents, and for them alone")
        if min(node_values, edge_values, encoding, distance_channels, *node_vocabulary, *edge_vocabulary) < 0:
            raise ValueError("node_values, edge_values, encoding, distance_channels and vocabularies must not be negative")
        made = {"device": device, "dtype": dtype}
        self.node_vocabulary, self.edge_vocabulary = list(node_vocabulary), list(edge_vocabulary)
        self.node_values, self.edge_values, self.encoding = node_values, edge_values, encoding
        self.signed_encoding, self.positions, self.position_channels = signed_encoding, positions, position_channels or dim
        self.documents, self.relative, self.head = documents, relative, head
        self.distance_channels, self.distance_range = distance_channels, distance_range
        numbers = node_values + encoding
        self.embedding = nn.Embedding(sum(node_vocabulary), dim, **made) if self.node_vocabulary else None
        self.numbers = nn.Linear(max(numbers, 1), dim, **made)
        self.encoder = Encoder(dim, num_heads, num_samples, depth=depth, **made, **self._seen(options))
        name, kind = _HEADS[head]
        sampled = dict(num_samples=head_samples, dropout=head_dropout, **(head_sampler or {})) if head == "sample_max" else {}
        setattr(self, name, kind(dim, out_features, **sampled, **made))
        for columns, of in ((numbers, "node"), (edge_values, "edge"), (out_features, "target")):
            self.register_buffer(f"{of}_mean", torch.zeros(columns, **made))
            self.register_buffer(f"{of}_deviation", torch.ones(columns, **made))

    def _seen(self, options: dict) -> dict:
        """The options of the layers, with the relative encoding that attention sees; an `attention` sees its own."""
        if "attention" in options:
            return options
        if self.positions == "relative":
            return {**options, "relative": "sequence", "relative_channels": self.position_channels}
        if not self.relative:
            return options
        channels = sum(self.edge_vocabulary) + self.edge_values + 1 + self.distance_channels
        return {**options, "relative": "graph", "relative_channels": channels}

    def forward(self, graphs: FeaturedGraphs, *, sampling: SamplingContext | None = None) -> Tensor:
        """Logits, or standardised targets: [B, out_features], or [N, out_features] for nodes."""
        layout = self._layout(graphs)
        sampling = context_of(self, sampling)
        relative = self._relative(graphs, layout)
        x = self.encoder(self._tokens(graphs, layout, sampling), relative, layout, sampling=sampling)
        if self.head == "nodes":
            return self.token_head(x)
        head = getattr(self, _HEADS[self.head][0])
        return head(x, layout, sampling=sampling) if self.head == "sample_max" else head(x, layout)

    def _layout(self, graphs: FeaturedGraphs) -> PackedLayout:
        if not isinstance(graphs, FeaturedGraphs):
            raise TypeError(f"graphs must be FeaturedGraphs, got {type(graphs).__name__}")
        nodes, edges = graphs.rowptr.shape[0] - 1, graphs.col.shape[0]
        _check_columns(graphs.node_categories, "node_categories", len(self.node_vocabulary) + self.documents, nodes)
        _check_categories(graphs.node_categories, "node_categories", self.node_vocabulary)
        _check_columns(graphs.node_values, "node_values", self.node_values, nodes)
        _check_columns(graphs.node_encoding, "node_encoding", self.encoding, nodes)
        if self.relative and self.positions != "relative":
            _check_columns(graphs.edge_categories, "edge_categories", len(self.edge_vocabulary), edges)
            _check_categories(graphs.edge_categories, "edge_categories", self.edge_vocabulary)
            _check_columns(graphs.edge_values, "edge_values", self.edge_values, edges)
            if self.distance_channels > 0:
                _check_columns(graphs.coordinates, "coordinates", 3, nodes)
        layout = PackedLayout.of_ptr(graphs.ptr, nodes)
        return self._document_layout(graphs, layout) if self.documents else layout

    def _document_layout(self, graphs: FeaturedGraphs, layout: PackedLayout) -> PackedLayout:
        """The documents of each item as items of their own."""
        second = graphs.node_categories[:, -1].to(layout.ptr.device)
        item = layout.item_of_row(layout.ptr.device)
        first = torch.zeros_like(layout.ptr[1:]).index_add(0, item, 1 - second.long())
        begin = layout.ptr[:-1]
        ptr = torch.cat((torch.stack((begin, begin + first), 1).flatten(), layout.ptr[-1:]))
        return PackedLayout.of_ptr(ptr, layout.rows)

    def _tokens(self, graphs: FeaturedGraphs, layout: PackedLayout, sampling: SamplingContext) -> Tensor:
        weight = self.numbers.weight
        parts = [graphs.node_values] if self.node_values > 0 else []
        if self.encoding > 0:
            parts.append(self._signed(graphs, sampling))
        if parts:
            numbers = (torch.cat(parts, 1).to(weight) - self.node_mean) / self.node_deviation
        else:
            numbers = weight.new_ones(layout.rows, 1)
        x = self.numbers(numbers).to(weight.dtype)
        if self.positions == "added":
            x = x + sinusoids_at(layout.place_in_item(weight.device), x.shape[1], dtype=weight.dtype)
        if self.embedding is None:
            return x
        categories = graphs.node_categories[:, :len(self.node_vocabulary)]
        return x + self.embedding(_table_rows(categories, self.node_vocabulary)).sum(1)

    def _signed(self, graphs: FeaturedGraphs, sampling: SamplingContext) -> Tensor:
        encoding = graphs.node_encoding
        if not (self.signed_encoding and sampling.mode == "random"):
            return encoding
        layout = PackedLayout.of_ptr(graphs.ptr, encoding.shape[0])
        signs = torch.randint(2, (layout.items, encoding.shape[1]), generator=sampling.generator).to(encoding) * 2 - 1
        return encoding * signs[layout.item_of_row(encoding.device)]

    def _relative(self, graphs: FeaturedGraphs, layout: PackedLayout) -> GraphEncoding | SequenceEncoding | None:
        weight = self.numbers.weight
        if self.positions == "relative":
            place = layout.place_in_item(weight.device)
            return SequenceEncoding(sinusoids_at(place, self.position_channels, dtype=weight.dtype))
        if not self.relative:
            return None
        channels = []
        if self.edge_vocabulary:
            rows = _table_rows(graphs.edge_categories, self.edge_vocabulary)
            channels.append(weight.new_zeros(graphs.col.shape[0], sum(self.edge_vocabulary)).scatter(1, rows, 1.0))
        if self.edge_values > 0:
            channels.append((graphs.edge_values.to(weight) - self.edge_mean) / self.edge_deviation)
        channels.append(weight.new_ones(graphs.col.shape[0], 1))
        edges = GraphEncoding(graphs.rowptr, graphs.col, torch.cat(channels, 1))
        if self.distance_channels == 0:
            return edges
        return edges._replace(coordinates=graphs.coordinates.to(weight), distance_channels=self.distance_channels,
                              distance_range=self.distance_range)

    @torch.no_grad()
    def standardize(self, graphs: FeaturedGraphs, targets: Tensor | None = None) -> None:
        """Sets the buffers from a training set: columns minus their mean over all rows, divided by their deviation;
        almost constant ones are only centred. Targets [n, out_features] are those of a regression, NaN where missing."""
        parts = ([graphs.node_values] if self.node_values > 0 else []) + ([graphs.node_encoding] if self.encoding > 0 else [])
        if parts:
            self._set_statistics("node", torch.cat(parts, 1))
        if self.signed_encoding:
            self.node_mean[self.node_values:] = 0
        if self.edge_values > 0:
            self._set_statistics("edge", graphs.edge_values)
        if targets is not None:
            self._set_statistics("target", targets)

    def _set_statistics(self, name: str, values: Tensor) -> None:
        exact = values.double()
        mean = exact.nanmean(0).nan_to_num(0.0)
        deviation = (exact - mean).square().nanmean(0).sqrt().nan_to_num(0.0)
        getattr(self, f"{name}_mean").copy_(mean)
        getattr(self, f"{name}_deviation").copy_(torch.where(deviation > _MIN_DEVIATION, deviation, 1.0))
