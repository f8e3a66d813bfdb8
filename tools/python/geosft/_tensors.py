# SPDX-License-Identifier: Apache-2.0
"""Errors on arguments of other types, such as arrays of NumPy in place of tensors."""

from __future__ import annotations

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
    """Arguments by name that must be tensors."""
    for name, value in values.items():
        if not isinstance(value, torch.Tensor) and not hasattr(type(value), "__torch_function__"):
            raise not_a_tensor(name, value)


def check_optional_tensors(**values: object) -> None:
    """Arguments by name that must be tensors or None."""
    check_tensors(**{name: value for name, value in values.items() if value is not None})


def check_integers(**values: object) -> None:
    """Arguments by name that must be integers of Python, NumPy or a trace."""
    for name, value in values.items():
        if not is_integer(value):
            raise TypeError(f"{name} must be an integer, got {value!r}" if isinstance(value, (float, str)) else f"{name} must be an integer, got {type(value).__name__}")
