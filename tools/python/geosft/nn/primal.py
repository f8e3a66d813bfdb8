# SPDX-License-Identifier: Apache-2.0
"""The primal-dual attention family over all tokens ("A Primal-Dual Framework for Transformers and Neural Networks"), with
its sparse masks, convolutions and pooled heads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from .attention import SelfAttention
from .._tensors import check_flags, check_integers, check_numbers
from .checks import check_eps, check_sequence, check_sizes, factory_kwargs
from .packed import PackedLayout, segment_of, size_in
from .relative import GraphEncoding, PointEncoding

_ops = torch.ops.geosft

_MASKS = ("none", "window", "strided", "block", "nearest", "neighbours")
_POOLINGS = ("average", "max", "convolution", "k_means")
_CONVOLUTIONS = ("none", "sequence", "grid")
_MEMBERS = ("bn", "bn_variance", "sh", "bn_sh", "conv1d", "conv2d")
_K_MEANS_ROUNDS = 5
_PAPER_BETA = 0.5  # in the middle of the range found in the paper


class SparseMask(NamedTuple):
    """The keys that each query attends to: a CSR matrix over packed tokens, columns ascending in a row."""

    rowptr: Tensor
    col: Tensor

    @staticmethod
    def of(columns: Tensor, seen: Tensor) -> SparseMask:
        """The columns [N, m] that are seen [N, m], ascending in a row."""
        return SparseMask(functional.pad(seen.sum(1).cumsum(0), (1, 0)), columns[seen])

    @staticmethod
    def of_pairs(row: Tensor, col: Tensor, rows: int, columns: int) -> SparseMask:
        """The distinct pairs (row, col)."""
        entry = torch.unique(row * columns + col)
        # Without columns there is no pair. max() of a size that a trace does not know is none that it can compute with.
        columns = columns if torch.compiler.is_compiling() else max(columns, 1)
        count = entry.new_zeros(rows).index_add(0, torch.div(entry, columns, rounding_mode="floor"), torch.ones_like(entry))
        return SparseMask(functional.pad(count.cumsum(0), (1, 0)), entry % columns)

    def rows(self) -> Tensor:
        """int64: the row of each entry."""
        return segment_of(self.rowptr, self.col.shape[0], self.rowptr.device)


class _Items(NamedTuple):
    """Where rows are: their number, the offsets of the items, int64 [B + 1], the item of each row and its place there; and
    the sizes of the items, None while a trace does not know them."""

    rows: int
    ptr: Tensor
    item: Tensor
    place: Tensor
    sizes: list[int] | None

    @staticmethod
    def of(ptr: Tensor, rows: int, sizes: list[int] | None) -> _Items:
        item = segment_of(ptr, rows, ptr.device)
        return _Items(rows, ptr, item, torch.arange(rows, device=ptr.device) - ptr[item], sizes)

    def pooled(self, factor: int) -> _Items:
        """The items of groups of `factor` successive rows, of which the last of an item may be smaller."""
        groups = (self.ptr.diff() + (factor - 1)) // factor
        ptr = functional.pad(groups.cumsum(0), (1, 0))
        if self.sizes is not None:
            sizes = [-(-size // factor) for size in self.sizes]
            return _Items.of(ptr, sum(sizes), sizes)
        return _Items.of(ptr, size_in(groups.sum()), None)

    def check(self, holds: Tensor, message: str) -> None:
        """Raises `message` where a bool tensor is not all True: a ValueError, or in a compiled graph a RuntimeError."""
        if torch.compiler.is_compiling():
            torch._assert_async(holds.all(), message)
        elif not holds.all():
            raise ValueError(message)

    def mean(self, x: Tensor) -> Tensor:
        """The mean of the rows of each item, [B, ...]; 0 for an empty one."""
        total = x.new_zeros(self.ptr.shape[0] - 1, *x.shape[1:]).index_add(0, self.item, x)
        count = self.ptr.diff().clamp_min(1).to(x.dtype)
        return total / count.view(-1, *[1] * (x.dim() - 1))


def _token_mask(kind: str, size: int, items: _Items, layout: PackedLayout, relative) -> SparseMask:
    begin, end = items.ptr[items.item].unsqueeze(1), items.ptr[items.item + 1].unsqueeze(1)
    rows = torch.arange(items.item.shape[0], device=items.item.device).unsqueeze(1)
    if kind == "window":
        columns = rows + torch.arange(-size, size + 1, device=rows.device)
        return SparseMask.of(columns, (columns >= begin) & (columns < end))
    if kind == "block":
        columns = rows - (items.place % size).unsqueeze(1) + torch.arange(size, device=rows.device)
        return SparseMask.of(columns, columns < end)
    if kind == "strided":
        columns = begin + torch.arange(layout.longest(), device=rows.device)
        apart = (columns - rows).abs()
        stride = size if size > 0 else (end - begin).double().sqrt().round().long()
        return SparseMask.of(columns, (columns < end) & ((apart < stride) | (apart % stride == 0)))
    if kind == "nearest":
        if not isinstance(relative, PointEncoding) and getattr(relative, "coordinates", None) is None:
            raise ValueError("relative must have coordinates for mask='nearest'")
        nearest = _ops.knn(relative.coordinates, relative.coordinates, size, items.ptr.cpu(), items.ptr.cpu())[0].sort(1).values
        return SparseMask.of(nearest, nearest >= 0)
    if not isinstance(relative, GraphEncoding):
        raise ValueError("relative must be a GraphEncoding for mask='neighbours'")
    source = segment_of(relative.rowptr, relative.col.shape[0], relative.col.device)
    items.check(items.item[source] == items.item[relative.col], "col must stay in the item of its row for mask='neighbours'")
    loop, count = rows.squeeze(1), rows.shape[0]
    return SparseMask.of_pairs(torch.cat((source, loop)), torch.cat((relative.col, loop)), count, count)


class _Pooled(NamedTuple):
    """Pooled tokens x [M, d], their items, and the pooled token of each token, int64 [N]."""

    x: Tensor
    items: _Items
    group: Tensor


def _k_means(x: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The means of `count` clusters of rows x [n, d], and the cluster of each row. Centres start at evenly spaced rows;
    an empty cluster keeps its last centre."""
    places = (torch.arange(count, device=x.device).double() + 0.5) * (x.shape[0] / count)
    centres = fixed = x.detach()[places.floor().long()]
    for _ in range(_K_MEANS_ROUNDS):
        of_row = torch.cdist(x.detach(), fixed).argmin(1)
        sizes = torch.bincount(of_row, minlength=count).unsqueeze(1).to(x.dtype)
        total = x.new_zeros(count, x.shape[1]).index_add(0, of_row, x)
        centres = torch.where(sizes > 0, total / sizes.clamp_min(1), fixed)
        fixed = centres.detach()
    return centres, of_row


