# SPDX-License-Identifier: Apache-2.0
"""Classification and regression of graphs and of their nodes (SFT sections 5 and 6)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from .._offsets import offsets_of
from .._tensors import check_flags, check_numbers, kind_of, not_a_tensor
from .attention import SamplingAttention
from .checks import NUMBERS, check_edges_in_items, check_finite, check_indices, check_options, check_sampler_options, check_sequence, check_sizes, factory_kwargs, tensor_of
from .encoder import Encoder, TransformerLayer
from .heads import Mlp, PairHead, PooledHead, SampleMaxHead, SoftmaxPoolHead, SumHead, TokenHead, sum_pool
from .message_passing import EdgeIndex, LocalGraph, PackedBatchNorm, check_offsets, check_values, edge_sum
from .packed import PackedLayout, first_of, hint_of_batch, hint_of_sizes
from .relative import ANGLE_CHANNELS, SMALLEST_SQUARED_DISTANCE, GraphEncoding, SequenceEncoding, distance_features, sinusoids_at
from .sampling import Sampler, SamplingContext, context_of, random_integers

_HEADS = {"softmax_pool": ("pool_head", SoftmaxPoolHead), "sample_max": ("sample_head", SampleMaxHead),
          "sum": ("sum_head", SumHead), "nodes": ("token_head", TokenHead), "pairs": ("pair_head", PairHead), "mean": ("pooled_head", PooledHead), "max": ("pooled_head", PooledHead),
          "class_token": ("token_head", TokenHead)}
_POSITIONS = ("none", "added", "relative", "learned")
_TOKEN_DEVIATION = 0.02  # of the class token and of learned positions, as in DeiT
# Deviations at most this large are rounding: of encodings and features of graphs, whose scale is known; of data in any unit, relative to
# the mean, or too small for float32.
_KNOWN_ROUNDING, _RELATIVE_ROUNDING, _SMALLEST_FLOAT = 1e-6, 2e-7, 1e-37
_OF_NODES = ("node_categories", "node_values", "coordinates", "node_encoding")
_MAX_DEVIATIONS = 5.0  # of standardised features of graphs


def _statistics(values: Tensor, min_deviation: Tensor | float) -> tuple[Tensor, Tensor]:
    """Means and standard deviations of columns, NaN left out, float64 [columns]. A column whose deviation is rounding, or at most
    `min_deviation`, is constant: its deviation is 1, or its own where that is larger."""
    exact = values.double()
    mean = exact.nanmean(0).nan_to_num(0.0)
    deviation = (exact - mean).square().nanmean(0).sqrt().nan_to_num(0.0)
    constant = (deviation <= (mean.abs() * _RELATIVE_ROUNDING).clamp(min=_SMALLEST_FLOAT)) | (deviation <= min_deviation)
    return mean, torch.where(constant, deviation.clamp(min=1.0), deviation)


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
        graph_features: [B, columns] of the graphs, NaN where one is not defined, or None.
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
    graph_features: Tensor | None = None

    @staticmethod
    def from_edges(
        edge_index: Tensor, ptr: Tensor | Sequence[int], *, edge_categories: Tensor | None = None,
        edge_values: Tensor | None = None, weight: Tensor | None = None, **nodes: Tensor | None
    ) -> FeaturedGraphs:
        """Graphs of a list of edges.

        Args:
            edge_index: int64 [2, E], source and target rows, in any order. A node hears from the targets of its edges, as its row in CSR lists
                them; in PyTorch Geometric, from the sources of edges that end there: edge_index.flip(0) gives directed graphs that direction.
            ptr: int64 [B + 1], or a sequence of integers: the nodes of each graph.
            edge_categories, edge_values, weight: int64 [E, columns], floating [E, columns] and [E], in the order of the list.
            nodes: further fields, by name.

        Each may be a NumPy array of int32, int64, float32 or float64 as well, of which a tensor of the same dtype is made;
        edge_index and ptr must be int64 as arrays, too.
        Raises a ValueError or TypeError that names the argument, such as an edge with an end that is no node, or between two graphs.
        """
        edge_index, ptr, edge_categories, edge_values, weight = (tensor_of(value, name, NUMBERS) for name, value in (
            ("edge_index", edge_index), ("ptr", ptr), ("edge_categories", edge_categories), ("edge_values", edge_values), ("weight", weight)))
        for name in nodes.keys() - set(FeaturedGraphs._fields):
            of = "edge" if name.startswith("edge") else "node"
            raise TypeError(f"{name} is no field of FeaturedGraphs: features of {of}s are {of}_categories (integers) and {of}_values (numbers)")
        nodes = {name: tensor_of(value, name, NUMBERS) for name, value in nodes.items()}
        for name, rows in nodes.items():
            if rows is not None and not isinstance(rows, Tensor):
                raise TypeError(f"{name} must be a tensor or None, got {kind_of(rows)}")
        for name, index in (("ptr", ptr), ("edge_index", edge_index)):
            if isinstance(index, Tensor) and (index.layout != torch.strided or index.is_meta):
                raise ValueError(f"{name} must be a dense tensor with values, got {index.layout} on {index.device}")
        if not isinstance(edge_index, Tensor):
            raise TypeError(f"edge_index must be a tensor, got {type(edge_index).__name__}")
        if not isinstance(ptr, (Tensor, Sequence)):
            raise TypeError(f"ptr must be a tensor or a sequence of integers, got {type(ptr).__name__}")
        ptr = torch.as_tensor(ptr)
        if ptr.dtype != torch.int64 or ptr.dim() != 1 or ptr.numel() < 1:
            raise ValueError(f"ptr must be int64 [B + 1], got {ptr.dtype} {list(ptr.shape)}")
        if edge_index.dtype != torch.int64 or edge_index.dim() != 2 or edge_index.shape[0] != 2:
            raise ValueError(f"edge_index must be int64 [2, E], got {edge_index.dtype} {list(edge_index.shape)}")
        count = int(ptr[-1])
        if not 0 <= count < 2**48 or int(ptr[0]) != 0 or bool((ptr.diff() < 0).any()):
            rows = [len(one) for name, one in nodes.items() if name in _OF_NODES and isinstance(one, Tensor) and one.dim() > 0]
            raise ValueError(f"ptr must rise from 0 to the number of nodes, got {first_of(ptr)}{hint_of_sizes(ptr, rows[0]) if rows else ''}")
        _check_no_batch(ptr, nodes, edge_index)
        if edge_index.numel() > 0 and not (0 <= int(edge_index.min()) and int(edge_index.max()) < count):
            raise ValueError(f"edge_index must name nodes from 0 to {count - 1}, got {int(edge_index.min())} to {int(edge_index.max())}")
        check_edges_in_items(edge_index, ptr)
        _check_rows_of_graphs(nodes, count, len(ptr) - 1)
        source, order = edge_index[0].sort(stable=True)
        of_edges = {}
        for name, rows in (("edge_categories", edge_categories), ("edge_values", edge_values), ("weight", weight)):
            if rows is not None and (not isinstance(rows, Tensor) or rows.layout != torch.strided or rows.device != order.device or rows.is_quantized):
                raise ValueError(f"{name} must be a dense tensor on the device of edge_index, got {getattr(rows, 'dtype', type(rows).__name__)}")
            of_edges[name] = rows
        _check_rows_of_edges(of_edges, order.numel())
        of_edges = {name: None if rows is None else rows[order] for name, rows in of_edges.items()}
        rowptr = nn.functional.pad(torch.bincount(source, minlength=count).cumsum(0), (1, 0))
        return FeaturedGraphs(ptr, rowptr, edge_index[1][order], **of_edges, **nodes)

    @staticmethod
    def from_list(graphs: Sequence[FeaturedGraphs]) -> FeaturedGraphs:
        """Packs several FeaturedGraphs into one batch, in their order.

        Each field is in all of them or in none, with the same dtype and shape of a row. Raises a ValueError or TypeError that names the
        argument or the field, such as one whose rows are not those of the nodes, edges or graphs.
        """
        if not isinstance(graphs, Sequence) or isinstance(graphs, (str, FeaturedGraphs)):
            raise TypeError(f"graphs must be a sequence of FeaturedGraphs, got {type(graphs).__name__}")
        if not graphs:
            raise ValueError("graphs must be at least one FeaturedGraphs, got an empty sequence")
        for one in graphs:
            if not isinstance(one, FeaturedGraphs):
                raise TypeError(f"graphs must be a sequence of FeaturedGraphs, got one of {type(one).__name__}")
        parts = [_checked_part(one) for one in graphs]
        fields = {}
        for name in FeaturedGraphs._fields:
            given = [getattr(one, name) for one in parts]
            kinds = {"none" if rows is None else f"{rows.dtype} rows of shape {list(rows.shape[1:])} on {rows.device}" for rows in given}
            if len(kinds) > 1:
                raise ValueError(f"{name} must be the same kind of rows in all of the graphs, or in none, got {', '.join(sorted(kinds))}")
            if name not in ("ptr", "rowptr", "col"):
                fields[name] = None if kinds == {"none"} else torch.cat(given)
        nodes, edges = 0, 0
        offsets: dict[str, list[Tensor]] = {"ptr": [], "rowptr": [], "col": []}
        for one in parts:
            first = min(len(offsets["col"]), 1)  # offsets begin with 0 once
            offsets["ptr"].append(one.ptr[first:] + nodes)
            offsets["rowptr"].append(one.rowptr[first:] + edges)
            offsets["col"].append(one.col + nodes)
            nodes, edges = nodes + len(one.rowptr) - 1, edges + len(one.col)
        return FeaturedGraphs(**{name: torch.cat(parts) for name, parts in offsets.items()}, **fields)

    def to(self, *args, **kwargs) -> FeaturedGraphs:
        """The same on another device: every tensor's `to`, with a dtype for floating ones alone."""
        def moved(tensor):
            if not isinstance(tensor, Tensor):
                return tensor
            there = tensor.to(*args, **kwargs)
            return there if tensor.is_floating_point() else there.to(tensor.dtype)
        return FeaturedGraphs(*map(moved, self))


