# SPDX-License-Identifier: Apache-2.0
"""Checks of arguments, with errors that name them. Those of operators are in C++ and name the operators' arguments."""

from __future__ import annotations

import difflib
import inspect
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from .._tensors import check_flags, check_integers, check_numbers, kind_of, not_a_tensor
from .relative import ANGLE_CHANNELS, GraphEncoding, PointEncoding, SequenceEncoding

if TYPE_CHECKING:
    from .packed import PackedLayout

_LARGEST_SIZE = 2**31 - 1
FLOATS = ("float32", "float64")  # that arrays of coordinates and normals have
NUMBERS = ("int64", "int32", *FLOATS)  # that arrays of graphs have


def tensor_of(value: Any, name: str, dtypes: tuple[str, ...] = FLOATS) -> Any:
    """Copies a NumPy array of any strides and byte order into a tensor of its dtype, which must be one of `dtypes`; returns
    anything else as it is. NumPy is not needed."""
    numpy = sys.modules.get("numpy")  # who has an array has imported it
    if numpy is None or not isinstance(value, numpy.ndarray):
        return value
    if isinstance(value, numpy.ma.MaskedArray):
        raise TypeError(f"{name} must be an array without a mask, got {type(value).__name__}")
    if value.dtype.name not in dtypes:
        raise TypeError(f"{name} must be an array of {', '.join(dtypes[:-1])} or {dtypes[-1]}, got {value.dtype}")
    return torch.from_numpy(numpy.array(value, dtype=value.dtype.newbyteorder("="), order="C"))


def check_sizes(minimum: int = 1, **sizes: int) -> None:
    """Sizes by name, of layers: integers from `minimum` on that memory can hold."""
    for name, value in sizes.items():
        check_integers(**{name: value})
        if not minimum <= value <= _LARGEST_SIZE:
            raise ValueError(f"{name} must be at least {minimum} and at most {_LARGEST_SIZE}, got {value}")


def check_sequence(**sequences: Sequence) -> None:
    for name, values in sequences.items():
        if not isinstance(values, Sequence) or isinstance(values, str):
            raise TypeError(f"{name} must be a sequence, such as [{values!r}], got {kind_of(values)}")


def check_eps(eps: float) -> None:
    """What a denominator or a variance has added to it."""
    check_numbers(eps=eps)
    if not 0 <= eps < math.inf:
        raise ValueError(f"eps must be finite and at least 0, got {eps}")


def factory_kwargs(device, dtype: torch.dtype | None) -> dict:
    """The keywords that make parameters on `device` and of `dtype`, which is floating; None: the defaults."""
    if dtype is not None and not isinstance(dtype, torch.dtype):
        raise TypeError(f"dtype must be a torch.dtype or None, got {dtype!r}")
    if dtype is not None and not dtype.is_floating_point:
        raise ValueError(f"dtype must be floating, got {dtype}")
    return {"device": device, "dtype": dtype}


def check_probability(name: str, value: float) -> None:
    """Of dropout."""
    check_numbers(**{name: value})
    if not 0 <= value < 1:
        raise ValueError(f"{name} must be in [0, 1), got {value}")


def _keywords(kinds: Iterable[type]) -> list[str]:
    """The names of what the constructors of `kinds` take."""
    taken = (one for kind in kinds for one in inspect.signature(kind.__init__).parameters.values())
    return [one.name for one in taken if one.name != "self" and one.kind is not inspect.Parameter.VAR_KEYWORD]