def _pool(x: Tensor, items: _Items, factor: int, kind: str, weight: Tensor | None) -> _Pooled:
    pooled = items.pooled(factor)
    if kind == "k_means":
        if items.sizes is None:
            raise ValueError("ptr must be a sequence of integers while PrimalAttention with pooling='k_means' is compiled")
        means, groups = [x[:0]], [items.item[:0]]
        for rows, count, first in zip(x.split(items.sizes), pooled.sizes, pooled.ptr.tolist()):
            if count > 0:
                centres, of_row = _k_means(rows, count)
                means.append(centres)
                groups.append(of_row + first)
        return _Pooled(torch.cat(means), pooled, torch.cat(groups))
    group = pooled.ptr[items.item] + items.place // factor
    if kind == "average":
        total = x.new_zeros(pooled.rows, x.shape[1]).index_add(0, group, x)
        counts = group.new_zeros(pooled.rows).index_add(0, group, torch.ones_like(group))
        return _Pooled(total / counts.clamp_min(1).to(x.dtype).unsqueeze(1), pooled, group)
    if kind == "max":
        index = group.unsqueeze(1).expand_as(x)
        return _Pooled(x.new_zeros(pooled.rows, x.shape[1]).scatter_reduce(0, index, x, "amax", include_self=False), pooled, group)
    beside = x.new_zeros(pooled.rows * factor, x.shape[1]).index_copy(0, group * factor + items.place % factor, x)
    return _Pooled((beside.view(pooled.rows, factor, x.shape[1]) * weight.T).sum(1), pooled, group)


