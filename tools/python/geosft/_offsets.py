# SPDX-License-Identifier: Apache-2.0
"""Offsets of packed items that were given as a sequence of integers."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def is_integer(value: object) -> bool:
    """Whether a value is an integer of Python, NumPy, a trace, or a tensor of integers without dimensions."""
    if isinstance(value, Tensor):
        return value.dim() == 0 and not (value.is_floating_point() or value.is_complex() or value.dtype == torch.bool)
    return not isinstance(value, bool) and (isinstance(value, (int, torch.SymInt)) or hasattr(value, "__index__"))


def offsets_of(ptr: Tensor | Sequence[int] | None, name: str = "ptr") -> Tensor | None:
    """int64 [B + 1] of a sequence of B + 1 integers of Python, NumPy or a trace; a tensor or None as it is. Raises a TypeError that
    names the argument for anything else, such as floating numbers, which torch.tensor would round."""
    if ptr is None or isinstance(ptr, Tensor):
        return ptr
    if isinstance(ptr, (str, bytes)) or not hasattr(ptr, "__len__"):
        raise TypeError(f"{name} must be int64 [B + 1] or a sequence of integers, got {type(ptr).__name__}")
    for place, one in enumerate(ptr):
        if not is_integer(one):
            raise TypeError(f"{name} must be int64 [B + 1] or a sequence of integers, got {one!r} at place {place}")
    return torch.tensor(ptr, dtype=torch.int64)
