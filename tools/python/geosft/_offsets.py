# SPDX-License-Identifier: Apache-2.0
"""Offsets of packed items that were given as a sequence of integers, or that sizes of results depend on."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import torch
from torch import Tensor

_library = torch.library.Library("geosft", "FRAGMENT")
_library.define("_of_call(Tensor ptr, int call) -> Tensor", tags=(torch.Tag.pt2_compliant_tag,))
_library.impl("_of_call", lambda ptr, call: ptr.clone(), "CompositeExplicitAutograd")
_calls = itertools.count()


def _next_call() -> int | None:
    return None if torch.compiler.is_exporting() else next(_calls)


# Runs while Dynamo traces the caller: what torch.compiler.assume_constant_result does, without the import of Dynamo.
_next_call._dynamo_marked_constant = True


def call_number() -> int | None:
    """A number of its own for each operation whose result has a size that a trace of torch.compile does not know; None outside of a
    trace, and in an export, whose programs have PyTorch's operators. torch.compile merges equal operations and keeps the symbol of one
    of them; inductor then fails at the sizes that have the other ("u2 not in …"). Two layers with equal masks or offsets have such
    operations."""
    return _next_call() if torch.compiler.is_compiling() else None


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


def offsets_of_call(ptr: Tensor | Sequence[int] | None, name: str = "ptr") -> Tensor | None:
    """:func:`offsets_of`, for an operator whose result has a size that depends on them (:func:`call_number`)."""
    ptr = offsets_of(ptr, name)
    call = None if ptr is None else call_number()
    return ptr if call is None else torch.ops.geosft._of_call(ptr, call)