def _convolve_sequence(x: Tensor, weight: Tensor, items: _Items) -> Tensor:
    """y[i, h] = sum_a weight[h, a] x[i + a - (s - 1) / 2, h] within each item, zero-padded at its ends, x [N, h, c]."""
    before, after, count = (weight.shape[1] - 1) // 2, weight.shape[1] // 2, items.ptr.shape[0] - 1
    compiled = torch.compiler.is_compiling()
    if count == 0 or not compiled and x.numel() == 0:
        return x
    places = torch.arange(items.rows, device=x.device) + items.item * after
    apart = x.new_zeros(items.rows + (count - 1) * after, *x.shape[1:]).index_copy(0, places, x)
    # One column more than is used where a trace does not know whether there is any.
    lines = functional.pad(apart.permute(2, 1, 0), (before, after + int(compiled)))
    made = functional.conv1d(lines, weight.unsqueeze(1), groups=x.shape[1]).permute(2, 1, 0)
    return made.index_select(0, places)


def _convolve_grid(x: Tensor, weight: Tensor, grid: tuple[int, int], class_token: bool, items: _Items) -> Tensor:
    """The same in two dimensions, on grids of row-major tokens, after a class token that stays as it is."""
    found = "" if items.sizes is None else f", got {items.sizes}"
    more, size = " + 1" if class_token else "", grid[0] * grid[1] + class_token
    items.check(items.ptr.diff() == size, f"ptr must have items of {grid[0]} x {grid[1]}{more} tokens for convolution on a grid{found}")
    heads, channels, before, after = x.shape[1], x.shape[2], (weight.shape[2] - 1) // 2, weight.shape[2] // 2
    if x.numel() == 0:
        return x
    if class_token:
        whole = x.view(-1, size, heads, channels)
        first, x = whole[:, :1], whole[:, 1:].flatten(0, 1)
    grids = x.view(-1, *grid, heads, channels).permute(0, 4, 3, 1, 2).reshape(-1, heads, *grid)
    padded = functional.pad(grids, (before, after, before, after))
    made = functional.conv2d(padded, weight.unsqueeze(1), groups=heads)
    made = made.view(-1, channels, heads, *grid).permute(0, 3, 4, 2, 1).reshape(x.shape)
    return torch.cat((first, made.view(-1, size - 1, heads, channels)), 1).flatten(0, 1) if class_token else made