def _check_no_batch(ptr: Tensor, nodes: dict, edge_index: Tensor) -> None:
    """Checks that `ptr` [B + 1], which rises from 0, is not the graph of each node, of which there are more than it counts."""
    seen = [len(rows) for name, rows in nodes.items() if name in _OF_NODES and isinstance(rows, Tensor) and rows.dim() > 0]
    named = int(edge_index.max()) + 1 if edge_index.numel() > 0 else 0
    isolated = len(ptr) if len(ptr) > 2 and int(ptr[-1]) < named <= len(ptr) else named  # without edges, the last nodes are not named
    if hint := hint_of_batch(ptr, max(seen, default=isolated)):
        raise ValueError(f"ptr must be the offsets of the graphs, [B + 1], got {first_of(ptr)}{hint}")


def _checked_part(graphs: FeaturedGraphs) -> FeaturedGraphs:
    """Graphs with `ptr` as a tensor and arrays as tensors; checks that all rows are those of their nodes, edges and graphs."""
    fields = {name: tensor_of(value, name, NUMBERS) for name, value in graphs._asdict().items()}
    listed = not isinstance(fields["ptr"], Tensor)
    fields["ptr"] = offsets_of(fields["ptr"])
    for name, rows in fields.items():
        if rows is None and name not in ("ptr", "rowptr", "col"):
            continue
        if not isinstance(rows, Tensor) or rows.layout != torch.strided or rows.dim() == 0:
            raise ValueError(f"{name} must be a dense tensor of rows, got {kind_of(rows) if not isinstance(rows, Tensor) else list(rows.shape)}")
    check_indices(fields["rowptr"], fields["col"], fields["rowptr"].device, "rowptr")
    if listed:
        fields["ptr"] = fields["ptr"].to(fields["rowptr"].device)
    nodes, edges = len(fields["rowptr"]) - 1, len(fields["col"])
    check_offsets("rowptr", fields["rowptr"], edges)
    check_values("col", fields["col"], nodes)
    layout = PackedLayout.of_ptr(fields["ptr"], nodes)
    _check_rows_of_graphs({name: fields[name] for name in (*_OF_NODES, "graph_features")}, nodes, layout.items)
    _check_rows_of_edges({name: fields[name] for name in ("edge_categories", "edge_values", "weight")}, edges)
    return FeaturedGraphs(**fields)