def check_options(module: torch.nn.Module, options: Mapping, *kinds: type, without: Iterable[str] = ()) -> None:
    """The options of a constructor that the modules inside of it take, of classes `kinds`, except those of the names `without`,
    which `module` sets itself. The error names the class of `module`, as of any function with an unknown argument."""
    known = set(_keywords(kinds)) - set(without)
    for name in options:
        if name not in known:
            near = difflib.get_close_matches(name, [*_keywords([type(module)]), *sorted(known)], 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise TypeError(f"{type(module).__name__}() got an unexpected keyword argument {name!r}{hint}")


def check_sampler_options(name: str, options: Mapping | None, sampler: type) -> None:
    """The argument `name`: options of the class `sampler`, except for those that the head sets."""
    if options is not None and not isinstance(options, Mapping):
        raise TypeError(f"{name} must be a dict of options of Sampler, got {type(options).__name__}")
    known = [one for one in _keywords([sampler]) if one not in ("dim", "num_samples", "device", "dtype")]
    for given in options or {}:
        if given not in known:
            raise TypeError(f"{name} must hold options of Sampler ({', '.join(known)}), got {given!r}")


def _autocasts(device: torch.device) -> bool:
    """Whether torch.autocast is on for the device, which PyTorch does not ask of "meta"."""
    return device.type != "meta" and torch.is_autocast_enabled(device.type)


def check_like(x: Tensor, name: str, like: Tensor | None, of: str = "the parameters") -> None:
    """A dense floating tensor of the type and device of `like`. Under autocast any floating type is taken."""
    if not isinstance(x, Tensor):
        raise not_a_tensor(name, x)
    if x.layout != torch.strided or x.is_quantized or not x.is_floating_point():
        raise ValueError(f"{name} must be a dense floating tensor, got {x.dtype}, {x.layout}")
    if not isinstance(like, Tensor) or not like.is_floating_point():
        return
    if x.device != like.device:
        raise ValueError(f"{name} must be on the device of {of}, {like.device}, got {x.device}")
    if x.dtype != like.dtype and not _autocasts(x.device):
        raise ValueError(f"{name} must have the dtype of {of}, {like.dtype}, got {x.dtype}")


def cast_like(rows: Tensor | None, like: Tensor | None) -> Tensor | None:
    """Under autocast, floating `rows` in the dtype of `like`: operators take tensors of one dtype (see :func:`check_like`)."""
    if rows is None or like is None or not rows.is_floating_point() or not _autocasts(rows.device):
        return rows
    return rows.to(like.dtype)


def check_finite(rows: Tensor | None, name: str, layout: PackedLayout) -> None:
    """Checks the packed rows [N, ...] of `layout`, where they are on the CPU and values can be read."""
    if rows is None or rows.device.type != "cpu" or torch.compiler.is_compiling():
        return
    bad = ~rows.isfinite().flatten(1).all(1)
    if bad.any():
        raise not_finite(name, bad, layout)


def not_finite(name: str, bad: Tensor, layout: PackedLayout) -> ValueError:
    """The error for packed rows of which `bad`, bool [N], are not finite."""
    return ValueError(f"{name} must be finite, found NaN or infinity in {int(bad.sum())} of {len(bad)} rows, the first of them "
                      f"{layout.place_of(int(bad.nonzero()[0]))}")


def check_points(relative: object, layout: PackedLayout) -> None:
    """Checks that the packed coordinates and normals of a PointEncoding are finite; other encodings are not looked at."""
    if torch.compiler.is_compiling():
        return
    for name, rows in relative._asdict().items() if isinstance(relative, PointEncoding) else ():
        # What is no matrix of floating numbers, the attention names.
        if isinstance(rows, Tensor) and rows.dim() == 2 and rows.is_floating_point() and rows.layout == torch.strided:
            check_finite(rows, name, layout)


def check_edges_in_items(edge_index: Tensor, ptr: Tensor, name: str = "edge_index") -> None:
    """Checks that no edge of `edge_index` [2, E], whose nodes exist, joins two of the items of `ptr`, both with values."""
    item = torch.searchsorted(ptr.to(edge_index.device), edge_index.contiguous(), right=True) - 1
    apart = item[0] != item[1]
    if apart.any():
        first = int(apart.nonzero()[0])
        raise ValueError(f"{name} must join nodes of the same graph, by ptr or batch, but edge {first}, {edge_index[:, first].tolist()}, joins "
                         f"graphs {int(item[0, first])} and {int(item[1, first])}")


def _check_rows(rows: Tensor, name: str, x: Tensor, channels: int) -> None:
    check_like(rows, name, x, "x")
    if rows.shape != (*x.shape[:-1], channels):
        raise ValueError(f"{name} must have shape {[*x.shape[:-1], channels]}, a row per token, got {list(rows.shape)}")


def check_encoding(relative: PointEncoding | GraphEncoding | SequenceEncoding | None, x: Tensor, channels: int) -> None:
    """The tensors of an encoding of the tokens x, for an attention with `channels` relative channels."""
    if isinstance(relative, SequenceEncoding):
        _check_rows(relative.positions, "positions", x, channels)
    elif isinstance(relative, PointEncoding):
        _check_rows(relative.coordinates, "coordinates", x, 3)
        if relative.normals is not None:
            _check_rows(relative.normals, "normals", x, 3)
    elif isinstance(relative, GraphEncoding):
        _check_edges(relative, x, channels)


def check_indices(rowptr: Tensor, col: Tensor, device: torch.device, whose: str) -> None:
    """Checks the type, dimension and device of a graph's compressed sparse rows; `whose` names the device."""
    for name, index in (("rowptr", rowptr), ("col", col)):
        if not isinstance(index, Tensor) or index.dtype != torch.int64 or index.dim() != 1 or index.layout != torch.strided:
            found = f"{index.dtype} {list(index.shape)}" if isinstance(index, Tensor) else kind_of(index)
            raise ValueError(f"{name} must be int64 of one dimension, got {found}")
        if index.device != device:
            raise ValueError(f"{name} must be on the device of {whose}, {device}, got {index.device}")


def _check_edges(relative: GraphEncoding, x: Tensor, channels: int) -> None:
    check_indices(relative.rowptr, relative.col, x.device, "x")
    if relative.rowptr.shape[0] != x.shape[0] + 1:
        raise ValueError(f"rowptr must have {x.shape[0] + 1} entries, one more than there are tokens, got {relative.rowptr.shape[0]}")
    edges = relative.col.shape[0]
    distances = 0 if relative.coordinates is None else relative.distance_channels
    check_flags(angles=relative.angles)
    check_like(relative.edge_attr, "edge_attr", x, "x")
    if relative.angles:
        if relative.coordinates is None:
            raise ValueError("angles must be False without coordinates")
        if channels < ANGLE_CHANNELS + 2:  # and one of distances and of edges each
            raise ValueError(f"angles must be False for fewer than {ANGLE_CHANNELS + 2} relative channels, of which angles take {ANGLE_CHANNELS}, got {channels}")
        channels -= ANGLE_CHANNELS
    if relative.coordinates is not None:
        exact = isinstance(relative.coordinates, Tensor) and relative.coordinates.dtype == torch.float32
        widened = exact and x.dtype in (torch.float16, torch.bfloat16)  # in float32 differences of coordinates are computed
        _check_rows(relative.coordinates, "coordinates", x.new_empty(x.shape, dtype=torch.float32) if widened else x, 3)
        if not 1 <= relative.distance_channels <= channels:
            raise ValueError(f"distance_channels must be from 1 to the {channels} relative channels, got {relative.distance_channels}")
        if not relative.distance_range > 0:
            raise ValueError(f"distance_range must be above 0, got {relative.distance_range}")
    if relative.edge_attr.shape != (edges, channels - distances):
        raise ValueError(f"edge_attr must have shape {[edges, channels - distances]}, got {list(relative.edge_attr.shape)}")
    if relative.coordinates is None or relative.col.device.type != "cpu" or torch.compiler.is_compiling():
        return  # the operator looks at the values
    ptr, col = relative.rowptr, relative.col
    if ptr.device.type == "cpu" and (int(ptr[0]) != 0 or int(ptr[-1]) != edges or bool((ptr.diff() < 0).any())):
        raise ValueError(f"rowptr must rise from 0 to the number of edges, {edges}")
    if edges > 0 and not (0 <= int(col.min()) and int(col.max()) < x.shape[0]):
        raise ValueError(f"col must name nodes from 0 to {x.shape[0] - 1}, got {int(col.min())} to {int(col.max())}")
