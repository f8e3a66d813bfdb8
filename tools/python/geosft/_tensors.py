# SPDX-License-Identifier: Apache-2.0
"""Checks of the types of arguments, with errors that name them."""

from __future__ import annotations

import sys

import torch

from ._offsets import is_integer


def kind_of(value: object) -> str:
    """What an error says was given in place of a tensor: the type, and for an array of NumPy how to make a tensor of it."""
    kind = type(value).__name__
    return f"{kind}: torch.from_numpy makes a tensor of it" if kind == "ndarray" else kind


def not_a_tensor(name: str, value: object) -> TypeError:
    """The error for an argument that must be a tensor."""
    return TypeError(f"{name} must be a tensor, got {kind_of(value)}")


def check_tensors(**values: object) -> None:
    """Checks that each argument is a tensor, or takes its place as a proxy of torch.fx does."""
    for name, value in values.items():
        if not isinstance(value, torch.Tensor) and not _is_proxy(value):
            raise not_a_tensor(name, value)


def check_optional_tensors(**values: object) -> None:
    """Checks that each argument is a tensor or None."""
    check_tensors(**{name: value for name, value in values.items() if value is not None})


def _is_proxy(value: object) -> bool:
    """Whether a value stands for another one in a trace of torch.fx."""
    return hasattr(type(value), "__torch_function__") and not isinstance(value, torch.Tensor)


def _is_number(value: object) -> bool:
    if isinstance(value, torch.Tensor):
        return value.dim() == 0 and not value.is_complex() and value.dtype != torch.bool
    return not isinstance(value, bool) and (isinstance(value, (int, float)) or hasattr(value, "__float__"))


def _shown(value: object) -> str:
    return f"a tensor of {value.dtype} {list(value.shape)}" if isinstance(value, torch.Tensor) else type(value).__name__


def check_integers(**values: object) -> None:
    """Checks that each argument is an integer of Python, NumPy or a trace."""
    for name, value in values.items():
        if not is_integer(value) and not _is_proxy(value):
            raise TypeError(f"{name} must be an integer, got {_shown(value)}")


def check_numbers(**values: object) -> None:
    """Checks that each argument is a real number."""
    for name, value in values.items():
        if not _is_number(value) and not _is_proxy(value):
            raise TypeError(f"{name} must be a number, got {_shown(value)}")


def check_flags(**values: object) -> None:
    """Checks that each argument is True or False."""
    for name, value in values.items():
        is_flag = isinstance(value, (bool, torch.SymBool)) or type(value).__name__ in ("bool", "bool_")  # of NumPy
        if not is_flag and not _is_proxy(value):
            raise TypeError(f"{name} must be True or False, got {value!r}")


def stack_level() -> int:
    """Of the line that called this package, for warnings from the function that calls this one."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(f"{__package__}."):
        frame, level = frame.f_back, level + 1
    return level