def _check_rows_of_graphs(features: dict, nodes: int, graphs: int) -> None:
    """Checks that features of nodes and graphs, by the names of their fields, are tables of so many rows."""
    for name, rows in features.items():
        count, columns = (graphs if name == "graph_features" else nodes), ("3" if name == "coordinates" else "columns")
        if isinstance(rows, Tensor) and (rows.dim() != 2 or rows.shape[0] != count or name == "coordinates" and rows.shape[1] != 3):
            raise ValueError(f"{name} must have shape [{count}, {columns}], by ptr, got {list(rows.shape)}")
    _require_integer_dtype("node_categories", features.get("node_categories"))


def _check_rows_of_edges(features: dict, edges: int) -> None:
    """Checks that features of edges, by the names of their fields, are tables of so many rows, and the weight a list."""
    for name, rows in features.items():
        shape = f"[{edges}]" if name == "weight" else f"[{edges}, columns]"
        if rows is not None and (rows.dim() != (1 if name == "weight" else 2) or rows.shape[0] != edges):
            raise ValueError(f"{name} must have shape {shape}, a row for each of the {edges} edges, got {list(rows.shape)}")
    _require_integer_dtype("edge_categories", features.get("edge_categories"))


def _require_integer_dtype(name: str, categories: Tensor | None) -> None:
    if isinstance(categories, Tensor) and (categories.is_floating_point() or categories.is_complex() or categories.dtype == torch.bool):
        raise ValueError(f"{name} must be integers, got {categories.dtype}")


def _table_rows(categories: Tensor, vocabulary: Sequence[int]) -> Tensor:
    """The row of each category in one table of all columns."""
    begin = [sum(vocabulary[:column]) for column in range(len(vocabulary))]
    return categories.long() + torch.tensor(begin, device=categories.device)


def _sum_of_embeddings(table: Tensor, rows: Tensor) -> Tensor:
    """[N, d]: the sum of the rows [N, columns] of a table. As a sum over edges its gradient is deterministic."""
    if torch.compiler.is_compiling():
        return table[rows].sum(1)
    rowptr = torch.arange(rows.shape[0] + 1, device=rows.device) * rows.shape[1]
    return edge_sum(table, EdgeIndex.of(rowptr, rows.flatten(), table.shape[0]))


def _check_columns(rows: Tensor | None, name: str, columns: int, count: int, like: Tensor, hint: str = "") -> None:
    """Checks the columns, rows and device of features of any dtype. `hint` ends the error on the number of columns."""
    if rows is not None and not (isinstance(rows, Tensor) and rows.layout == torch.strided and not rows.is_quantized and not rows.is_complex()):
        raise ValueError(f"{name} must be a dense real tensor, got {rows.dtype if isinstance(rows, Tensor) else kind_of(rows)}")
    if rows is not None and rows.device != like.device:
        raise ValueError(f"{name} must be on the device of the parameters, {like.device}, got {rows.device}")
    if rows is not None and rows.dim() != 2:
        raise ValueError(f"{name} must have shape [{count}, {columns}], got {list(rows.shape)}")
    found = rows.shape[1] if rows is not None else 0
    if found != columns:
        raise ValueError(f"{name} must have {columns} columns, as the model was built for, got {found}{hint}")
    if rows is not None and columns > 0 and rows.shape[0] != count:
        raise ValueError(f"{name} must have {count} rows, got {rows.shape[0]}")


def _check_features(graphs: FeaturedGraphs, of: str, vocabulary: Sequence[int], categories: int, values: int, count: int, like: Tensor) -> None:
    """Checks the categories and values of nodes or edges (`of`: "node" or "edge") against the numbers of columns."""
    of_categories, of_values = getattr(graphs, f"{of}_categories"), getattr(graphs, f"{of}_values")
    hint = ""
    if of_categories is None and of_values is not None and categories > 0 == values:
        hint = f": {of}_values are numbers, and one-hot rows become categories by rows.argmax(1, keepdim=True)"
    if of_categories is not None and of_values is None and values > 0 == categories:
        hint = f": {of}_categories are integers that name categories, and numbers, integers too, go into {of}_values"
    _check_columns(of_categories, f"{of}_categories", categories, count, like, hint)
    _check_categories(of_categories, f"{of}_categories", vocabulary)
    _check_columns(of_values, f"{of}_values", values, count, like, hint)


