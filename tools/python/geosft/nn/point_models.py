# SPDX-License-Identifier: Apache-2.0
"""Classification and segmentation of point clouds (SFT sections 5 and 6)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from .attention import SamplingAttention
from .._offsets import offsets_of
from .._tensors import check_flags, kind_of
from .checks import check_finite, check_like, check_options, check_probability, check_sampler_options, check_sizes, factory_kwargs
from .encoder import Encoder, TransformerLayer
from .heads import SampleMaxHead
from .packed import PackedLayout, pack
from .relative import PointEncoding, point_channels
from .sampling import Sampler, SamplingContext, context_of

_ops = torch.ops.geosft
_INVARIANT = {"ones": ("ones", False), "radial": ("radial", False), "local": ("local", False),
              "shape_context": ("shape_context", False), "ppf": ("local", False), "absolute": (None, True), "absolute_local": ("local", True)}
LOCAL_NEIGHBOURS = (8, 32)  # of the two scales of "local"
_LOCAL_CHANNELS = {False: 8, True: 16}  # of the neighbourhoods, without and with normals
SHAPE_CONTEXT = (10, 5, 256)  # nodes of the distance and of an angle, and references (models/ops/shape_context.h)
_PAIR_CHANNELS = 7  # of the features of a point and a neighbour
_OF_GRAPHS = ("updates_edges", "edge_channels", "local", "relative_channels")  # options of layers that clouds have no use for


def farthest_point_order(points: Tensor, ptr: Tensor | Sequence[int] | None = None) -> Tensor:
    """int64 [N]: the rows of clouds points [N, 3], packed by ptr int64 [B + 1], in farthest-point order, each cloud's own,
    from the point that is farthest from its centroid. Of dense points [B, N, 3]: int64 [B, N], rows of each cloud, for
    ``points.take_along_dim(order.unsqueeze(2), 1)``. Models with canonical_order see points in this order. Raises a
    ValueError, TypeError or RuntimeError that names the argument."""
    check_like(points, "points", None)
    if points.dim() == 3:
        (rows,), layout, _ = pack([points], 3, ptr, None, "points")
        order = _ops._farthest_point_order(rows.detach().double(), layout.ptr)
        first = torch.arange(points.shape[0], device=order.device).unsqueeze(1) * points.shape[1]
        return order.view(points.shape[:2]) - first
    return _ops._farthest_point_order(points.detach().double(), offsets_of(ptr))


def _point_tokens(points: Tensor, normals: Tensor | None, layout: PackedLayout, kind: str) -> Tensor:
    return _ops._point_tokens(points, normals, layout.ptr, kind)


def _token_channels(tokens: str, normals: bool) -> int:
    if not isinstance(tokens, str) or tokens not in _INVARIANT:
        raise ValueError(f"tokens must be one of {', '.join(_INVARIANT)}, not {tokens!r}")
    invariant, absolute = _INVARIANT[tokens]
    radial = 3 if normals else 2
    local = radial + _LOCAL_CHANNELS[normals]
    context = 3 * SHAPE_CONTEXT[0] * SHAPE_CONTEXT[1] if normals else SHAPE_CONTEXT[0]
    invariant_channels = {None: 0, "ones": 1, "radial": radial, "local": local, "shape_context": local + context}[invariant]
    return invariant_channels + (6 if normals else 3) * absolute


def _check_range(points: Tensor) -> None:
    """Checks that layers, which multiply squared distances in float32 or float64, cannot overflow at finite points on the CPU."""
    if points.device.type != "cpu" or torch.compiler.is_compiling() or points.numel() == 0:
        return
    limit, largest = torch.finfo(torch.promote_types(points.dtype, torch.float32)).max ** 0.25, float(points.detach().abs().max())
    if largest > limit:
        raise ValueError(f"points must be at most {limit:.1e} in size, beyond which layers overflow, got {largest:.1e}: models are trained on "
                         "clouds of the unit ball")


class PointPairTokens(nn.Module):
    r"""Learned rotation-invariant descriptors of the neighbourhoods of points: for each of two scales, a network that all
    neighbours share of their point-pair features (models/ops/point_pair_features.h), and its maximum.

    Args:
        width: channels per scale.
        max_neighbours: per scale; of more, evenly spaced ones in order of distance are used.
        device, dtype: of the parameters.
    """

    def __init__(self, width: int = 32, max_neighbours: int = 16, *, device=None, dtype=None):
        super().__init__()
        made = factory_kwargs(device, dtype)
        self.channels, self.max_neighbours = width * len(LOCAL_NEIGHBOURS), max_neighbours
        self.networks = nn.ModuleList(
            nn.Sequential(nn.Linear(_PAIR_CHANNELS, width, **made), nn.ReLU(), nn.Linear(width, width, **made))
            for _ in LOCAL_NEIGHBOURS
        )

    def forward(self, points: Tensor, normals: Tensor | None, layout: PackedLayout) -> Tensor:
        """points and normals [N, 3]: [N, channels], differentiable in the weights, and once in the points and normals."""
        exact = points.detach().double()
        index = _ops.knn(exact, exact, LOCAL_NEIGHBOURS[-1], layout.ptr, layout.ptr)[0]
        channels = []
        for size, network in zip(LOCAL_NEIGHBOURS, self.networks):
            near = index[:, 1:size : -(-(size - 1) // self.max_neighbours)]
            channels.append(network(_ops._point_pair_features(points, normals, near, layout.ptr)).amax(1))
        return torch.cat(channels, 1).to(points.dtype)


class _PointModel(nn.Module):
    """Tokens of packed clouds, transformed by an encoder, in a canonical order of the points."""

    point_tokens = staticmethod(_point_tokens)

    def __init__(
        self, dim: int, more_channels: int, normals: bool, tokens: str, relative_channels: int, canonical_order: bool, made: dict,
        options: dict
    ):
        super().__init__()
        check_options(self, options, Encoder, TransformerLayer, SamplingAttention, Sampler, without=_OF_GRAPHS)
        check_sizes(dim=dim)
        self.normals, self.tokens, self.canonical_order = normals, tokens, canonical_order
        self.ppf = PointPairTokens(**made) if tokens == "ppf" else None
        learned = 0 if self.ppf is None else self.ppf.channels
        self.embed = nn.Linear(_token_channels(tokens, normals) + learned + more_channels, dim, **made)
        if options.get("attention") is None:
            options = {**options, "relative": "points", "relative_channels": relative_channels}
        self.encoder = Encoder(dim, **made, **options)

    def _encode(
        self, points: Tensor, normals: Tensor | None, features: Tensor | None, layout: PackedLayout,
        sampling: SamplingContext
    ) -> tuple[Tensor, Tensor | None]:
        """Encoded tokens [N, dim], and the input row of each; None: the order of the input."""
        order = None
        if self.canonical_order and sampling.mode != "random":
            order = farthest_point_order(points, layout.ptr)
            points, normals, features = (None if one is None else one.index_select(0, order) for one in (points, normals, features))
        channels = [one for one in (points, normals) if one is not None] if _INVARIANT[self.tokens][1] else []
        if (invariant := _INVARIANT[self.tokens][0]) is not None:
            channels.append(self.point_tokens(points, normals, layout, invariant))
        if self.ppf is not None:
            channels.append(self.ppf(points, normals, layout))
        if features is not None:
            channels.append(features)
        x = self.embed(torch.cat(channels, 1)).to(points.dtype)
        return self.encoder(x, PointEncoding(points, normals), layout, sampling=sampling), order

    def _packed(self, points: Tensor, normals: Tensor | None, ptr, mask: Tensor | None):
        if isinstance(points, Tensor) and (points.dim() not in (2, 3) or points.shape[-1] != 3):
            raise ValueError(f"points must have shape [N, 3] or [B, N, 3], got {list(points.shape)}"
                             + (": give coordinates and normals apart" if points.dim() > 1 and points.shape[-1] == 6 else ""))
        if isinstance(normals, (list, tuple)) or isinstance(normals, Tensor) and normals.dim() == 1 and not normals.is_floating_point():
            raise TypeError(f"normals must be a tensor like points, got {kind_of(normals)}: give the offsets of packed clouds by their name, ptr=…")
        if (normals is not None) != self.normals:
            raise ValueError("normals must be given: the model was built with normals=True" if self.normals else
                             "normals must be None: the model was built with normals=False")
        check_like(points, "points", self.embed.weight)
        if normals is not None:
            check_like(normals, "normals", self.embed.weight)
        if normals is not None and normals.shape != points.shape:
            raise ValueError(f"normals must have the shape of points, {list(points.shape)}, got {list(normals.shape)}")
        (points, normals), layout, unpacked = pack([points, normals], 3, ptr, mask, "points", self.embed.weight, ("normals",))
        check_finite(points, "points", layout)
        _check_range(points)
        check_finite(normals, "normals", layout)
        return (points, normals), layout, unpacked


class PointClassifier(_PointModel):
    r"""Classifies point clouds. Predictions do not depend on rotation and translation, but for rounding, unless tokens
    are absolute.

    Args:
        num_classes: at least 2.
        dim, num_heads, num_samples, depth: of the :class:`Encoder`.
        normals: clouds come with normals, which point to the same side of the surface in all of them: outward, if they are those of
            meshes.
        tokens: "ones", "radial", "local", "shape_context", "ppf", "absolute" or "absolute_local" (models/ops/point_tokens.h).
        relative: "paper" (attention sees squared distances and products of normals) or "angles" (also those of both
            normals to the line between two points; needs normals).
        chirality: with angles, also the triple product, which tells a shape from its mirror image.
        head_samples: sampled pairs of the head.
        head_dropout: of the pooled features.
        head_sampler: options of the head's :class:`Sampler`, by name; those of the layers are in `options`.
        canonical_order: outside training, points are sorted in farthest-point order, so that predictions depend on
            their stored order by rounding only.
        device, dtype: of the parameters.
        options: further options of the encoder's layers, by name.

    Raises a ValueError or TypeError that names the argument.
    """

    def __init__(
        self, num_classes: int, dim: int = 64, num_heads: int = 4, num_samples: int = 32, *, depth: int = 3,
        normals: bool = True, tokens: str = "radial", relative: str = "paper", chirality: bool = False, head_samples: int = 512,
        head_dropout: float = 0.0, head_sampler: dict | None = None, canonical_order: bool = True, device=None, dtype=None, **options
    ):
        check_sizes(2, num_classes=num_classes)
        check_flags(normals=normals, chirality=chirality, canonical_order=canonical_order)
        check_sizes(head_samples=head_samples)
        check_probability("head_dropout", head_dropout)
        check_sampler_options("head_sampler", head_sampler, Sampler)
        made = factory_kwargs(device, dtype)
        encoder = {"num_heads": num_heads, "num_samples": num_samples, "depth": depth, **options}
        channels = point_channels(relative, normals, chirality)
        super().__init__(dim, 0, normals, tokens, channels, canonical_order, made, encoder)
        self.head = SampleMaxHead(dim, num_classes, head_samples, dropout=head_dropout, **made, **(head_sampler or {}))

    def forward(
        self, points: Tensor, normals: Tensor | None = None, ptr: Tensor | Sequence[int] | None = None, *,
        mask: Tensor | None = None, sampling: SamplingContext | None = None
    ) -> Tensor:
        """points and normals [N, 3] packed by ptr int64 [B + 1], or [B, N, 3] with a mask, bool [B, N]; the random numbers
        `sampling` of the pass: logits [B, num_classes]. They depend on the scale: models are trained on clouds of the unit
        ball (centroid 0, largest distance 1). Normals must have unit length, and point to the same side of the
        surface as in the training, which is not checked: others change the result. Pretrained models, and others that learned from meshes, need
        normals that point outward."""
        (points, normals), layout, _ = self._packed(points, normals, ptr, mask)
        sampling = context_of(self, sampling)
        tokens, _ = self._encode(points, normals, None, layout, sampling)
        return self.head(tokens, layout, sampling=sampling)


class PointSegmenter(_PointModel):
    r"""Predicts a part for every point.

    Args:
        num_parts: at least 2.
        num_categories: shape categories, a one-hot input of every point; 0: no such input.
        dim, num_heads, num_samples, depth, normals, tokens, relative, chirality, canonical_order, device, dtype, options:
            see :class:`PointClassifier`.

    Raises a ValueError or TypeError that names the argument.
    """

    def __init__(
        self, num_parts: int, num_categories: int = 0, dim: int = 64, num_heads: int = 4, num_samples: int = 32, *,
        depth: int = 3, normals: bool = True, tokens: str = "radial", relative: str = "paper", chirality: bool = False,
        canonical_order: bool = True, device=None, dtype=None, **options
    ):
        check_sizes(2, num_parts=num_parts)
        check_flags(normals=normals, chirality=chirality, canonical_order=canonical_order)
        check_sizes(0, num_categories=num_categories)
        made = factory_kwargs(device, dtype)
        encoder = {"num_heads": num_heads, "num_samples": num_samples, "depth": depth, **options}
        channels = point_channels(relative, normals, chirality)
        super().__init__(dim, num_categories, normals, tokens, channels, canonical_order, made, encoder)
        self.num_categories = num_categories
        self.head = nn.ModuleDict({"linear": nn.Linear(dim, num_parts, **made)})

    def forward(
        self, points: Tensor, normals: Tensor | None = None, ptr: Tensor | Sequence[int] | None = None, *,
        category: Tensor | None = None, mask: Tensor | None = None, sampling: SamplingContext | None = None
    ) -> Tensor:
        """points and normals [N, 3] packed by ptr int64 [B + 1], or [B, N, 3] with a mask, bool [B, N]; category int64 [B];
        the random numbers `sampling` of the pass: logits [N, num_parts] or [B, N, num_parts] in the order of the points. Scale and normals are
        those of :class:`PointClassifier`: the unit ball, and unit length and outward."""
        (points, normals), layout, unpacked = self._packed(points, normals, ptr, mask)
        features = self._one_hot(category, points, layout)
        tokens, order = self._encode(points, normals, features, layout, context_of(self, sampling))
        logits = self.head["linear"](tokens)
        if order is not None:
            logits = torch.empty_like(logits).index_copy(0, order, logits)
        return unpacked.restore(logits)

    def _one_hot(self, category: Tensor | None, points: Tensor, layout: PackedLayout) -> Tensor | None:
        if (category is not None) != (self.num_categories > 0):
            found = "none" if category is None else "one, and it was built without (num_categories)"
            raise ValueError(f"category must be given exactly when the model was built for categories, got {found}")
        if category is None:
            return None
        if not isinstance(category, Tensor) or category.layout != torch.strided or category.device.type == "meta" != points.device.type:
            raise ValueError(f"category must be a dense tensor of int64 with values, got {kind_of(category)}")
        if category.dtype != torch.int64 or category.shape != (layout.items,):
            raise ValueError(f"category must be int64 [{layout.items}], one an item, got {category.dtype} {list(category.shape)}")
        if category.device.type == "cpu" and not torch.compiler.is_compiling() and category.numel() > 0 and not (
            0 <= int(category.min()) and int(category.max()) < self.num_categories
        ):
            raise ValueError(f"category must lie in [0, {self.num_categories}), got values from {int(category.min())} to {int(category.max())}")
        known = torch.arange(self.num_categories, device=points.device)
        one_hot = (category.to(points.device).unsqueeze(1) == known).to(points.dtype)
        return one_hot.index_select(0, layout.item_of_row(points.device))
