# SPDX-License-Identifier: Apache-2.0
"""geosft in PyTorch Geometric: batches as packed graphs, a convolution, and a transform. It needs torch_geometric."""

from __future__ import annotations

import os
import pathlib
import tempfile
import warnings
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor, nn

from ._tensors import check_flags
from .nn import FeaturedGraphs, GraphEncoding, PointEncoding, Sampler, SamplingAttention, SamplingContext, TransformerLayer
from .nn.checks import check_edges_in_items, check_finite, check_like, check_options, check_sizes, factory_kwargs
from .nn.packed import PackedLayout
from .nn.relative import point_channels

try:
    from torch_geometric.data import Data
    from torch_geometric.transforms import BaseTransform
except ImportError as error:
    raise ImportError("geosft.pyg needs PyTorch Geometric: pip install torch_geometric") from error

__all__ = ["AddRandomWalkPE", "SamplingConv", "SamplingPointConv", "from_data", "ptr_of", "write_tu"]

_MOST_ITEMS = 2**31
# Options that the layers below set themselves, or have no use for.
_SET = ("dim", "num_heads", "num_samples", "relative", "relative_channels", "local", "edge_channels", "updates_edges", "attention")


def _check_index(index: Tensor, name: str, shape: tuple[int | None, ...]) -> None:
    """A dense int64 tensor with values; None in `shape`: any number."""
    if not isinstance(index, Tensor):
        raise TypeError(f"{name} must be a tensor, got {type(index).__name__}")
    fits = index.dim() == len(shape) and all(wanted is None or found == wanted for wanted, found in zip(shape, index.shape))
    if index.dtype != torch.int64 or not fits or index.layout != torch.strided or index.is_meta:
        wanted = ", ".join("E" if size is None else str(size) for size in shape)
        raise ValueError(f"{name} must be dense int64 [{wanted}], got {index.dtype} {list(index.shape)}, {index.layout} on {index.device}")


def _check_edges(edge_index: Tensor, nodes: int) -> None:
    _check_index(edge_index, "edge_index", (2, None))
    if torch.compiler.is_compiling() or edge_index.device.type != "cpu" or edge_index.numel() == 0:
        return
    if not (0 <= int(edge_index.min()) and int(edge_index.max()) < nodes):
        raise ValueError(f"edge_index must name nodes from 0 to {nodes - 1}, got {int(edge_index.min())} to {int(edge_index.max())}")


def ptr_of(batch: Tensor | None, rows: int, items: int | None = None) -> Tensor:
    """int64 [B + 1]: offsets of the items from the item of each of `rows` rows, `batch` int64 [rows], ascending (None: one
    item); `items`: at least so many. Raises a ValueError or TypeError that names the argument."""
    if batch is None:
        return torch.tensor([0, rows])
    check_sizes(0, rows=rows)
    _check_index(batch, "batch", (rows,))
    if not torch.compiler.is_compiling() and rows > 0:
        if (batch.diff() < 0).any():
            raise ValueError("batch must be ascending: the rows of an item are beside each other")
        if not 0 <= int(batch[0]) <= int(batch[-1]) < _MOST_ITEMS:
            raise ValueError(f"batch must lie in [0, {_MOST_ITEMS}), got {int(batch[0])} to {int(batch[-1])}")
    count = torch.bincount(batch, minlength=items or 1)
    return nn.functional.pad(count.cumsum(0), (1, 0))


def _offsets(batch: Tensor | None, ptr: Tensor | Sequence[int] | None, rows: int) -> Tensor | Sequence[int]:
    """The offsets of the items of `rows` rows, by `ptr`, or else by `batch`. Raises a ValueError where the two do not agree."""
    if ptr is None:
        return ptr_of(batch, rows)
    if batch is None or torch.compiler.is_compiling():
        return ptr
    ptr_of(batch, rows)  # checks it
    item = PackedLayout.of_ptr(ptr, rows).item_of_row(batch.device)
    apart = item != batch
    if apart.any():
        row = int(apart.nonzero()[0])
        raise ValueError(f"ptr and batch must name the same graphs, but row {row} is of graph {int(item[row])} by ptr and {int(batch[row])} by batch: give one of them")
    return ptr