def _check_categories(rows: Tensor | None, name: str, vocabulary: Sequence[int]) -> None:
    """Values of a CPU tensor, where they can be read."""
    if rows is None or not vocabulary or rows.device.type != "cpu" or torch.compiler.is_compiling() or rows.numel() == 0:
        return
    _require_integer_dtype(name, rows)
    known = rows[:, :len(vocabulary)]
    if int(known.min()) < 0 or (known.amax(0) >= torch.tensor(vocabulary)).any():
        raise ValueError(f"{name} must lie in [0, size) of {list(vocabulary)}, got {known.amin(0).tolist()} to {known.amax(0).tolist()}")


class _SignNet(nn.Module):
    """rho(phi(v) + phi(-v)) of the entries v of [N, columns]: [N, channels], which their signs do not change."""

    def __init__(self, columns: int, channels: int, layers: int, hidden: int = 16, *, device=None, dtype=None):
        super().__init__()
        made = factory_kwargs(device, dtype)
        self.phi, self.rho = Mlp(1, hidden, hidden, 2, **made), Mlp(columns * hidden, 2 * channels, channels, layers, **made)

    def forward(self, vectors: Tensor) -> Tensor:
        length = vectors.reshape(-1, 1).abs()  # both signs add the same two numbers in the same order
        even = self.phi(length) + self.phi(-length)
        return self.rho(even.view(vectors.shape[0], vectors.shape[1] * even.shape[1]))


