# SPDX-License-Identifier: Apache-2.0
"""What the relative encodings X_R of an attention are computed from (SFT sections 4.3 and 5), a row per token."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from .._tensors import not_a_tensor


class PointEncoding(NamedTuple):
    """Squared distances of `coordinates` [N, 3] and, with `normals` [N, 3], normal products and angles; or [B, N, 3]
    each."""

    coordinates: Tensor
    normals: Tensor | None = None


class GraphEncoding(NamedTuple):
    """Edges of a packed graph in CSR: `rowptr` int64 [N + 1], `col` int64 [E], `edge_attr` [E, r] of all channels, the
    one that is 1 on every edge included, in any place (:class:`geosft.pyg.SamplingConv` puts it last). With `coordinates` [N, 3] of the nodes, X_R has `distance_channels` further
    channels of the distance between two nodes (:func:`distance_features`), and with `angles` five more: the mean cosine of
    the angles between the line from a node to a sampled one and the edges of the node, and that of their squares; the same
    at the sampled one; and the mean cosine of the angles between an edge of one and an edge of the other. That takes memory
    for every pair of a node and a sampled one: for molecules, not for large graphs. Beside tokens of 16 bits coordinates may be
    float32: these channels are computed in float32 before they are rounded."""

    rowptr: Tensor
    col: Tensor
    edge_attr: Tensor
    coordinates: Tensor | None = None
    distance_channels: int = 0
    distance_range: float = 1.0
    angles: bool = False


class SequenceEncoding(NamedTuple):
    """Position encodings `positions` [N, ds] or [B, N, ds], such as :func:`sinusoids`."""

    positions: Tensor


_MAX_DISTANCE_CHANNELS = 65536
SMALLEST_SQUARED_DISTANCE = 1e-12  # keeps the gradient of a distance of 0 finite
ANGLE_CHANNELS = 5
POINT_RELATIVE = ("paper", "angles")
KINDS = {"none": type(None), "points": PointEncoding, "graph": GraphEncoding, "sequence": SequenceEncoding}


def point_channels(relative: str, normals: bool, chirality: bool) -> int:
    """relative_channels of points: 1, or with normals 2; with angles 4, with chirality 5 (:func:`geosft.point_attention`)."""
    if relative not in POINT_RELATIVE:
        raise ValueError(f"relative must be one of {', '.join(POINT_RELATIVE)}, not {relative!r}")
    if relative == "angles" and not normals:
        raise ValueError("relative must be 'paper' for points without normals, not 'angles'")
    if chirality and relative != "angles":
        raise ValueError("chirality must be False unless relative is 'angles'")
    return (5 if chirality else 4) if relative == "angles" else 2 if normals else 1


def point_features(coordinates: Tensor, points: Tensor, normals: Tensor | None, sampled: Tensor | None, channels: int) -> Tensor:
    """X_R [N, K, channels] of coordinates and normals [N, 3] and what each sees of the sampled ones, [N, K, 3]."""
    apart = points - coordinates.unsqueeze(1)
    encoding = [apart.square().sum(-1)]
    if normals is not None:
        own = normals.unsqueeze(1)
        encoding.append((own * sampled).sum(-1))
        if channels > 2:
            encoding += [(own * apart).sum(-1), (sampled * apart).sum(-1)]
        if channels > 4:  # the vector product, of operations that every export has
            (a, b, c), (u, v, w) = own.unbind(-1), sampled.unbind(-1)
            product = torch.stack((b * w - c * v, c * u - a * w, a * v - b * u), -1)
            encoding.append((product * apart).sum(-1))
    return torch.stack(encoding, -1)


def sinusoids(n: int, dim: int, *, device=None, dtype=None) -> Tensor:
    """[n, dim] with S[i, 2j] = sin(i / 10000^(j / dim)) and S[i, 2j + 1] the cosine, on `device`, of `dtype` (None: the
    default). Raises a ValueError that names n or dim below 0."""
    for name, size in (("n", n), ("dim", dim)):
        if not 0 <= size < 2**31:
            raise ValueError(f"{name} must be at least 0 and below 2^31, got {size}")
    return sinusoids_at(torch.arange(n, device=device), dim, dtype=dtype)


def sinusoids_at(positions: Tensor, dim: int, *, dtype=None) -> Tensor:
    """The rows of :func:`sinusoids` for positions [N]: [N, dim]."""
    column = torch.arange(dim, device=positions.device, dtype=torch.float64)
    rate = torch.pow(10000.0, torch.floor(column / 2) / dim)
    angle = positions.to(torch.float64).unsqueeze(1) / rate.unsqueeze(0)
    both = torch.where((column % 2 == 0).unsqueeze(0), angle.sin(), angle.cos())
    return both.to(torch.get_default_dtype() if dtype is None else dtype)


def distance_features(squared_distance: Tensor, channels: int, range_: float) -> Tensor:
    """[..., channels] of `squared_distance` d^2 [...], floating: (d / range_)^2, then Gaussians of d of equal width with
    evenly spaced centres from 0 to `range_`, in the unit of the coordinates. Raises a ValueError or TypeError that names the
    argument."""
    if not isinstance(squared_distance, Tensor):
        raise not_a_tensor("squared_distance", squared_distance)
    if not 1 <= channels <= _MAX_DISTANCE_CHANNELS or not range_ > 0:
        raise ValueError(f"channels must be from 1 to {_MAX_DISTANCE_CHANNELS} and range_ above 0, got {channels} and {range_}")
    width = range_ / max(channels - 2, 1)
    distance = (squared_distance + SMALLEST_SQUARED_DISTANCE).sqrt()
    gaussians = [(-((distance - width * i) / width).square()).exp() for i in range(channels - 1)]
    return torch.stack([squared_distance / (range_ * range_), *gaussians], -1)


def by_name(given) -> str:
    """What an error adds where a mask, offsets or plain rows were given at the place of an encoding."""
    if isinstance(given, Tensor) and given.dtype == torch.bool:
        return ": give a mask by its name, mask=…"
    integers = isinstance(given, Tensor) and not given.is_floating_point() and not given.is_complex()
    if integers or isinstance(given, (list, tuple)) and len(given) > 0 and all(isinstance(one, int) for one in given):
        return ": give the offsets of packed items by their name, ptr=…"
    if isinstance(given, Tensor):
        return ": PointEncoding(…) makes an encoding of coordinates, SequenceEncoding(…) of positions"
    return ""


def names_of(relative: tuple | None) -> tuple[str, ...]:
    """The names of :func:`tensors_of`."""
    return () if relative is None or isinstance(relative, GraphEncoding) else relative._fields


def tensors_of(relative: tuple | None) -> list[Tensor | None]:
    """The tensors of an encoding that have a row per token."""
    if relative is None or isinstance(relative, GraphEncoding):
        return []
    if not isinstance(relative, (PointEncoding, SequenceEncoding)):
        raise TypeError(f"relative must be a PointEncoding, GraphEncoding or SequenceEncoding, got {type(relative).__name__}{by_name(relative)}")
    for name, rows in relative._asdict().items():
        if rows is not None and not isinstance(rows, Tensor):
            raise not_a_tensor(name, rows)
    return list(relative)