def from_data(
    data: Data, *, node_categories: str | Tensor | None = None, node_values: str | Tensor | None = None,
    edge_categories: str | Tensor | None = None, edge_values: str | Tensor | None = None
) -> FeaturedGraphs:
    """The packed graphs of a Data or a Batch, for :class:`geosft.nn.GraphModel`.

    Args:
        data: with edge_index. ptr or batch says which nodes are of which graph; without both they are of one. pos become the
            coordinates, edge_weight the weights of encodings, and `rwpe` or another attribute `node_encoding` the encoding.
        node_categories, node_values, edge_categories, edge_values: names of attributes, or tensors of a row per node or
            edge. Without any of the two of nodes, `x` is what its dtype says: integers are categories, floating numbers
            values; and likewise `edge_attr` for edges.

    One-hot features become categories by ``node_categories=data.x.argmax(1, keepdim=True)``. Raises a ValueError or TypeError
    that names the attribute.
    """
    if not isinstance(data, Data):
        of_list = "; Batch.from_data_list(…) of PyTorch Geometric makes one of a list" if isinstance(data, (list, tuple)) else ""
        raise TypeError(f"data must be a Data or a Batch of PyTorch Geometric, got {type(data).__module__}.{type(data).__qualname__}{of_list}")

    def rows(given):
        found = getattr(data, given, None) if isinstance(given, str) else given
        if isinstance(given, str) and found is None:
            raise ValueError(f"data has no attribute {given!r}")
        return found if found is None or found.dim() == 2 else found.unsqueeze(1)

    def by_type(categories, values, attribute):
        found = getattr(data, attribute, None)
        if categories is not None or values is not None or found is None:
            return rows(categories), rows(values)
        if found.is_complex() or found.dtype == torch.bool:
            raise ValueError(f"{attribute} must be integers, which are categories, or floating numbers, got {found.dtype}")
        return (None, rows(found)) if found.is_floating_point() else (rows(found), None)

    if data.edge_index is None:
        raise ValueError("data must have an edge_index")
    if not isinstance(data.edge_index, Tensor):
        raise TypeError(f"edge_index must be a tensor, got {type(data.edge_index).__name__}")
    for attribute in ("x", "edge_attr"):
        found = getattr(data, attribute, None)
        if found is not None and (not isinstance(found, Tensor) or found.layout != torch.strided or found.is_quantized or found.dim() == 0):
            raise ValueError(f"{attribute} must be a dense tensor of rows, got {getattr(found, 'layout', type(found).__name__)}")
    ptr = _offsets(getattr(data, "batch", None), getattr(data, "ptr", None), data.num_nodes)
    of_x = node_categories is None and node_values is None and data.x is not None
    if of_x and (data.x.dim() > 2 or data.x.shape[0] != data.num_nodes):
        raise ValueError(f"x must have a row for each of the {data.num_nodes} nodes, got {list(data.x.shape)}")
    node_categories, node_values = by_type(node_categories, node_values, "x")
    edge_categories, edge_values = by_type(edge_categories, edge_values, "edge_attr")
    encoding = getattr(data, "node_encoding", None)
    return FeaturedGraphs.from_edges(
        data.edge_index, ptr, edge_categories=edge_categories, edge_values=edge_values, weight=getattr(data, "edge_weight", None),
        node_categories=node_categories, node_values=node_values, coordinates=getattr(data, "pos", None),
        node_encoding=getattr(data, "rwpe", None) if encoding is None else encoding)


def _check_graphs(edge_index: Tensor, ptr: Tensor | Sequence[int], nodes: int) -> None:
    """Checks that edges on the CPU, which name nodes, stay in the graphs of `ptr`, if that is one: attention refuses others."""
    if torch.compiler.is_compiling() or edge_index.device.type != "cpu":
        return
    ptr = ptr if isinstance(ptr, Tensor) else torch.tensor(ptr)
    if ptr.dtype != torch.int64 or ptr.dim() != 1 or ptr.layout != torch.strided or ptr.device.type != "cpu" or len(ptr) == 0:
        return
    if int(ptr[0]) == 0 and int(ptr[-1]) == nodes and not bool((ptr.diff() < 0).any()):
        check_edges_in_items(edge_index, ptr)


