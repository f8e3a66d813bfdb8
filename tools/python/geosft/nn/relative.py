# SPDX-License-Identifier: Apache-2.0
"""What the relative encodings X_R of an attention are computed from (SFT sections 4.3 and 5), a row per token."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class PointEncoding(NamedTuple):
    """Squared distances of `coordinates` [N, 3] and, with `normals` [N, 3], normal products; or [B, N, 3] each."""

    coordinates: Tensor
    normals: Tensor | None = None


class GraphEncoding(NamedTuple):
    """Edges of a packed graph in CSR: `rowptr` int64 [N + 1], `col` int64 [E], `edge_attr` [E, r] of all channels, the
    one that is 1 on every edge included."""

    rowptr: Tensor
    col: Tensor
    edge_attr: Tensor


class SequenceEncoding(NamedTuple):
    """Position encodings `positions` [N, ds] or [B, N, ds], such as :func:`sinusoids`."""

    positions: Tensor


KINDS = {"none": type(None), "points": PointEncoding, "graph": GraphEncoding, "sequence": SequenceEncoding}


def sinusoids(n: int, dim: int, *, device=None, dtype=None) -> Tensor:
    """[n, dim] with S[i, 2j] = sin(i / 10000^(j / dim)) and S[i, 2j + 1] the cosine."""
    column = torch.arange(dim, device=device, dtype=torch.float64)
    rate = torch.pow(10000.0, torch.floor(column / 2) / dim)
    angle = torch.arange(n, device=device, dtype=torch.float64).unsqueeze(1) / rate.unsqueeze(0)
    both = torch.where((column % 2 == 0).unsqueeze(0), angle.sin(), angle.cos())
    return both.to(torch.get_default_dtype() if dtype is None else dtype)


def tensors_of(relative: tuple | None) -> list[Tensor | None]:
    """The tensors of an encoding that have a row per token."""
    return [] if relative is None or isinstance(relative, GraphEncoding) else list(relative)
