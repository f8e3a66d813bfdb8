# SPDX-License-Identifier: Apache-2.0
"""Items of one batch, packed row after row: item b has the rows ptr[b] to ptr[b + 1] - 1."""


def items(ptr, count):
    """The rows of each item; all `count` rows are one item where there is no ptr."""
    if ptr is None:
        return [range(count)]
    offsets = list(ptr)
    return [range(first, last) for first, last in zip(offsets, offsets[1:])]