def _csr(edge_index: Tensor, nodes: int, edge_attr: Tensor | None, like: Tensor, edge_dim: int | None = None) -> GraphEncoding:
    """The edges of an edge_index in CSR, with edge_attr of `edge_dim` channels and the channel that is 1 on every edge."""
    _check_edges(edge_index, nodes)
    source, order = edge_index[0].sort(stable=True)
    # Not by bincount, whose size torch.compile does not know.
    degree = torch.zeros(nodes, dtype=torch.int64, device=source.device).scatter_add_(0, source, torch.ones_like(source))
    rowptr = nn.functional.pad(degree.cumsum(0), (1, 0))
    ones = like.new_ones(order.shape[0], 1)
    if edge_attr is None:
        return GraphEncoding(rowptr, edge_index[1][order], ones)
    if not isinstance(edge_attr, Tensor) or edge_attr.dim() not in (1, 2) or edge_attr.shape[0] != edge_index.shape[1]:
        found = list(edge_attr.shape) if isinstance(edge_attr, Tensor) else type(edge_attr).__name__
        raise ValueError(f"edge_attr must have a row for each of the {edge_index.shape[1]} edges, got {found}")
    if edge_attr.layout != torch.strided or edge_attr.is_quantized or edge_attr.device != like.device:
        raise ValueError(f"edge_attr must be dense and on the device of x, {like.device}, got {edge_attr.layout} on {edge_attr.device}")
    if not torch.compiler.is_compiling() and edge_attr.device.type == "cpu" and not edge_attr.isfinite().all():
        raise ValueError("edge_attr must be finite, found NaN or infinity")
    rows = edge_attr if edge_attr.dim() == 2 else edge_attr.unsqueeze(1)
    if edge_dim is not None and rows.shape[1] != edge_dim:
        raise ValueError(f"edge_attr must have shape {[edge_index.shape[1], edge_dim]}, got {list(edge_attr.shape)}")
    return GraphEncoding(rowptr, edge_index[1][order], torch.cat((rows[order].to(like.dtype), ones), 1))


def _check_nodes(x: Tensor, channels: int) -> None:
    if not isinstance(x, Tensor):
        raise TypeError(f"x must be a tensor, got {type(x).__name__}")
    if x.dim() != 2 or x.shape[1] != channels:
        raise ValueError(f"x must have shape [N, {channels}], got {list(x.shape)}")


def _names_graphs(edge_attr: Tensor | None, nodes: int) -> bool:
    """Whether it looks like the `batch` of so many nodes."""
    return isinstance(edge_attr, Tensor) and edge_attr.dtype == torch.int64 and edge_attr.dim() == 1 and edge_attr.shape[0] == nodes


class _SampledConv(nn.Module):
    """A linear map to the channels of the result, where they are not those of the input, and attention over a sample."""

    def __init__(
        self, in_channels: int, out_channels: int | None, heads: int, num_samples: int, layer: bool, relative: str,
        relative_channels: int, options: dict
    ):
        super().__init__()
        kind, *inner = (TransformerLayer, SamplingAttention, Sampler) if layer else (SamplingAttention, Sampler)
        check_options(self, options, kind, *inner, without=_SET)
        check_flags(layer=layer)
        out_channels = in_channels if out_channels is None else out_channels
        check_sizes(in_channels=in_channels, out_channels=out_channels, heads=heads)
        if out_channels % heads != 0:
            raise ValueError(f"heads must divide out_channels {out_channels}, got {heads}")
        self.in_channels, self.out_channels, self.heads = in_channels, out_channels, heads
        made = factory_kwargs(options.get("device"), options.get("dtype"))
        self.lin = None if out_channels == in_channels else nn.Linear(in_channels, out_channels, **made)
        self.mix = kind(out_channels, heads, num_samples, relative=relative, relative_channels=relative_channels, **options)

    def extra_repr(self) -> str:
        """What print shows."""
        return f"{self.in_channels}, {self.out_channels}, heads={self.heads}"

    def reset_parameters(self) -> None:
        """Initialises all parameters anew."""
        inner = [module for module in self.modules() if module is not self and hasattr(module, "reset_parameters")]
        for module in sorted(inner, key=lambda one: isinstance(one, SamplingAttention)):  # they last: they set what is inside of them
            module.reset_parameters()

    def _tokens(self, x: Tensor) -> Tensor:
        _check_nodes(x, self.in_channels)
        if self.lin is None:
            return x
        check_like(x, "x", self.lin.weight)
        return self.lin(x).to(x.dtype)  # autocast does not change the type of tokens