class GraphModel(nn.Module):
    r"""Predicts targets of graphs or of their nodes. Tokens are the sum of an embedding of each category and a linear map
    of the numeric features, the node encoding included; attention sees the edges, or the positions of ordered nodes.

    Args:
        out_features: classes, labels or targets, at least 1.
        dim, num_heads, num_samples, depth: of the :class:`Encoder`.
        node_vocabulary, edge_vocabulary: the number of values of each column of categories.
        node_values, edge_values: numeric columns.
        encoding: columns of node_encoding.
        encoding_channels, encoding_layers: the last channels of the tokens, which batch normalisation and a network of so
            many linear maps make of node_encoding; 0: a linear map of the standardised encoding is added to the tokens.
        max_degree: the degree of a node, clamped to it, has an embedding that is added to its token; 0: none.
        signed_encoding: the signs of its columns are arbitrary (Laplacian eigenvectors): training flips them at random.
        positions: "none", "added" (sinusoids of the place of a node in its item are added to tokens), "relative"
            (they are what attention sees, in place of edges) or "learned" (a vector per place is added to tokens).
        places: with learned positions, the number of nodes of every item.
        position_channels: of the sinusoids of "relative"; 0: dim.
        documents: an item is a pair of documents that do not attend to each other; a further last column of
            node_categories says which a node is of, 0 then 1. For, and only for, the head "pairs".
        relative: attention sees the edges.
        distance_channels, distance_range: with `relative`, attention sees distances of the nodes' coordinates too, up to
            `distance_range` in their unit; 0 channels: it does not.
        angles: with `distance_channels`, attention also sees the angles of the edges of two nodes to the line between them and
            to each other (:class:`GraphEncoding`).
        head: "softmax_pool", "sample_max", "sum", "mean" or "max" per graph; "class_token" per graph, from a learned token
            before its nodes that attends with them (without `relative`, `local` and relative positions); "nodes" per node;
            "pairs" per pair of documents.
        head_layers: of the MLP that predicts from the pooled features, or from each node.
        graph_features, graph_counts: features of each graph beside its pooled ones, and how many, the last, are counts,
            which are not standardised.
        head_samples, head_dropout, head_sampler: of the head "sample_max": sampled pairs, dropout of what is pooled (of
            the input of every layer of deep heads), and options of its :class:`Sampler`.
        local: a convolution along the edges in each layer: "gcn", "gine", "gated_gcn", or "none".
        sign_invariant: with encoding_channels, their network is a SignNet (Lim et al., 2022): changing the sign of entries of
            node_encoding changes nothing.
        edge_cutoff, radial_channels: with `local`, messages pass between all nodes of an item whose coordinates are at most
            edge_cutoff apart, in their unit, and the features of such an edge are :func:`distance_features` in
            radial_channels; 0: along the edges.
        atom_references: each node adds a constant of its first category to the output of a head of graphs;
            :meth:`standardize` fits these constants to the targets.
        device, dtype: of the parameters.
        options: further options of the encoder and its layers, by name: virtual_node, jumping_knowledge, normalization, …

    Numeric features are standardised by buffers, mean 0 and deviation 1 until :meth:`standardize` sets them. Features may
    have any real dtype; categories are integers. Raises a ValueError or TypeError that names the argument or the field.
    """

    def __init__(
        self, out_features: int, dim: int = 64, num_heads: int = 4, num_samples: int = 32, *, depth: int = 4,
        node_vocabulary: Sequence[int] = (), node_values: int = 0, edge_vocabulary: Sequence[int] = (), edge_values: int = 0,
        encoding: int = 0, signed_encoding: bool = False, positions: str = "none", position_channels: int = 0, places: int = 0,
        documents: bool = False, relative: bool = True, distance_channels: int = 0, distance_range: float = 5.0,
        head: str = "softmax_pool", head_samples: int = 64, head_dropout: float = 0.0, head_sampler: dict | None = None,
        head_layers: int = 1, graph_features: int = 0, graph_counts: int = 0, encoding_channels: int = 0, encoding_layers: int = 1,
        max_degree: int = 0, local: str = "none", sign_invariant: bool = False, edge_cutoff: float = 0.0, radial_channels: int = 32,
        atom_references: bool = False, angles: bool = False, device=None, dtype=None, **options
    ):
        super().__init__()
        check_options(self, options, Encoder, TransformerLayer, SamplingAttention, Sampler, without=("updates_edges", "edge_channels", "relative_channels"))
        check_sampler_options("head_sampler", head_sampler, Sampler)
        for name, number in (("edge_cutoff", edge_cutoff), ("distance_range", distance_range)):
            check_numbers(**{name: number})
        check_flags(signed_encoding=signed_encoding, documents=documents, relative=relative, sign_invariant=sign_invariant, atom_references=atom_references,
                    angles=angles)
        check_sizes(out_features=out_features, dim=dim, head_layers=head_layers, encoding_layers=encoding_layers)
        check_sizes(0, node_values=node_values, edge_values=edge_values, encoding=encoding, position_channels=position_channels,
                    distance_channels=distance_channels)
        for name, vocabulary in (("node_vocabulary", node_vocabulary), ("edge_vocabulary", edge_vocabulary)):
            check_sequence(**{name: vocabulary})
            for size in vocabulary:
                check_sizes(0, **{name: size})
            check_sizes(0, **{name: sum(vocabulary)})
        if not isinstance(head, str) or head not in _HEADS:
            raise ValueError(f"head must be one of {', '.join(_HEADS)}, not {head!r}")
        if positions not in _POSITIONS:
            raise ValueError(f"positions must be one of {', '.join(_POSITIONS)}, not {positions!r}")
        check_sizes(0, encoding_channels=encoding_channels, max_degree=max_degree, graph_features=graph_features, graph_counts=graph_counts)
        if encoding_channels > 0 and not (encoding > 0 and encoding_channels < dim):
            raise ValueError(f"encoding_channels must be below dim, {dim}, and 0 without an encoding, got {encoding_channels}")
        if sign_invariant and encoding_channels == 0:
            raise ValueError("encoding_channels must be at least 1 with sign_invariant, got 0")
        if not 0 <= edge_cutoff < float("inf") or edge_cutoff > 0 and local == "none":
            raise ValueError(f"edge_cutoff must be finite, at least 0, and 0 without local, got {edge_cutoff}")
        check_sizes(radial_channels=radial_channels)
        if atom_references and (head in ("nodes", "pairs") or not node_vocabulary):
            raise ValueError("atom_references must be False for heads of nodes and pairs, and for nodes without categories")
        if head == "class_token" and (relative or positions == "relative" or local != "none"):
            raise ValueError("head must not be class_token where attention or a convolution sees edges or relative positions")
        if positions == "learned":
            check_sizes(places=places)
        if graph_counts > graph_features:
            raise ValueError(f"graph_counts must be at most graph_features, {graph_features}, got {graph_counts}")
        if documents != (head == "pairs"):
            raise ValueError("head must be pairs for items of two documents, and for them alone")
        if distance_channels > 0 and not 0 < distance_range < float("inf"):
            raise ValueError(f"distance_range must be above 0, got {distance_range}")
        if angles and not (distance_channels > 0 and relative and positions != "relative"):
            raise ValueError("angles must be False without distance_channels, and where attention sees no edges")
        made = factory_kwargs(device, dtype)
        self.node_vocabulary, self.edge_vocabulary = list(node_vocabulary), list(edge_vocabulary)
        self.node_values, self.edge_values, self.encoding = node_values, edge_values, encoding
        self.signed_encoding, self.position_kind, self.position_channels = signed_encoding, positions, position_channels or dim
        self.documents, self.relative, self.head = documents, relative, head
        self.distance_channels, self.distance_range, self.angles = distance_channels, distance_range, angles
        self.encoding_channels, self.max_degree, self.local = encoding_channels, max_degree, local
        self.graph_features, self.graph_counts = graph_features, graph_counts
        self.edge_cutoff, self.radial_channels, self.atom_references = edge_cutoff, radial_channels, atom_references
        numbers, channels = node_values + self._standardized_encoding, dim - encoding_channels
        self.embedding = nn.Embedding(sum(node_vocabulary), channels, **made) if self.node_vocabulary else None
        self.numbers = nn.Linear(max(numbers, 1), channels, **made)
        self.degrees = nn.Embedding(max_degree + 1, channels, **made) if max_degree > 0 else None
        self.encoding_norm = self.encoding_network = self.sign_net = self.edge_state = None
        if sign_invariant:
            self.sign_net = _SignNet(encoding, encoding_channels, encoding_layers, **made)
        elif encoding_channels > 0:
            self.encoding_norm = PackedBatchNorm(encoding, **made)
            self.encoding_network = Mlp(encoding, 2 * encoding_channels, encoding_channels, encoding_layers, **made)
        edges = radial_channels if edge_cutoff > 0 else sum(self.edge_vocabulary) + edge_values + 1
        if local == "gated_gcn":
            self.edge_state = nn.Linear(edges, dim, **made)
        self.local_channels = edges if local != "none" and (edges > 1 or local == "gated_gcn" or edge_cutoff > 0) else 0
        self.encoder = Encoder(dim, num_heads, num_samples, depth=depth, local=local, edge_channels=self.local_channels, **made,
                               **self._seen(options))
        token, self.places = head == "class_token", places
        self.class_token = self._learned(1, dim, made) if token else None
        self.positions = self._learned(places + token, dim, made) if positions == "learned" else None
        self._make_head(dim, out_features, head_layers, head_samples, head_dropout, head_sampler or {}, made)
        for columns, of in ((numbers, "node"), (edge_values, "edge"), (out_features, "target"), *[(graph_features, "graph")] * (graph_features > 0)):
            self.register_buffer(f"{of}_mean", torch.zeros(columns, **made))
            self.register_buffer(f"{of}_deviation", torch.ones(columns, **made))
        if atom_references:
            self.register_buffer("target_reference", torch.zeros(self.node_vocabulary[0], out_features, **made))

    @staticmethod
    def _learned(rows: int, dim: int, made: dict) -> nn.Parameter:
        return nn.Parameter(torch.randn(rows, dim, **made) * _TOKEN_DEVIATION)

    @property
    def _standardized_encoding(self) -> int:
        """Columns of node_encoding among the numeric features of the nodes."""
        return 0 if self.encoding_channels > 0 else self.encoding

    def _make_head(self, dim: int, out_features: int, layers: int, samples: int, dropout: float, sampler: dict, made: dict) -> None:
        deep = layers != 1 or self.graph_features > 0
        if deep and self.head == "pairs":
            raise ValueError(f"head_layers must be 1, and graph_features 0, for the head pairs, got {layers} and {self.graph_features}")
        of_tokens = self.head in ("nodes", "class_token")
        if of_tokens and self.graph_features > 0:
            raise ValueError(f"graph_features must be 0 for the head {self.head}, got {self.graph_features}")
        self._head, kind = _HEADS[self.head]
        if of_tokens and deep:
            self._head = "node_head"
            self.node_head = Mlp(dim, dim, out_features, layers, dropout, **made)
            return
        sampled = dict(num_samples=samples, **sampler) if self.head == "sample_max" else {}
        if not of_tokens and self.head != "pairs" and (deep or kind is PooledHead):
            self._head = "pooled_head"
            self.pooled_head = PooledHead(dim, out_features, self.head, layers, self.graph_features, dropout=dropout, **sampled, **made)
        else:
            setattr(self, self._head, kind(dim, out_features, **({"dropout": dropout} if sampled else {}), **sampled, **made))

    def _seen(self, options: dict) -> dict:
        """The options of the layers, with the relative encoding that attention sees; an `attention` sees its own."""
        if options.get("attention") is not None:
            return options
        if self.position_kind == "relative":
            return {**options, "relative": "sequence", "relative_channels": self.position_channels}
        if not self.relative:
            return options
        channels = sum(self.edge_vocabulary) + self.edge_values + 1 + self.distance_channels + ANGLE_CHANNELS * self.angles
        return {**options, "relative": "graph", "relative_channels": channels}

    def forward(self, graphs: FeaturedGraphs, *, sampling: SamplingContext | None = None) -> Tensor:
        """Logits of `graphs`, or standardised targets: [B, out_features], or [N, out_features] for nodes. `sampling`: the
        random numbers of the pass."""
        layout = self._layout(graphs)
        sampling = context_of(self, sampling)
        edges = self._edges(graphs) if self._convolves_edges or self._attends_to_edges else None
        relative = self._relative(graphs, layout, edges)
        attending = layout if self.class_token is None else layout.with_one_more()
        x = self._with_class_token(self._tokens(graphs, layout, sampling), layout, attending)
        x = self.encoder(x, relative, attending, sampling=sampling, graph=self._local(graphs, layout, edges))
        predicted = self._predicted(x, graphs, attending, sampling)
        if not self.atom_references:
            return predicted
        return predicted + sum_pool(self.target_reference.index_select(0, graphs.node_categories[:, 0].long()), layout)

    def _with_class_token(self, x: Tensor, layout: PackedLayout, attending: PackedLayout) -> Tensor:
        """The class token before the tokens x of each item of `layout`, and learned positions."""
        if self.class_token is not None:
            row = torch.arange(layout.rows, device=x.device) + layout.item_of_row(x.device) + 1
            token, first = self.class_token.to(x.dtype).expand(layout.items, -1), attending.pointers(x.device)[:-1]
            x = x.new_zeros(attending.rows, x.shape[1]).index_copy(0, row, x).index_copy(0, first, token)
        if self.positions is None:
            return x
        positions, sizes = self.positions.to(x.dtype), layout.sizes()
        if sizes is not None:
            if any(size not in (0, self.places) for size in sizes):
                raise ValueError(f"ptr must have items of {self.places} nodes for learned positions, got {sizes[:8]}")
            if 0 not in sizes and not torch.compiler.is_compiling():
                return (x.view(layout.items, positions.shape[0], x.shape[1]) + positions).flatten(0, 1)
        return x + positions.index_select(0, attending.place_in_item(x.device))

    def _predicted(self, x: Tensor, graphs: FeaturedGraphs, layout: PackedLayout, sampling: SamplingContext) -> Tensor:
        head = getattr(self, self._head)
        if self.head == "nodes":
            return head(x)
        if self.head == "class_token":
            return head(x.index_select(0, layout.pointers(x.device)[:-1]))
        if self._head == "pooled_head":
            return head(x, layout, self._standardized_features(graphs), sampling=sampling)
        return head(x, layout, sampling=sampling) if self.head == "sample_max" else head(x, layout)

    @property
    def _convolves_edges(self) -> bool:
        """Convolutions read the features of the edges."""
        return self.local_channels > 0 and self.edge_cutoff == 0

    @property
    def _attends_to_edges(self) -> bool:
        return self.relative and self.position_kind != "relative"

    def _standardized_features(self, graphs: FeaturedGraphs) -> Tensor | None:
        if self.graph_features == 0:
            return None
        features = (graphs.graph_features.to(self.numbers.weight) - self.graph_mean) / self.graph_deviation
        return features.nan_to_num(0.0).clamp(-_MAX_DEVIATIONS, _MAX_DEVIATIONS)

    def _radial(self, graphs: FeaturedGraphs, layout: PackedLayout) -> LocalGraph:
        """The nodes within the cutoff of each node, other than itself, by distance, which is differentiable in the coordinates. The search
        runs on the CPU."""
        weight, points = self.numbers.weight, graphs.coordinates.detach().to("cpu", torch.float32)
        nodes, ptr, item = points.shape[0], layout.pointers(points.device), layout.item_of_row(points.device)
        other = ptr[item].unsqueeze(1) + torch.arange(layout.longest())  # the nodes of the item of each node
        x, y, z = (points.unsqueeze(1) - points[other.clamp_max(max(nodes - 1, 0))]).square().unbind(-1)
        squared = x + y + z
        near = (squared <= points.new_tensor(self.edge_cutoff).square()) & (other < ptr[item + 1].unsqueeze(1))
        row, place = (near & (other != torch.arange(nodes).unsqueeze(1))).nonzero(as_tuple=True)
        col, squared = other[row, place], squared[row, place]
        order = squared.sort(stable=True).indices
        order = order[row[order].sort(stable=True).indices]
        count = torch.zeros(nodes, dtype=torch.int64).index_add(0, row, torch.ones_like(row))
        rowptr = nn.functional.pad(count.cumsum(0), (1, 0))
        row, col = row[order].to(weight.device), col[order].to(weight.device)
        exact = graphs.coordinates.to(torch.promote_types(weight.dtype, torch.float32))
        x, y, z = (exact.index_select(0, row) - exact.index_select(0, col)).square().unbind(-1)
        squared = x + y + z
        index = EdgeIndex.of(rowptr.to(weight.device), col, nodes)
        features = distance_features(squared, self.radial_channels, self.edge_cutoff)
        graph = LocalGraph(index, self.local, weight, features.to(weight.dtype))
        distance = squared.clamp_min(SMALLEST_SQUARED_DISTANCE).sqrt()  # the slope of a root is infinite at 0
        envelope = (0.5 * (1 + (distance * (math.pi / self.edge_cutoff)).cos())).to(weight.dtype)
        graph.edge_weight = envelope if graph.edge_weight is None else graph.edge_weight * envelope
        if self.edge_state is not None:
            graph.edges = self.edge_state(graph.edge_attr).to(weight.dtype)
        return graph

    def _local(self, graphs: FeaturedGraphs, layout: PackedLayout, edges: Tensor | None) -> LocalGraph | None:
        if self.local == "none":
            return None
        if self.edge_cutoff > 0:
            return self._radial(graphs, layout)
        index = EdgeIndex.of(graphs.rowptr, graphs.col, graphs.rowptr.shape[0] - 1)
        graph = LocalGraph(index, self.local, self.numbers.weight, edges if self.local_channels > 0 else None)
        if self.edge_state is not None:
            graph.edges = self.edge_state(edges).to(edges.dtype)
        return graph

    def _layout(self, graphs: FeaturedGraphs) -> PackedLayout:
        if not isinstance(graphs, FeaturedGraphs):
            hint = ": geosft.pyg.from_data makes them of it" if hasattr(graphs, "edge_index") else ""
            raise TypeError(f"graphs must be FeaturedGraphs, got {type(graphs).__name__}{hint}")
        weight = self.numbers.weight
        check_indices(graphs.rowptr, graphs.col, weight.device, "the parameters")
        check_offsets("rowptr", graphs.rowptr, graphs.col.shape[0])
        nodes, edges = graphs.rowptr.shape[0] - 1, graphs.col.shape[0]
        check_values("col", graphs.col, nodes)
        _check_features(graphs, "node", self.node_vocabulary, len(self.node_vocabulary) + self.documents, self.node_values, nodes, weight)
        _check_columns(graphs.node_encoding, "node_encoding", self.encoding, nodes, weight)
        finite = ["node_values", "node_encoding"]
        if self.edge_cutoff > 0 or self._attends_to_edges and self.distance_channels > 0:
            _check_columns(graphs.coordinates, "coordinates", 3, nodes, weight)
            finite.append("coordinates")
        if self._attends_to_edges or self._convolves_edges:
            _check_features(graphs, "edge", self.edge_vocabulary, len(self.edge_vocabulary), self.edge_values, edges, weight)
        if isinstance(graphs.ptr, Tensor) and graphs.ptr.device.type != "cpu" and graphs.ptr.device != weight.device:
            raise ValueError(f"ptr must be on the CPU or on the device of the parameters, {weight.device}, got {graphs.ptr.device}")
        layout = PackedLayout.of_ptr(graphs.ptr, nodes)
        if edges > 0 and graphs.col.device.type == "cpu" and not torch.compiler.is_compiling():
            row = torch.repeat_interleave(graphs.rowptr.diff(), output_size=edges)
            check_edges_in_items(torch.stack((row, graphs.col)), layout.pointers(graphs.col.device), "rowptr and col")
        _check_columns(graphs.graph_features, "graph_features", self.graph_features, layout.items, weight)
        for name in finite:
            check_finite(getattr(graphs, name), name, layout)
        if self._attends_to_edges or self._convolves_edges:
            check_finite(graphs.edge_values, "edge_values", PackedLayout(edges, None))
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
        encoding = self._signed(graphs, sampling) if self.encoding > 0 else None
        if self._standardized_encoding > 0:
            parts.append(encoding)
        if parts:
            numbers = (torch.cat(parts, 1).to(weight) - self.node_mean) / self.node_deviation
        else:
            numbers = weight.new_ones(layout.rows, 1)
        x = self.numbers(numbers).to(weight.dtype)
        if self.position_kind == "added":
            x = x + sinusoids_at(layout.place_in_item(weight.device), x.shape[1], dtype=weight.dtype)
        if self.embedding is not None:
            categories = graphs.node_categories[:, :len(self.node_vocabulary)]
            x = x + _sum_of_embeddings(self.embedding.weight, _table_rows(categories, self.node_vocabulary))
        if self.degrees is not None:
            x = x + self.degrees(graphs.rowptr.diff().clamp_max(self.max_degree))
        if self.sign_net is not None:
            return torch.cat((x, self.sign_net(encoding.to(weight)).to(weight.dtype)), 1)
        if self.encoding_norm is None:
            return x
        return torch.cat((x, self.encoding_network(self.encoding_norm(encoding.to(weight))).to(weight.dtype)), 1)

    def _signed(self, graphs: FeaturedGraphs, sampling: SamplingContext) -> Tensor:
        encoding = graphs.node_encoding
        if not (self.signed_encoding and sampling.mode == "random"):
            return encoding
        layout = PackedLayout.of_ptr(graphs.ptr, encoding.shape[0])
        signs = random_integers(2, (layout.items, encoding.shape[1]), sampling.generator).to(encoding) * 2 - 1
        return encoding * signs[layout.item_of_row(encoding.device)]

    def _edges(self, graphs: FeaturedGraphs) -> Tensor:
        """[E, channels]: a channel for each category, each numeric feature, and one that is 1."""
        weight, channels = self.numbers.weight, []
        if self.edge_vocabulary:
            rows = _table_rows(graphs.edge_categories, self.edge_vocabulary)
            channels.append(weight.new_zeros(graphs.col.shape[0], sum(self.edge_vocabulary)).scatter(1, rows, 1.0))
        if self.edge_values > 0:
            channels.append((graphs.edge_values.to(weight) - self.edge_mean) / self.edge_deviation)
        channels.append(weight.new_ones(graphs.col.shape[0], 1))
        return torch.cat(channels, 1)

    def _relative(
        self, graphs: FeaturedGraphs, layout: PackedLayout, channels: Tensor | None
    ) -> GraphEncoding | SequenceEncoding | None:
        weight = self.numbers.weight
        if self.position_kind == "relative":
            place = layout.place_in_item(weight.device)
            return SequenceEncoding(sinusoids_at(place, self.position_channels, dtype=weight.dtype))
        if not self.relative:
            return None
        edges = GraphEncoding(graphs.rowptr, graphs.col, channels)
        if self.distance_channels == 0:
            return edges
        exact = graphs.coordinates.to(torch.promote_types(weight.dtype, torch.float32))
        return edges._replace(coordinates=exact, distance_channels=self.distance_channels, distance_range=self.distance_range, angles=self.angles)

    @torch.no_grad()
    def standardize(self, graphs: FeaturedGraphs, targets: Tensor | None = None) -> None:
        """Sets the buffers from the `graphs` and `targets` of a training set: columns minus their mean over all rows, divided by their deviation;
        that of a constant column is 1. Targets [B, out_features], or [N, out_features] of nodes, are those of a regression, NaN where missing.
        Raises a ValueError or TypeError that names the argument, as of a pass."""
        self._layout(graphs)
        if targets is not None:
            nodes = graphs.rowptr.shape[0] - 1
            shape = [nodes if self.head == "nodes" else PackedLayout.of_ptr(graphs.ptr, nodes).items, len(self.target_mean)]
            if not isinstance(targets, Tensor):
                raise not_a_tensor("targets", targets)
            if targets.isinf().any():
                raise ValueError("targets must be finite, or NaN where they are missing, found infinity")
            if list(targets.shape) != shape or targets.is_complex():
                raise ValueError(f"targets must be real numbers of shape {shape}, got {targets.dtype} {list(targets.shape)}")
        parts = ([graphs.node_values] if self.node_values > 0 else []) + ([graphs.node_encoding] if self._standardized_encoding > 0 else [])
        if parts:
            of_encoding = torch.zeros(sum(part.shape[1] for part in parts), dtype=torch.float64, device=parts[0].device)
            of_encoding[self.node_values:] = _KNOWN_ROUNDING
            self._set_statistics("node", torch.cat(parts, 1), of_encoding)
        if self.signed_encoding and self._standardized_encoding > 0:
            self.node_mean[self.node_values:] = 0
        if self.edge_values > 0:
            self._set_statistics("edge", graphs.edge_values)
        if targets is not None and self.atom_references:
            counts = self._category_counts(graphs)
            references = self._fitted_references(counts, targets.double())
            # The ridge leaves a residual where the constants explain the targets.
            magnitude = targets.double().square().nanmean(0).sqrt()
            self._set_statistics("target", targets.double() - counts @ references, magnitude * _KNOWN_ROUNDING)
            self.target_reference.copy_(references / self.target_deviation.double())
        elif targets is not None:
            self._set_statistics("target", targets)
        if (columns := self.graph_features - self.graph_counts) > 0 and graphs.graph_features is not None:
            self._set_statistics("graph", graphs.graph_features[:, :columns], _KNOWN_ROUNDING)

    def _category_counts(self, graphs: FeaturedGraphs) -> Tensor:
        """float64 [B, categories]: the nodes of each first category in each graph."""
        one_hot = nn.functional.one_hot(graphs.node_categories[:, 0].long(), self.node_vocabulary[0]).double()
        return sum_pool(one_hot, PackedLayout.of_ptr(graphs.ptr, one_hot.shape[0]))

    def _fitted_references(self, counts: Tensor, targets: Tensor) -> Tensor:
        """float64 [categories, out_features], the best fit of the targets, NaN left out. A ridge far below any count decides
        between equally good fits, and gives absent categories 0."""
        columns = []
        for target in targets.unbind(1):
            known = target.isfinite()
            of_known = counts[known]
            ridge = 1e-6 * torch.eye(counts.shape[1], dtype=counts.dtype, device=counts.device)
            columns.append(torch.linalg.solve(of_known.T @ of_known + ridge, of_known.T @ target[known]))
        return torch.stack(columns, 1)

    def _set_statistics(self, name: str, values: Tensor, min_deviation: Tensor | float = 0.0) -> None:
        mean, deviation = _statistics(values, min_deviation)
        columns = values.shape[1]
        getattr(self, f"{name}_mean")[:columns].copy_(mean)
        getattr(self, f"{name}_deviation")[:columns].copy_(deviation)