class PrimalAttention(SelfAttention):
    r"""The primal-dual family over all tokens. See :func:`geosft.primal_attention`.

    Args:
        dim, num_heads: num_heads divides dim.
        kernel: "softmax" or "linear".
        beta: weight of the keys' mean that queries and keys are recentred by (Attention-BN); 0: none.
        learn_beta, share_beta: a parameter per head that begins with `beta`, or one for all heads.
        variance: in place of `beta`, queries and keys are normalised by the mean and the deviation of the keys.
        pool: a pooling factor per head (Attention-SH); None: no pooling.
        pooling: "average", "max", "convolution" or "k_means", of the tokens, before their keys and values are computed.
        mask: "window" (tokens at most `mask_size` apart), "strided", "block", "nearest" (points, of the encoding that
            forward takes), "neighbours" (in its graph), or "none"; with softmax alone.
        mask_size: radius, stride (0: the square root of the number of tokens of an item), size of a block, or count.
        convolution: of queries and keys along the "sequence" (Attention-Conv1D), on a "grid" (Conv2D), or "none".
        convolution_size: of its kernel; None: 5 along a sequence, 2 on a grid.
        grid: height and width of the tokens of an item, for a grid.
        class_token: the first token of an item stands outside its grid, and is not convolved.
        eps: of the linear kernel's denominator, and of the variance.
        device, dtype: of the parameters.

    Raises a ValueError that names the argument.
    """

    def __init__(
        self, dim: int, num_heads: int = 4, *, kernel: str = "softmax", beta: float = 0.0, learn_beta: bool = False,
        share_beta: bool = False, variance: bool = False, pool: Sequence[int] | None = None, pooling: str = "average",
        mask: str = "none", mask_size: int = 16, convolution: str = "none", convolution_size: int | None = None,
        grid: tuple[int, int] = (0, 0), class_token: bool = False, eps: float = 1e-6, device=None, dtype=None
    ):
        super().__init__(dim, num_heads, device, dtype)
        check_numbers(beta=beta)
        check_eps(eps)
        check_flags(learn_beta=learn_beta, share_beta=share_beta, variance=variance, class_token=class_token)
        check_integers(mask_size=mask_size)
        for name, value, known in (("kernel", kernel, ("softmax", "linear")), ("pooling", pooling, _POOLINGS), ("mask", mask, _MASKS),
                                   ("convolution", convolution, _CONVOLUTIONS)):
            if value not in known:
                raise ValueError(f"{name} must be one of {', '.join(known)}, not {value!r}")
        check_sequence(grid=grid, **({} if pool is None else {"pool": pool}))
        if pool is not None and (len(pool) != num_heads or min(pool) < 1 or max(pool) >= 2**31):
            raise ValueError(f"pool must have a factor of at least 1, below 2^31, for each of {num_heads} heads, got {list(pool)}")
        pooled = pool is not None and max(pool) > 1
        if kernel == "linear" and mask != "none":
            raise ValueError("mask must be none with kernel='linear': a sum of features has no mask")
        if pooled and mask != "none" and pooling == "k_means":
            raise ValueError("pooling must not be k_means with a mask: clusters have no place in the item")
        if pooled and convolution == "grid":
            raise ValueError("pool must be 1 with convolution on a grid: pooled tokens are not one")
        if convolution == "grid" and min(grid) < 1:
            raise ValueError(f"grid must have sides of at least 1 for convolution on a grid, got {tuple(grid)}")
        if variance and (beta != 0 or learn_beta):
            raise ValueError("beta must be 0 with variance, which recentres by the whole mean")
        if share_beta and not learn_beta:
            raise ValueError("share_beta must be False where no beta is learned")
        minimum = 0 if mask in ("window", "strided") else 1
        if mask_size < minimum:
            raise ValueError(f"mask_size must be at least {minimum} for mask={mask!r}, got {mask_size}")
        if convolution_size is None:
            convolution_size = 2 if convolution == "grid" else 5
        check_sizes(convolution_size=convolution_size)
        self.kernel, self.pool, self.eps, self.variance = kernel, None if pool is None else list(pool), eps, variance
        self.pooling, self.mask, self.mask_size = pooling, mask, mask_size
        self.convolution_kind, self.grid, self.class_token = convolution, tuple(grid), bool(class_token)
        made = factory_kwargs(device, dtype)
        start = torch.tensor(float(beta), device=device, dtype=dtype or torch.get_default_dtype())
        if learn_beta:
            self.beta = nn.Parameter(start if share_beta else start.repeat(num_heads))
        else:
            self.register_buffer("beta", start if beta != 0 else None)
        self.convolution = self._near_identity(convolution_size, made) if convolution != "none" else None
        if pooling == "convolution":
            for factor in {factor: None for factor in self.pool or () if factor > 1}:
                self.register_parameter(f"pooling_{factor}", nn.Parameter(torch.full((dim, factor), 1.0 / factor, **made)))

    def _near_identity(self, size: int, made: dict) -> nn.Parameter:
        """A kernel near the identity, which gives the attention without convolution."""
        middle = (size - 1) // 2
        kernel = torch.randn(self.num_heads, *[size] * (1 if self.convolution_kind == "sequence" else 2), **made) * 0.1
        kernel[(slice(None), *[middle] * (kernel.dim() - 1))] += 1
        return nn.Parameter(kernel)

    @staticmethod
    def names() -> list[str]:
        """The members of the family that the tools know by name."""
        return [name for kernel in ("softmax", "linear", "sparse")
                for name in (kernel, *(f"{'' if kernel == 'softmax' else kernel + '_'}{member}" for member in _MEMBERS))]

    @staticmethod
    def options_of(name: str, num_heads: int) -> dict:
        """The arguments for a member of the family by its name, for `num_heads` heads: "softmax", "bn", "bn_variance", "sh", "bn_sh", "conv1d",
        "conv2d"; "linear" and the prefix "linear_"; "sparse" (a window, unless another mask is chosen) and "sparse_"."""
        if name not in PrimalAttention.names():
            raise ValueError(f"name must be one of {', '.join(PrimalAttention.names())}, not {name!r}")
        words = name.split("_")
        options: dict = {"kernel": "linear"} if "linear" in words else {}
        if "sparse" in words:
            options["mask"] = "window"
        if "variance" in words:
            options["variance"] = True
        elif "bn" in words:
            options["beta"] = _PAPER_BETA
        if "sh" in words:
            levels = max(1, min(4, num_heads.bit_length()))
            options["pool"] = [1 << (head * levels // num_heads) for head in range(num_heads)]
        if "conv1d" in words or "conv2d" in words:
            options["convolution"] = "sequence" if "conv1d" in words else "grid"
        return options

    def _mix(self, x: Tensor, layout: PackedLayout, relative) -> Tensor:
        plain = self.mask == "none" and self.convolution is None and not self.variance
        if plain and (self.pool is None or self.pooling == "average"):
            q, k, v = self._heads(x)
            beta = None if self.beta is None else self.beta.to(q.dtype)  # which is a half type under autocast
            return _ops.primal_attention(q, k, v, beta, self.pool, self.kernel, self.eps, layout.ptr, layout.ptr)
        items = _Items.of(layout.pointers(x.device), layout.rows, layout.sizes())
        mask = None if self.mask == "none" else _token_mask(self.mask, self.mask_size, items, layout, relative)
        q = self._convolved(self.query(x).view(x.shape[0], self.num_heads, -1), range(self.num_heads), items)
        factors = self.pool or [1] * self.num_heads
        parts, order = [], []
        for factor in dict.fromkeys(factors):
            heads = [head for head, own in enumerate(factors) if own == factor]
            parts.append(self._mix_group(x, q[:, heads], heads, factor, items, mask))
            order += heads
        mixed = torch.cat(parts, 1)
        return mixed if order == sorted(order) else mixed[:, torch.tensor(order).argsort().to(x.device)]

    def _convolved(self, x: Tensor, heads: Sequence[int], items: _Items) -> Tensor:
        if self.convolution is None:
            return x
        weight = self.convolution[list(heads)]
        if self.convolution_kind == "sequence":
            return _convolve_sequence(x, weight, items)
        return _convolve_grid(x, weight, self.grid, self.class_token, items)

    def _mix_group(
        self, x: Tensor, q: Tensor, heads: list[int], factor: int, items: _Items, mask: SparseMask | None
    ) -> Tensor:
        """The attention of the heads of one pooling factor, [N, heads, c]."""
        tokens = _Pooled(x, items, torch.arange(x.shape[0], device=x.device))
        if factor > 1:
            weight = getattr(self, f"pooling_{factor}") if self.pooling == "convolution" else None
            tokens = _pool(x, items, factor, self.pooling, weight)
        k = self._convolved(self._of_heads(self.key, tokens.x, heads), heads, tokens.items)
        v = self._of_heads(self.value, tokens.x, heads)
        keys = tokens.items
        if self.variance:
            mean = keys.mean(k)
            centred = k - mean[keys.item]
            inverse = (keys.mean(centred.square()) + self.eps).rsqrt()
            q, k = ((q - mean[items.item]) * inverse[items.item]).to(q.dtype), (centred * inverse[keys.item]).to(q.dtype)
        if self.beta is None:
            beta = None
        else:
            beta = (self.beta if self.beta.dim() == 0 else self.beta[heads]).to(q.dtype)
        if mask is not None and factor > 1:
            mask = SparseMask.of_pairs(mask.rows(), tokens.group[mask.col], x.shape[0], keys.rows)
        seen = (None, None) if mask is None else tuple(mask)
        return _ops.primal_attention(q, k, v, beta, None, self.kernel, self.eps, items.ptr.cpu(), keys.ptr.cpu(), *seen)

    def _of_heads(self, linear: nn.Linear, tokens: Tensor, heads: list[int]) -> Tensor:
        """The linear map of tokens for some heads, [M, heads, c]."""
        weight = linear.weight.view(self.num_heads, -1, self.dim)[heads].flatten(0, 1)
        bias = linear.bias.view(self.num_heads, -1)[heads].flatten()
        return functional.linear(tokens, weight, bias).view(tokens.shape[0], len(heads), -1)