class SamplingConv(_SampledConv):
    """Attention over a learned sample of the nodes of each graph that sees the edges, called as a convolution of PyTorch
    Geometric is: every node hears from every sampled node of its graph, the edges say how. What a node sees of another one is
    the edge from it to that one; of directed graphs ``edge_index.flip(0)`` shows it those that come in.

    Args:
        in_channels: of the nodes.
        out_channels: of the result, all heads together (as with ``concat=False`` of other layers); None: as many as in. If they
            are others, a linear map stands in front.
        heads: divides out_channels.
        num_samples: sampled pairs per graph.
        edge_dim: channels of edge_attr; None: edges have none.
        layer: a whole :class:`geosft.nn.TransformerLayer` (residual connections, norms, feed-forward) instead of the
            attention alone.
        options: further options of :class:`geosft.nn.SamplingAttention`, or of the layer, by name; no convolution (`local`), and no
            other attention.

    Raises a ValueError or TypeError that names the argument.
    """

    def __init__(
        self, in_channels: int, out_channels: int | None = None, heads: int = 4, num_samples: int = 32, *, edge_dim: int | None = None,
        layer: bool = False, **options
    ):
        if edge_dim is not None:
            check_sizes(edge_dim=edge_dim)
        super().__init__(in_channels, out_channels, heads, num_samples, layer, "graph", (edge_dim or 0) + 1, options)
        self.edge_dim = edge_dim

    def forward(
        self, x: Tensor, edge_index: Tensor, edge_attr: Tensor | None = None, batch: Tensor | None = None, *,
        ptr: Tensor | Sequence[int] | None = None, sampling: SamplingContext | None = None
    ) -> Tensor:
        """Nodes x [N, in_channels], edge_index int64 [2, E], edge_attr [E, edge_dim], and the graph of each node `batch`
        int64 [N], or the offsets of the graphs `ptr` (both must agree); the random numbers `sampling` of the pass: [N, out_channels]."""
        x = self._tokens(x)
        if isinstance(edge_index, Tensor) and _names_graphs(edge_attr, x.shape[0]) and (self.edge_dim is None or edge_attr.shape != edge_index.shape[-1:]):
            raise ValueError("edge_attr, the third argument, must hold features of the edges, got an integer per node: give the graph of each node "
                             "by its name, batch=…")
        if edge_attr is None and self.edge_dim is not None:
            raise ValueError(f"edge_attr must be given: the convolution was built with edge_dim={self.edge_dim}")
        if edge_attr is not None and self.edge_dim is None:
            raise ValueError("edge_attr must be None: the convolution was built without edge_dim")
        ptr = _offsets(batch, ptr, x.shape[0])
        edges = _csr(edge_index, x.shape[0], edge_attr, x, self.edge_dim)
        _check_graphs(edge_index, ptr, x.shape[0])
        return self.mix(x, edges, ptr, sampling=sampling)


