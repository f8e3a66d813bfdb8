# SPDX-License-Identifier: Apache-2.0
"""Packed batches: which rows belong to which item, with sizes that a trace knows where they can be known."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.fx.experimental.symbolic_shapes import guard_or_false, statically_known_true

from .._offsets import call_number, offsets_of
from .._tensors import kind_of, not_a_tensor
from .checks import cast_like, check_like
from .relative import by_name


_library = torch.library.Library("geosft", "FRAGMENT")
_library.define("_rows_where(Tensor mask, int call) -> Tensor", tags=(torch.Tag.pt2_compliant_tag,))
_library.define("_sized(Tensor number, int call) -> Tensor", tags=(torch.Tag.pt2_compliant_tag,))
_library.impl("_rows_where", lambda mask, call: mask.nonzero().squeeze(1), "CompositeExplicitAutograd")
_library.impl("_sized", lambda number, call: number.new_empty((int(number), 0)), "CompositeExplicitAutograd")
torch.library.register_fake("geosft::_rows_where", lambda mask, call: mask.new_empty(_new_size(), dtype=torch.int64), lib=_library)
torch.library.register_fake("geosft::_sized", lambda number, call: number.new_empty((_new_size(), 0)), lib=_library)


def _new_size() -> torch.SymInt:
    """A size that depends on values, in a fake kernel."""
    return torch.library.get_ctx().new_dynamic_size()


def size_in(number: Tensor) -> int:
    """The value of an integer tensor of one element, which is a size, at least 0: a symbol where a trace does not know it."""
    call = call_number()
    if call is not None:
        return torch.ops.geosft._sized(number, call).shape[0]
    size = number.item()
    torch._check(size >= 0)
    return size


def rows_where(mask: Tensor) -> Tensor:
    """int64: the rows of mask [N] that are True. Their number is a symbol where a trace does not know it."""
    call = call_number()
    return mask.nonzero().squeeze(1) if call is None else torch.ops.geosft._rows_where(mask, call)


def check_equal(size: int, wanted: int, message: Callable[[], str], of_trace: str) -> None:
    """Raises a ValueError with the text of `message` where a size is another one. Sizes that a trace does not know are compared when its
    graph runs, which raises a RuntimeError with the text `of_trace`."""
    if not torch.compiler.is_compiling():
        if size != wanted:
            raise ValueError(message())
    elif guard_or_false(size != wanted):
        raise ValueError(message())
    elif not statically_known_true(size == wanted):
        torch._assert_async(torch.full((), size) == wanted, of_trace)


class PackedLayout:
    """The items of a packed batch.

    Made by :meth:`of_ptr` or :meth:`of_dense`. ``ptr`` is int64 [B + 1] on the CPU or on the device of the tokens, or
    None for a batch of one item.
    """

    def __init__(
        self, rows: int, ptr: Tensor | None, offsets: Sequence[int] | None = None, equal: int | None = None,
        at_most: int | None = None
    ):
        self.rows, self.ptr, self.offsets, self.equal, self.at_most = rows, ptr, offsets, equal, at_most
        self.mask: Tensor | None = None  # of dense tokens that were packed by one

    @staticmethod
    def of_ptr(ptr: Tensor | Sequence[int] | None, rows: int) -> PackedLayout:
        """The layout of `rows` packed rows. A sequence of integers is known to torch.compile, the values of a tensor
        are not."""
        if ptr is None:
            return PackedLayout(rows, None)
        offsets = None if isinstance(ptr, Tensor) else ptr
        ptr = offsets_of(ptr)
        _check_ptr(ptr, rows)
        return PackedLayout(rows, ptr, offsets)

    @staticmethod
    def of_dense(items: int, tokens: int) -> PackedLayout:
        """The layout of `items` items of `tokens` rows each."""
        return PackedLayout(items * tokens, torch.arange(items + 1) * tokens, equal=tokens)

    def place_of(self, row: int) -> str:
        """What an error says of a packed row: its number, and of dense tokens the item and the token."""
        if self.mask is not None:
            return f"row {row} of x[mask], which is [item, token] {self.mask.nonzero()[row].tolist()}"
        if self.equal:
            return f"row {row}, which is [item, token] {[row // self.equal, row % self.equal]}"
        return f"row {row}"

    def with_one_more(self) -> PackedLayout:
        """The layout of the items with one more row each."""
        offsets = None if self.offsets is None else [offset + item for item, offset in enumerate(self.offsets)]
        ptr = self.pointers(torch.device("cpu")) if self.ptr is None else self.ptr
        equal = None if self.equal is None else self.equal + 1
        return PackedLayout(self.rows + self.items, ptr + torch.arange(ptr.shape[0], device=ptr.device), offsets, equal)

    @property
    def items(self) -> int:
        return 1 if self.ptr is None else self.ptr.shape[0] - 1

    def num_samples(self, k: int, with_replacement: bool) -> int:
        """The number of sampled pairs of all items (models/ops/sample_pairs.h)."""
        if self.ptr is None:
            return samples_of(self.rows, k, with_replacement)
        if self.equal is not None:
            return self.items * samples_of(self.equal, k, with_replacement)
        if self.offsets is not None:
            return sum(samples_of(size, k, with_replacement) for size in self.sizes())
        sizes = self.ptr.diff()
        if with_replacement:
            return size_in((sizes.clamp_max(1) * k).sum())
        return size_in(torch.maximum((sizes // 2).clamp_max(k), sizes.clamp_max(1)).sum())

    def samples(self, k: int, with_replacement: bool, rows: int, ptr: Tensor) -> PackedLayout:
        """The layout of the `rows` sampled pairs with offsets `ptr`."""
        if self.ptr is None:
            return PackedLayout(rows, None)
        equal = None if self.equal is None else samples_of(self.equal, k, with_replacement)
        return PackedLayout(rows, ptr, equal=equal, at_most=k)

    def longest(self) -> int:
        """The rows of the largest item; of samples a bound, while a trace does not know them."""
        if self.equal is not None:
            return self.equal
        sizes = None if torch.compiler.is_compiling() and self.at_most is not None else self.sizes()
        if sizes is not None:
            return max(sizes, default=0)
        if self.at_most is not None:
            return self.at_most
        return size_in(torch.nn.functional.pad(self.ptr.diff(), (1, 0)).max())

    def sizes(self) -> list[int] | None:
        """The rows of each item; None while a trace does not know them."""
        if self.ptr is None:
            return [self.rows]
        if self.equal is not None:
            return [self.equal] * self.items
        if self.offsets is not None:
            return [end - begin for begin, end in zip(self.offsets[:-1], self.offsets[1:])]
        return None if torch.compiler.is_compiling() else self.ptr.diff().tolist()

    def place_in_item(self, device: torch.device) -> Tensor:
        """int64 [rows]: the place of each row in its item, from 0."""
        place = torch.arange(self.rows, device=device)
        return place if self.ptr is None else place - self.ptr.to(device)[self.item_of_row(device)]

    def pointers(self, device: torch.device) -> Tensor:
        """int64 [items + 1]: the offsets of the items, on `device`."""
        return torch.arange(2, device=device) * self.rows if self.ptr is None else self.ptr.to(device)

    def item_of_row(self, device: torch.device) -> Tensor:
        """int64 [rows]: the item of each row."""
        return segment_of(self.ptr, self.rows, device)


def segment_of(ptr: Tensor | None, rows: int, device: torch.device) -> Tensor:
    """int64 [rows]: the segment of each row, for offsets `ptr` (None: one segment)."""
    if ptr is None:
        return torch.zeros(rows, dtype=torch.int64, device=device)
    ptr = ptr.to(device)
    marks = torch.zeros(rows + 1, dtype=torch.int64, device=device).index_add(0, ptr, torch.ones_like(ptr))
    return marks[:-1].cumsum(0) - 1


def first_of(ptr: Tensor) -> str:
    """The first offsets, in an error."""
    return f"{ptr[:8].tolist()}{' …' if len(ptr) > 8 else ''}"


def hint_of_sizes(ptr: Tensor, rows: int) -> str:
    """What an error on wrong offsets of so many rows adds where they look like the sizes of the items."""
    if not bool((ptr >= 0).all()) or int(ptr[0]) == 0 or int(ptr.sum()) != rows:
        return ""
    return f", which looks like the sizes of the items: their offsets are {first_of(torch.nn.functional.pad(ptr.cumsum(0), (1, 0)))}"


def hint_of_batch(ptr: Tensor, rows: int) -> str:
    """What an error on wrong offsets of so many rows adds where they look like the number of the item of each row."""
    if len(ptr) != rows or rows < 2 or int(ptr[0]) != 0 or int(ptr[-1]) >= rows or not bool(((ptr.diff() == 0) | (ptr.diff() == 1)).all()):
        return ""
    return ", which looks like the item of each row: torch.nn.functional.pad(batch.bincount().cumsum(0), (1, 0)) makes offsets of it"


def _check_ptr(ptr: Tensor, rows: int) -> None:
    """Its values too, where they are on the CPU; those on another device are for the operators."""
    if ptr.dtype != torch.int64 or ptr.dim() != 1:
        raise ValueError(f"ptr must be int64 [B + 1], got {ptr.dtype} {list(ptr.shape)}")
    if ptr.shape[0] == 0 or ptr.shape[0] == 1 and rows > 0:
        raise ValueError(f"ptr must have an item for the {rows} rows, got {ptr.shape[0]} entries")
    if ptr.device.type != "cpu" or ptr.layout != torch.strided or torch.compiler.is_compiling():
        return
    if int(ptr[0]) != 0 or int(ptr[-1]) != rows or bool((ptr[1:] < ptr[:-1]).any()):
        raise ValueError(f"ptr must rise from 0 to the number of rows, {rows}, got {first_of(ptr)}{hint_of_sizes(ptr, rows) or hint_of_batch(ptr, rows)}")


def samples_of(tokens: int, k: int, with_replacement: bool) -> int:
    """The number of sampled pairs of an item of so many tokens (models/ops/sample_pairs.h)."""
    if with_replacement:
        return k if tokens > 0 else 0
    return max(min(k, tokens // 2), min(tokens, 1))


class Unpacked:
    """How the result of packed rows goes back into the shape [B, N, ...] of the input: row i becomes row `index`[i] of
    [B N, ...]. The number of rows that a `mask` leaves is one symbol of a trace, in the backward pass too."""

    def __init__(self, shape: torch.Size | None = None, mask: Tensor | None = None, index: Tensor | None = None):
        self.shape, self.mask, self.index = shape, mask, index

    def rows(self, x: Tensor) -> Tensor:
        """The packed rows of x, which is dense [B, N, ...] or packed already."""
        if self.shape is None or x.shape[:2] != self.shape:
            return x
        return x.flatten(0, 1) if self.mask is None else x.flatten(0, 1).index_select(0, self.index)

    def restore(self, rows: Tensor) -> Tensor:
        """Rows [N, ...] as [B, N, ...] where the input was dense; zeros where the mask is False."""
        if self.shape is None:
            return rows
        if self.mask is None:
            return rows.unflatten(0, self.shape)
        dense = rows.new_zeros((self.shape[0] * self.shape[1], *rows.shape[1:]))
        return dense.index_copy(0, self.index, rows).unflatten(0, self.shape)


def pack(
    rows: Sequence[Tensor | None], channels: int, ptr: Tensor | Sequence[int] | PackedLayout | None, mask: Tensor | None,
    name: str, like: Tensor | None = None, others: Sequence[str] = ()
) -> tuple[list[Tensor | None], PackedLayout, Unpacked]:
    """Packs tensors of tokens, the first of which is called `name` in errors and has `channels` channels. It must have the
    type and device of `like`, a parameter, where that is given; under autocast all of them get its type. `others` are the names of
    the tensors after the first.

    Each is [N, ...] with `ptr`, or [B, N, ...] with `mask` (bool [B, N], True where a token is) or without.
    """
    first = rows[0]
    if not isinstance(first, Tensor):
        raise not_a_tensor(name, first)
    if first.dim() not in (2, 3) or first.shape[-1] != channels:
        raise ValueError(f"{name} must have shape [N, {channels}] or [B, N, {channels}], got {list(first.shape)}")
    check_like(first, name, like)
    rows = [cast_like(one, like) for one in rows]
    if isinstance(ptr, Tensor) and ptr.dtype == torch.bool:
        raise TypeError(f"ptr must be int64 [B + 1], got a tensor of bool{by_name(ptr)}")
    if isinstance(ptr, Tensor) and ptr.device.type != "cpu" and ptr.device != first.device:
        raise ValueError(f"ptr must be on the CPU or on the device of {name}, {first.device}, got {ptr.device}")
    if first.dim() == 2:
        if mask is not None:
            raise ValueError(f"mask is for dense {name} [B, N, {channels}], got {name} of shape {list(first.shape)}")
        layout = ptr if isinstance(ptr, PackedLayout) else PackedLayout.of_ptr(ptr, first.shape[0])
        return rows, layout, Unpacked()
    if ptr is not None:
        raise ValueError(f"ptr is for packed {name} [N, {channels}], got {name} of shape {list(first.shape)}")
    shape = first.shape[:2]
    for other, one in zip(others, rows[1:], strict=True):
        if one is not None and one.shape[:2] != shape:
            of_one = one.shape[-2:-1] == shape[1:] and (one.dim() == 2 or one.shape[0] == 1)
            hint = f": {other}.expand({shape[0]}, -1, -1) gives all items those of one" if of_one else ""
            raise ValueError(f"{other} must begin with the shape {list(shape)} of {name}, a row per token, got {list(one.shape)}{hint}")
    if mask is None:
        flat = [None if one is None else one.flatten(0, 1) for one in rows]
        return flat, PackedLayout.of_dense(*shape), Unpacked(shape)
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool or mask.shape != shape:
        found = f"{mask.dtype} {list(mask.shape)}" if isinstance(mask, Tensor) else kind_of(mask)
        raise ValueError(f"mask must be bool {list(shape)}, got {found}")
    if mask.layout != torch.strided or mask.device != first.device:
        raise ValueError(f"mask must be dense and on the device of {name}, {first.device}, got {mask.layout} on {mask.device}")
    ptr = torch.nn.functional.pad(mask.sum(1).cumsum(0), (1, 0))
    unpacked = Unpacked(shape, mask, rows_where(mask.flatten()))
    flat = [None if one is None else unpacked.rows(one) for one in rows]
    layout = PackedLayout.of_ptr(ptr, flat[0].shape[0])
    layout.mask = mask
    return flat, layout, unpacked
