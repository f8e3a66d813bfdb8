# SPDX-License-Identifier: Apache-2.0
"""Errors on arguments that are no tensors."""

from __future__ import annotations


def kind_of(value: object) -> str:
    """What an error says was given in place of a tensor: the type, and for an array of NumPy how to make a tensor of it."""
    kind = type(value).__name__
    return f"{kind}: torch.from_numpy makes a tensor of it" if kind == "ndarray" else kind


def not_a_tensor(name: str, value: object) -> TypeError:
    """The error for an argument that must be a tensor."""
    return TypeError(f"{name} must be a tensor, got {kind_of(value)}")