class SamplingPointConv(_SampledConv):
    """Attention over a learned sample of the points of each cloud that sees distances (and normals), called as PyTorch
    Geometric's layers of points are: ``conv(x, pos, batch)``. It has no edges: there is no neighbourhood to search.

    Args:
        in_channels, out_channels, heads, num_samples, layer, options: see :class:`SamplingConv`.
        normals: forward takes normals, too.
        relative, chirality: see :class:`geosft.nn.PointClassifier`.

    Raises a ValueError or TypeError that names the argument.
    """

    def __init__(
        self, in_channels: int, out_channels: int | None = None, heads: int = 4, num_samples: int = 32, *, normals: bool = False,
        relative: str = "paper", chirality: bool = False, layer: bool = False, **options
    ):
        check_flags(normals=normals, chirality=chirality)
        super().__init__(in_channels, out_channels, heads, num_samples, layer, "points", point_channels(relative, normals, chirality), options)

    def forward(
        self, x: Tensor, pos: Tensor, batch: Tensor | None = None, normals: Tensor | None = None, *,
        ptr: Tensor | Sequence[int] | None = None, sampling: SamplingContext | None = None
    ) -> Tensor:
        """Points x [N, in_channels] at pos [N, 3], with normals [N, 3], and the cloud of each point `batch` int64 [N], or the
        offsets of the clouds `ptr` (both must agree); the random numbers `sampling` of the pass: [N, out_channels]."""
        x = self._tokens(x)
        check_like(pos, "pos", x, "x")
        if pos.shape != (x.shape[0], 3):
            raise ValueError(f"pos must have shape [{x.shape[0]}, 3], got {list(pos.shape)}")
        check_finite(pos, "pos", PackedLayout(x.shape[0], None))
        return self.mix(x, PointEncoding(pos, normals), _offsets(batch, ptr, x.shape[0]), sampling=sampling)


class AddRandomWalkPE(BaseTransform):
    """Adds exact random-walk encodings [num_nodes, walk_length] of the nodes (:func:`geosft.random_walk_pe`), which need
    no N x N matrix.

    Args:
        walk_length: steps.
        attr_name: of the attribute; None: they are appended to `x`.

    Raises a ValueError that names the argument.
    """

    def __init__(self, walk_length: int, attr_name: str | None = "node_encoding"):
        check_sizes(walk_length=walk_length)
        self.walk_length, self.attr_name = walk_length, attr_name

    def forward(self, data: Data) -> Data:
        """The `data` with the encoding, floating [num_nodes, walk_length]. Raises a ValueError that names edge_index."""
        if data.edge_index is None:
            raise ValueError("data must have an edge_index")
        _check_edges(data.edge_index.cpu(), data.num_nodes)
        source, order = data.edge_index.cpu()[0].sort(stable=True)
        rowptr = nn.functional.pad(torch.bincount(source, minlength=data.num_nodes).cumsum(0), (1, 0))
        weight = getattr(data, "edge_weight", None)
        weight = None if weight is None else weight.cpu()[order]
        walks = torch.ops.geosft.random_walk_pe(rowptr, data.edge_index.cpu()[1][order], self.walk_length, weight)
        walks = walks.to(data.edge_index.device)
        if self.attr_name is None:
            x = data.x
            data.x = walks if x is None else torch.cat((x if x.dim() == 2 else x.unsqueeze(1), walks.to(x.dtype)), 1)
        else:
            data[self.attr_name] = walks
        return data


def _write_rows(file: pathlib.Path, rows: Tensor) -> None:
    lines = (", ".join(map(repr, row)) for row in (rows.flatten(1) if rows.dim() > 1 else rows.unsqueeze(1)).tolist())
    file.write_text("".join(f"{line}\n" for line in lines))


def _attribute_kinds(names: Iterable[str]) -> str:
    """The attributes of a graph that files of TU's form hold, by the names of the files, and their kinds."""
    attributes = {"node": "x", "edge": "edge_attr", "graph": "y"}
    words = [name.split("_") for name in sorted(names) if name not in ("A", "graph_indicator")]
    return ", ".join(f"{attributes[of]} of {'integers' if kind == 'labels' else 'floating numbers'}" for of, kind in words)


def write_tu(graphs: Sequence[Data], folder: str | os.PathLike[str]) -> None:
    """Writes graphs as a dataset in the text format of TU Dortmund, which ``geosft-graph train --data FOLDER`` reads.

    Args:
        graphs: each with edge_index, and all of them or none with y, x and edge_attr. Integer x and edge_attr become
            labels, floating ones attributes. y of one integer is a class; floating numbers are targets of a regression.
            Graphs without y are for ``geosft-graph predict RUN FOLDER``.
        folder: is made, and must not exist; its name is that of the set.

    A UserWarning names other attributes of nodes or edges, which are left out: ``from_networkx`` makes x and edge_attr of
    them by group_node_attrs and group_edge_attrs.

    Raises a ValueError or TypeError that names the graph and the attribute, and a FileExistsError; nothing is left then.
    """
    folder = pathlib.Path(folder)
    if len(graphs) == 0:
        raise ValueError("graphs must have at least one")
    columns: dict[str, list[Tensor]] = {}
    begin = 0
    left_out: set[str] = set()  # attributes of nodes or edges of every graph
    for number, graph in enumerate(graphs):
        if not isinstance(graph, Data):
            raise TypeError(f"graph {number}: it must be Data of torch_geometric, got {type(graph).__name__}; "
                            "torch_geometric.utils.from_networkx makes it of a graph of NetworkX")
        nodes = graph.num_nodes
        if not nodes:
            raise ValueError(f"graph {number}: it must have nodes")
        try:
            _check_edges(graph.edge_index, nodes)
        except (TypeError, ValueError) as error:
            raise type(error)(f"graph {number}: {error}") from None
        rows = {"A": graph.edge_index.T + begin + 1, "graph_indicator": torch.full((nodes,), number + 1)}
        for name, attribute, count in (("graph", "y", 1), ("node", "x", nodes), ("edge", "edge_attr", graph.num_edges)):
            value = getattr(graph, attribute)
            if value is None:
                continue
            if not isinstance(value, Tensor):
                raise TypeError(f"graph {number}: {attribute} must be a tensor, got {type(value).__name__}")
            value = value.reshape(1, -1) if name == "graph" else value.flatten(1) if value.dim() > 1 else value.reshape(-1, 1)
            if value.shape[0] != count:
                raise ValueError(f"graph {number}: {attribute} must have {count} rows, got {list(value.shape)}")
            if not value.isfinite().all():
                raise ValueError(f"graph {number}: {attribute} must be finite")
            if name == "graph" and not value.is_floating_point() and value.shape[1] != 1:
                raise ValueError(f"graph {number}: y must be one class, or floating numbers, got {value.shape[1]} integers; several "
                                 "labels a graph have no place in TU's form, but in packed graphs (HDF5)")
            rows[f"{name}_{'attributes' if value.is_floating_point() else 'labels'}"] = value.long() if value.dtype == torch.bool else value
        if number > 0 and set(rows) != set(columns):
            raise ValueError(f"graph {number} has {_attribute_kinds(rows)}, where those before it have {_attribute_kinds(columns)}: all graphs must have the same "
                             "attributes, each of integers or each of floating numbers")
        for name, value in rows.items():
            columns.setdefault(name, []).append(value)
            if value.dim() == 2 and value.shape[1] != columns[name][0].shape[1]:
                raise ValueError(f"graph {number}: {_attribute_kinds([name])} has {value.shape[1]} columns, graph 0 has {columns[name][0].shape[1]}")
        begin += nodes
        others = {name for name in graph.keys() if name not in ("x", "edge_index", "edge_attr", "y", "batch")
                  and (graph.is_node_attr(name) or graph.is_edge_attr(name))}
        left_out = others if number == 0 else left_out & others
    if left_out:
        warnings.warn(f"write_tu writes x, edge_attr and y, not {', '.join(sorted(left_out))}: from_networkx(graph, group_node_attrs=[…], "
                      "group_edge_attrs=[…]) makes x and edge_attr of attributes", stacklevel=2)
    if folder.exists():
        raise FileExistsError(f"{folder} exists already")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        made = pathlib.Path(temporary) / folder.name
        made.mkdir()
        for name, values in columns.items():
            _write_rows(made / f"{folder.name}_{name}.txt", torch.cat(values))
        made.rename(folder)
