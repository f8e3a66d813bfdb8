# SPDX-License-Identifier: Apache-2.0
"""Exports of models: torch.export and AOTInductor packages, which keep geosft's operators, and ONNX, which has standard
operators alone.

>>> program = geosft.export.exported(model)             # a torch.export.ExportedProgram
>>> geosft.export.package(model, "model.pt2")           # compiled, for C++ without Python
>>> geosft.export.onnx(model, "model.onnx", max_tokens=1024)
>>> geosft.export.onnx(geosft.from_pretrained("furniture"), "furniture.onnx", canonical_order=False)
>>> geosft.export.onnx(my_module, "mine.onnx", (x,), max_tokens=1024)  # with layers of geosft in it

Sizes are dynamic: any number of items of any size, packed by ptr.
Models are exported in evaluation mode.
"""

from __future__ import annotations

import copy
import importlib.util
import pathlib
import warnings
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn

from .checkpoints import output_path
from .nn import (FeaturedGraphs, GraphModel, PointClassifier, PointSegmenter, PolynomialAttention, PrimalAttention, SampleMaxHead,
                 Sampler, SamplingAttention, SamplingContext, SoftmaxPoolHead, farthest_point_order)
from ._tensors import check_integers, stack_level
from .nn.checks import check_like, check_sizes, tensor_of
from .nn.composed import PaddedKeys, attention_bias, attention_probabilities, composed_attention
from .nn.heads import PairHead, PooledHead
from .nn.packed import PackedLayout, pack
from .nn.point_models import LOCAL_NEIGHBOURS, SHAPE_CONTEXT
from .nn.sampling import context_of, gumbel_noise, log_softplus, partner_ranks

if TYPE_CHECKING:
    import numpy

__all__ = ["CannotExport", "exported", "input_names", "inputs", "onnx", "package", "standard"]

_LONGEST_KEY = 2**62
_OF_CUTOFF = "edge_cutoff: the number of edges depends on the values of the coordinates"


class CannotExport(ValueError):
    """A part of a model that the target format cannot express; the text says which and why."""


class _StandardPairs(NamedTuple):
    """Sampled pairs [items * k], padded: the mask of `keys` says which there are; see :class:`geosft.nn.Pairs`."""

    top: Tensor
    partner: Tensor
    weight: Tensor
    keys: PaddedKeys
    hard: bool

    def sample(self, x: Tensor) -> Tensor:
        weight = self.weight.view(-1, *[1] * (x.dim() - 1))
        if self.hard:
            return x[torch.where(self.weight >= 0.5, self.top, self.partner)]
        return weight * x[self.top] + (1 - weight) * x[self.partner]


class _RandomTables(nn.Module):
    """The random numbers of a pass in evaluation mode, as tables: noise, and ranks of partners, for the rows of an item.

    Args:
        samplers: that the pass asks at most.
        max_tokens: of an item.
        vote: of :meth:`SamplingContext.seeded`; None: greedy, without random numbers.
        like: a parameter, whose dtype and device the tables have.
    """

    def __init__(self, samplers: int, max_tokens: int, vote: int | None, like: Tensor):
        super().__init__()
        self.samplers, self.max_tokens, self.vote = samplers, max_tokens, vote
        if vote is not None:
            seeds = [SamplingContext.seed_of(vote, call) for call in range(samplers)]
            self.register_buffer("noise", torch.stack([gumbel_noise(seed, max_tokens) for seed in seeds]).to(like))
            self.register_buffer("ranks", torch.stack([partner_ranks(seed, max_tokens) for seed in seeds]).to(like.device))

    def check(self, layout: PackedLayout) -> None:
        """Raises a ValueError for an item of more tokens than the tables have rows. An exported program has no such check."""
        if self.vote is None or torch.compiler.is_compiling():
            return
        if (longest := layout.longest()) > self.max_tokens:
            raise ValueError(f"max_tokens is {self.max_tokens}, but an item has {longest} tokens: export with max_tokens={longest} or more")

    def of_next_sampler(self, sampling: SamplingContext) -> tuple[Tensor | None, Tensor | None]:
        """Noise and ranks [max_tokens] of the sampler that asks `sampling` next: of a seeded pass, each has others."""
        given = None if sampling.mode == "greedy" else sampling.vote
        if sampling._chosen and (sampling.mode == "random" or given != self.vote):
            found = sampling.mode if sampling.mode != "seeded" else f"seeded({given})"
            raise CannotExport(f"sampling: the model calls a layer with SamplingContext.{found}, but the tables of random numbers are those of "
                               f"vote={self.vote}: export with that vote (None: greedy), or call the layer without `sampling`")
        if self.vote is None:
            return None, None
        call = sampling._samplings
        sampling._samplings += 1
        if call >= self.samplers:
            raise CannotExport(f"sampling: more samplers ask one SamplingContext than the model has, {self.samplers}: give each pass a new one")
        return self.noise[call], self.ranks[call]


class _StandardSampler(nn.Module):
    """A :class:`geosft.nn.Sampler` in evaluation mode, of operators that every runtime has. Noise and partners come from
    tables.

    Args:
        sampler: whose parameters it shares.
        tables: of random numbers.
    """

    def __init__(self, sampler: Sampler, tables: _RandomTables):
        super().__init__()
        if sampler.with_replacement:
            raise CannotExport("with_replacement: independent samples need a table of noise for each of them")
        self.projection, self.k, self.tau, self.hard = sampler.projection, sampler.num_samples, sampler.tau, sampler.hard
        self.gumbel_softmax, self.noisy, self.tables = sampler.weighting == "gumbel_softmax", sampler.noise, tables

    def forward(self, x: Tensor, layout: PackedLayout, *, sampling: SamplingContext) -> _StandardPairs:
        self.tables.check(layout)
        noise, ranks = self.tables.of_next_sampler(sampling)
        ptr = layout.pointers(x.device)
        item = layout.item_of_row(x.device)
        rows = torch.arange(x.shape[0], device=x.device)
        place = rows - ptr[item]
        score = self.projection(x).squeeze(-1)
        noise = noise.to(score.dtype)[place] if noise is not None and self.noisy else torch.zeros_like(score)
        noisy = score + noise
        size = ptr[1:] - ptr[:-1]
        count = torch.maximum((size // 2).clamp(max=self.k), size.clamp(max=1))
        of_row = count[item]
        # The rank of each row in its item by falling score, the lower row first among equal ones.
        rank = self._ranks_in_items(noisy, item, rows, ptr, descending=True)
        chosen = rank < of_row
        if ranks is not None:  # pairs in the order of rows; partners by random keys among the others
            before = chosen.long().cumsum(0) - chosen.long()
            top_place = before - before[ptr[:-1].clamp(max=x.shape[0] - 1)][item]
            key = torch.where(chosen, _LONGEST_KEY, ranks[place])
            partner_place = self._ranks_in_items(key, item, rows, ptr, descending=False)
        else:
            top_place, partner_place = rank, torch.where(size[item] == 1, rank, rank - of_row)
        keys = self._padded_keys(count, item)
        top = self._scattered(rows, chosen, item, top_place, keys)
        partner = self._scattered(rows, (partner_place >= 0) & (partner_place < of_row), item, partner_place, keys)
        weight = self._weight(noisy, score, place, top, partner)
        return _StandardPairs(top, partner, weight, keys, self.hard)

    @staticmethod
    def _ranks_in_items(key: Tensor, item: Tensor, rows: Tensor, ptr: Tensor, descending: bool) -> Tensor:
        first = torch.sort(key, descending=descending, stable=True).indices
        order = first[torch.sort(item[first], stable=True).indices]
        return torch.zeros_like(rows).scatter(0, order, rows - ptr[item[order]])

    def _padded_keys(self, count: Tensor, item: Tensor) -> PaddedKeys:
        mask = torch.arange(self.k, device=count.device) < count.unsqueeze(1)
        every = torch.arange(self.k, device=count.device) + torch.arange(count.shape[0], device=count.device).unsqueeze(1) * self.k
        return PaddedKeys(every, mask, item)

    def _scattered(self, rows: Tensor, there: Tensor, item: Tensor, place: Tensor, keys: PaddedKeys) -> Tensor:
        """The row of each key, from the rows that are `there`, each at its `place` in its item; 0 of padding."""
        size = keys.rows.shape[0] * self.k
        place = torch.where(there, item * self.k + place, size)
        return torch.zeros(size + 1, dtype=torch.int64, device=rows.device).scatter(0, place, rows)[:-1]

    def _weight(self, noisy: Tensor, score: Tensor, place: Tensor, top: Tensor, partner: Tensor) -> Tensor:
        if self.gumbel_softmax:
            difference = noisy[top] - noisy[partner]
        else:
            difference = log_softplus(noisy[top]) - log_softplus(noisy[partner])
        return torch.where(top == partner, torch.ones_like(difference), (difference / self.tau).sigmoid())


class _StandardAttention(nn.Module):
    """A :class:`geosft.nn.SamplingAttention` in evaluation mode, of standard operators. Takes memory for every token and
    sampled token of its item, times the channels."""

    def __init__(self, attention: SamplingAttention, sampler: _StandardSampler):
        super().__init__()
        self.attention, self.sampler = attention, sampler
        attention.sampler = None

    def forward(self, x: Tensor, relative=None, ptr=None, *, mask: Tensor | None = None, sampling: SamplingContext | None = None) -> Tensor:
        own = self.attention
        x, relative, layout, unpacked = own._packed(x, relative, ptr, mask)
        pairs = self.sampler(x, layout, sampling=context_of(self, sampling))
        q, k, v, leak = own._project(x, pairs)
        bias = attention_bias(relative, pairs, pairs.keys, own._weights)
        shares = attention_probabilities(own.score, own.probability, q, k, leak, bias, pairs.keys, own.eps)
        return unpacked.restore(own.output(composed_attention(shares, v, pairs.keys).reshape(x.shape)))


class _StandardPrimal(nn.Module):
    """A :class:`geosft.nn.PrimalAttention` of standard operators. Takes memory for every pair of tokens of the batch."""

    def __init__(self, attention: PrimalAttention):
        super().__init__()
        unusual = [name for name, used in (("mask", attention.mask != "none"), ("convolution", attention.convolution is not None),
                                           ("variance", attention.variance), ("pool", attention.pool is not None)) if used]
        if unusual:
            raise CannotExport(f"{', '.join(unusual)} of PrimalAttention: the sizes of its groups depend on the values of ptr")
        self.attention = attention

    def forward(self, x: Tensor, relative=None, ptr=None, *, mask: Tensor | None = None, sampling=None) -> Tensor:
        own = self.attention
        (x,), layout, unpacked = pack([x], own.dim, ptr, mask, "x", own.query.weight)
        q, k, v = (rows.transpose(0, 1) for rows in own._heads(x))  # [h, N, c]
        item = layout.item_of_row(x.device)
        same = (item.unsqueeze(1) == item.unsqueeze(0)).to(x.dtype)
        if own.beta is not None:
            mean = (same / same.sum(1, keepdim=True)) @ k
            beta = own.beta.view(-1, 1, 1)
            q, k = q - beta * mean, k - beta * mean
        if own.kernel == "linear":
            weight = (nn.functional.elu(q) + 1) @ (nn.functional.elu(k) + 1).transpose(1, 2) * same
            shares = weight / (weight.sum(-1, keepdim=True) + own.eps)
        else:
            shares = (q @ k.transpose(1, 2) / q.shape[-1] ** 0.5).masked_fill(same == 0, -torch.inf).softmax(-1)
        return unpacked.restore(own.output((shares @ v).transpose(0, 1).reshape(x.shape)))


class _StandardSampleMax(nn.Module):
    """A :class:`geosft.nn.SampleMaxHead` in evaluation mode, of standard operators."""

    def __init__(self, head: SampleMaxHead, sampler: _StandardSampler):
        super().__init__()
        self.dim, self.linear, self.sampler = head.dim, head.linear, sampler

    def forward(self, x: Tensor, ptr=None, *, mask: Tensor | None = None, sampling: SamplingContext | None = None) -> Tensor:
        (x,), layout, _ = pack([x], self.dim, ptr, mask, "x", self.linear.weight)
        return self.linear(_sampled_max(x, self.sampler(x, layout, sampling=context_of(self, sampling))))


class _StandardPooled(nn.Module):
    """A :class:`geosft.nn.PooledHead` of a sample, in evaluation mode, of standard operators."""

    def __init__(self, head: PooledHead, sampler: _StandardSampler):
        super().__init__()
        self.dim, self.mlp, self.sampler = head.dim, head.mlp, sampler

    def forward(
        self, x: Tensor, ptr=None, graph_features: Tensor | None = None, *, mask: Tensor | None = None, sampling: SamplingContext | None = None
    ) -> Tensor:
        (x,), layout, _ = pack([x], self.dim, ptr, mask, "x", self.mlp.linears[0].weight)
        pooled = _sampled_max(x, self.sampler(x, layout, sampling=context_of(self, sampling)))
        return self.mlp(pooled if graph_features is None else torch.cat((pooled, graph_features.to(pooled.dtype)), 1))


def _sampled_max(x: Tensor, pairs: _StandardPairs) -> Tensor:
    """The maximum over the sample of each item, 0 for an empty one."""
    sampled = pairs.sample(x)[pairs.keys.rows]
    largest = sampled.masked_fill(~pairs.keys.mask.unsqueeze(-1), -torch.inf).amax(1)
    return largest.masked_fill(~pairs.keys.mask[:, :1], 0.0)


def _standard_softmax_pool(x: Tensor, u: Tensor, layout: PackedLayout) -> Tensor:
    item, items = layout.item_of_row(x.device), layout.items
    logit = x @ u
    largest = torch.full((items,), -torch.inf, dtype=x.dtype, device=x.device).scatter_reduce(0, item, logit, "amax")
    weight = (logit - largest[item]).exp()
    total = torch.zeros(items, dtype=x.dtype, device=x.device).index_add(0, item, weight)
    pooled = torch.zeros(items, x.shape[1], dtype=x.dtype, device=x.device).index_add(0, item, x * weight.unsqueeze(1))
    return pooled / torch.where(total == 0, torch.ones_like(total), total).unsqueeze(1)


def _standard_point_tokens(points: Tensor, normals: Tensor | None, layout: PackedLayout, kind: str) -> Tensor:
    """models/ops/point_tokens.h of standard operators. For "local" it takes memory for every pair of points of the
    batch."""
    item, rows = layout.item_of_row(points.device), points.shape[0]
    if kind == "ones":
        return torch.ones_like(points[:, :1])
    count = torch.zeros(layout.items, dtype=points.dtype, device=points.device).index_add(0, item, torch.ones_like(points[:, 0]))
    total = torch.zeros(layout.items, 3, dtype=points.dtype, device=points.device).index_add(0, item, points)
    offset = points - (total / count.clamp(min=1).unsqueeze(1))[item]
    distance = offset.norm(dim=-1)
    channels = [torch.ones_like(distance), distance]
    if normals is not None:
        channels.append((offset * normals).sum(-1) / distance.clamp(min=1e-6))
    if kind in ("local", "shape_context"):
        exact = points.double()
        apart = (exact.unsqueeze(1) - exact.unsqueeze(0)).square().sum(-1)
        apart = apart.masked_fill(item.unsqueeze(1) != item.unsqueeze(0), torch.inf)
        widest = max(LOCAL_NEIGHBOURS)
        apart = nn.functional.pad(apart, (0, widest), value=torch.inf)
        nearest = torch.topk(apart, widest, largest=False, sorted=True)
        index = nearest.indices.clamp(max=rows - 1)
        for size in LOCAL_NEIGHBOURS:
            exists = (nearest.values[:, :size] < torch.inf).to(points.dtype)
            channels += _neighbourhood(points, normals, index[:, :size], exists)
    tokens = torch.stack(channels, 1)
    return torch.cat((tokens, _shape_context(points, normals, item, count)), 1) if kind == "shape_context" else tokens


def _shape_context(points: Tensor, normals: Tensor | None, item: Tensor, count: Tensor) -> Tensor:
    """models/ops/shape_context.h of standard operators; `count` [items] are the points of each item."""
    shells, angles, references = SHAPE_CONTEXT
    count = count.long().unsqueeze(1)
    used, k = count.clamp(max=references), torch.arange(1, references + 1, device=points.device)
    place = torch.div(k * count + used - 1, used.clamp(min=1), rounding_mode="floor") - 1
    begin = count.cumsum(0) - count
    row = torch.where(k <= used, begin + place, torch.zeros_like(place))[item]
    pair = (((k <= used)[item]) & (row != torch.arange(points.shape[0], device=points.device).unsqueeze(1))).to(points.dtype)

    def shares(values, nodes):
        position = values.clamp(0, 1) * (nodes - 1)
        return (1 - (position.unsqueeze(-1) - torch.arange(nodes, dtype=values.dtype, device=values.device)).abs()).clamp(min=0)

    apart = points[row] - points.unsqueeze(1)
    distance = apart.norm(dim=-1)
    begin = 0.0002**0.5
    in_shells = shares(((distance.clamp(max=2) + 0.0002).sqrt() - begin) / (2.0002**0.5 - begin), shells) * (pair / pair.sum(1, keepdim=True).clamp(min=1)).unsqueeze(-1)
    if normals is None:
        return (64 * in_shells.sum(1)).log1p()
    direction, here, there = apart / distance.clamp(min=0.01).unsqueeze(-1), normals.unsqueeze(1), normals[row]
    cosines = ((direction * here).sum(-1), (here * there).sum(-1), (direction * there).sum(-1))
    histograms = [(in_shells.transpose(1, 2) @ shares((cosine + 1) / 2, angles)).flatten(1) for cosine in cosines]
    return (64 * torch.cat(histograms, 1)).log1p()


def _neighbourhood(points: Tensor, normals: Tensor | None, index: Tensor, exists: Tensor) -> list[Tensor]:
    share = exists / exists.sum(1, keepdim=True)

    def mean(values):
        return (values * share.view(*share.shape, *[1] * (values.dim() - 2))).sum(1)

    offset = points[index] - points.unsqueeze(1)
    radius = mean(offset.square().sum(-1)).clamp(min=1e-12).sqrt()
    scaled = offset / radius.view(-1, 1, 1)
    c = scaled.transpose(1, 2) @ (scaled * share.unsqueeze(-1))
    determinant = (c[:, 0, 0] * (c[:, 1, 1] * c[:, 2, 2] - c[:, 1, 2] * c[:, 2, 1]) -
                   c[:, 0, 1] * (c[:, 1, 0] * c[:, 2, 2] - c[:, 1, 2] * c[:, 2, 0]) +
                   c[:, 0, 2] * (c[:, 1, 0] * c[:, 2, 1] - c[:, 1, 1] * c[:, 2, 0]))
    channels = [radius, mean(scaled).norm(dim=-1), c.square().sum((1, 2)), 27 * determinant]
    if normals is not None:
        for values in ((normals[index] * normals.unsqueeze(1)).sum(-1), (scaled * normals.unsqueeze(1)).sum(-1)):
            center = mean(values)
            channels += [center, (mean(values.square()) - center.square()).clamp(min=1e-8).sqrt()]
    return channels


def _max_tokens(model: nn.Module, max_tokens: int | None) -> int:
    """The given number, or the points that a trained classifier sees of each cloud."""
    if max_tokens is None:
        clouds = getattr(model, "config", {}).get("clouds", {})
        if not isinstance(model, PointClassifier) or "points" not in clouds:
            raise TypeError("max_tokens must be given: only a classifier of a RUN says how many points a cloud has")
        max_tokens = clouds["points"]
    check_sizes(max_tokens=max_tokens)
    return max_tokens


class _Standard:
    """Replaces the modules of geosft in a module by counterparts of standard operators."""

    def __init__(self, tables: _RandomTables, canonical_order: bool | None):
        self.tables, self.canonical_order = tables, canonical_order
        self.made: dict[int, nn.Module] = {}  # by the module that each stands for, which may be used twice

    def __call__(self, module: nn.Module) -> nn.Module:
        """The counterpart of `module`, which itself is changed."""
        if id(module) in self.made:
            return self.made[id(module)]
        made = self.made[id(module)] = self._counterpart(module)
        if made is module:
            for name, child in module._modules.items():
                if child is not None:
                    module._modules[name] = self(child)
        return made

    def _counterpart(self, module: nn.Module) -> nn.Module:
        """The counterpart of the module alone; the module itself where its children, or their functions, are all there is to replace."""
        if isinstance(module, SamplingAttention):
            return _StandardAttention(module, _StandardSampler(module.sampler, self.tables))
        if isinstance(module, PrimalAttention):
            return _StandardPrimal(module)
        if isinstance(module, PolynomialAttention):
            raise CannotExport("PolynomialAttention: its monomials are one operator of geosft")
        if isinstance(module, SampleMaxHead):
            return _StandardSampleMax(module, _StandardSampler(module.sampler, self.tables))
        if isinstance(module, PooledHead) and module.pooling == "sample_max":
            return _StandardPooled(module, _StandardSampler(module.sampler, self.tables))
        if isinstance(module, Sampler):
            raise CannotExport("Sampler outside of an attention or a head: the number of its samples depends on the values of ptr or of a mask")
        if isinstance(module, (SoftmaxPoolHead, PairHead, PooledHead)):
            module.pool = _standard_softmax_pool
        if isinstance(module, GraphModel) and module.edge_cutoff > 0:
            raise CannotExport(_OF_CUTOFF)
        if isinstance(module, (PointClassifier, PointSegmenter)):
            self._points(module)
        return module

    def _points(self, model: PointClassifier | PointSegmenter) -> None:
        if model.ppf is not None:
            raise CannotExport("tokens ppf: the point-pair features of neighbours are one operator of geosft")
        if model.canonical_order and self.canonical_order is not False:
            raise CannotExport("canonical_order: farthest-point sampling chooses one point after the other, which standard operators "
                               "cannot do for any number of points: pass canonical_order=False, and give the exported model what "
                               "geosft.export.inputs returns, which is in that order (geosft.nn.farthest_point_order)")
        model.canonical_order, model.point_tokens = False, _standard_point_tokens


def standard(model: nn.Module, *, max_tokens: int | None = None, vote: int | None = 0, canonical_order: bool | None = None) -> nn.Module:
    """A copy of a model, in evaluation mode, of operators that every runtime has. It gives the model's outputs, to
    rounding, for items of at most `max_tokens` tokens.

    Args:
        model: a PointClassifier, PointSegmenter or GraphModel, or a module of your own with layers, attentions, heads or
            models of geosft in it. What is not of geosft remains as it is.
        max_tokens: the size of the tables of random numbers. The module refuses an item of more tokens with a ValueError; the runtime of
            an ONNX file says that an index is out of bounds. None, for a classifier of a RUN: the points that it was trained with.
        vote: of :meth:`geosft.nn.SamplingContext.seeded`, for all that the model calls without `sampling`; None: greedy samples.
            A module of your own that passes `sampling` must pass this vote, or it is refused.
        canonical_order: False for a model with canonical_order: points must then come in the order of
            :func:`geosft.nn.farthest_point_order`, which standard operators cannot find, and in which :func:`inputs` gives them.

    Raises :class:`CannotExport` for what has no standard operators.
    """
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be a torch.nn.Module, got {type(model).__name__}")
    if isinstance(model, GraphModel):
        _function_of(model)  # refuses an ensemble, and a regression
    max_tokens = _max_tokens(model, max_tokens)
    if vote is not None:
        check_integers(vote=vote)
    _warn_of_regression(model)
    made = copy.deepcopy(model).eval()
    samplers = [module for module in made.modules() if isinstance(module, Sampler)]
    like = samplers[0].projection.weight if samplers else torch.zeros(0)
    return _Standard(_RandomTables(len(samplers), max_tokens, vote if samplers else None, like), canonical_order)(made)


def _with_empty_item(given: dict[str, Tensor]) -> dict[str, Tensor]:
    """The inputs with an empty item after the others: a trace takes one item for a case of its own, and two or more for
    any number."""
    given["ptr"] = torch.cat((given["ptr"], given["ptr"][-1:]))
    if "category" in given:
        given["category"] = nn.functional.pad(given["category"], (0, 1))
    if "graph_features" in given:
        given["graph_features"] = nn.functional.pad(given["graph_features"], (0, 0, 0, 1))
    return given


class _Clouds(nn.Module):
    """A model of point clouds as a function of tensors: points, normals and categories where the model has them, ptr."""

    def __init__(self, model: PointClassifier | PointSegmenter):
        super().__init__()
        self.model = model
        self.names = ["points", *["normals"] * model.normals, *["category"] * (getattr(model, "num_categories", 0) > 0), "ptr"]

    def forward(self, *tensors: Tensor) -> Tensor:
        given = _with_empty_item(dict(zip(self.names, tensors)))
        out = self.model(given.pop("points"), given.pop("normals", None), given.pop("ptr"), **given)
        return out[:-1] if isinstance(self.model, PointClassifier) else out

    def example(self) -> tuple[Tensor, ...]:
        generator = torch.Generator().manual_seed(0)
        points = torch.rand(90, 3, generator=generator, dtype=self.model.embed.weight.dtype)
        made = {"points": points, "normals": nn.functional.normalize(points - 0.5, dim=1), "category": torch.tensor([0, 0]),
                "ptr": torch.tensor([0, 40, 90])}
        return tuple(made[name] for name in self.names)


class _Graphs(nn.Module):
    """A model of graphs as a function of tensors, those of FeaturedGraphs that the model takes."""

    def __init__(self, model: GraphModel):
        super().__init__()
        self.model = model
        attends = model.relative and model.position_kind != "relative"
        edges = attends or model.local_channels > 0
        used = {"ptr": True, "rowptr": True, "col": True, "node_categories": bool(model.node_vocabulary) or model.documents,
                "node_values": model.node_values > 0, "edge_categories": edges and bool(model.edge_vocabulary),
                "edge_values": edges and model.edge_values > 0, "coordinates": attends and model.distance_channels > 0,
                "node_encoding": model.encoding > 0, "graph_features": model.graph_features > 0}
        self.names = [name for name, there in used.items() if there]

    def forward(self, *tensors: Tensor) -> Tensor:
        out = self.model(FeaturedGraphs(**_with_empty_item(dict(zip(self.names, tensors)))))
        return out if self.model.head == "nodes" else out[:-1]

    def example(self) -> tuple[Tensor, ...]:
        model, dtype = self.model, self.model.numbers.weight.dtype
        node = torch.arange(9)
        size, begin = torch.where(node < 5, 5, 4), torch.where(node < 5, 0, 5)
        col = torch.stack((begin + (node - begin + 1) % size, begin + (node - begin + size - 1) % size), 1).flatten()
        columns = len(model.node_vocabulary) + model.documents
        made = {"ptr": torch.tensor([0, 5, 9]), "rowptr": torch.arange(10) * 2, "col": col,
                "node_categories": torch.zeros(9, columns, dtype=torch.int64), "node_values": torch.rand(9, model.node_values, dtype=dtype),
                "edge_categories": torch.zeros(18, len(model.edge_vocabulary), dtype=torch.int64),
                "edge_values": torch.rand(18, model.edge_values, dtype=dtype), "coordinates": torch.rand(9, 3, dtype=torch.promote_types(dtype, torch.float32)),
                "node_encoding": torch.rand(9, model.encoding, dtype=dtype), "graph_features": torch.rand(2, model.graph_features, dtype=dtype)}
        return tuple(made[name] for name in self.names)


def _warn_of_regression(model: nn.Module) -> None:
    if getattr(model, "kernel", None) is not None:
        warnings.warn("the kernel regression of the model is left out: what is exported has the logits of the network alone", stacklevel=stack_level())


def _function_of(model: nn.Module) -> _Clouds | _Graphs:
    if isinstance(model, GraphModel):
        if getattr(model, "more_models", ()) or getattr(model, "kernel", None) is not None:
            raise ValueError("model must be one network: an ensemble, or one with a kernel regression, is not exported (model.kernel = None with "
                             "model.more_models = () leaves one network)")
        return _Graphs(model)
    if isinstance(model, (PointClassifier, PointSegmenter)):
        return _Clouds(model)
    raise TypeError(f"model must be a PointClassifier, PointSegmenter or GraphModel, got {type(model).__name__}: "
                    "torch.export.export takes a module of one's own, as standard and onnx do")


def input_names(model: nn.Module) -> list[str]:
    """The names of the tensors that an exported `model` takes, in order. Raises a TypeError for another kind of model."""
    return _function_of(model).names


def inputs(
    model: nn.Module, points: Tensor | numpy.ndarray, normals: Tensor | numpy.ndarray | None = None, *, category: str = "", vote: int = 0
) -> dict[str, Tensor]:
    """The inputs by name (:func:`input_names`) of the exported `model` for one cloud: points [n, 3] and normals [n, 3],
    tensors, or NumPy arrays of float32 or float64.

    A model of a RUN prepares the cloud as its ``prepare`` does; another model takes it as it is. With canonical_order the
    points come in the order of :func:`geosft.nn.farthest_point_order`, which a file of :func:`onnx` expects.

    Args:
        model: a PointClassifier or PointSegmenter.
        category: the class of the shape, for a model of a RUN that is told it; of another model, give the tensor yourself.
        vote: which random subset of the points of a larger cloud a classifier of a RUN sees, as ``prepare`` has it.

    Raises a ValueError or TypeError that names the argument.
    """
    if not isinstance(model, (PointClassifier, PointSegmenter)):
        raise TypeError(f"model must be a PointClassifier or PointSegmenter, got {type(model).__name__}")
    points, normals = tensor_of(points, "points"), tensor_of(normals, "normals")
    if hasattr(model, "prepare"):
        chosen = {"vote": vote} if isinstance(model, PointClassifier) else {}
        points, normals = model.prepare(points, normals, **chosen)
    check_like(points, "points", model.embed.weight)
    if points.dim() != 2 or points.shape[1] != 3:
        raise ValueError(f"points must have shape [n, 3], got {list(points.shape)}")
    if normals is not None:
        check_like(normals, "normals", model.embed.weight)
    if (normals is not None) != model.normals or normals is not None and normals.shape != points.shape:
        raise ValueError(f"normals must be {'of the shape of points' if model.normals else 'None: the model has none'}, "
                         f"got {None if normals is None else list(normals.shape)}")
    if model.canonical_order:
        order = farthest_point_order(points)
        points, normals = points[order], None if normals is None else normals[order]
    given = {"points": points, "normals": normals, "ptr": torch.tensor([0, len(points)], device=points.device)}
    if "category" in _Clouds(model).names:
        if not hasattr(model, "_category"):
            raise ValueError("category must be given as a tensor beside the result: the model is of no RUN and has no names of classes")
        given["category"] = torch.tensor([model._category(category)], device=points.device)
    return {name: given[name] for name in _Clouds(model).names}


def _export(function: _Clouds | _Graphs) -> torch.export.ExportedProgram:
    auto = torch.export.Dim.AUTO
    shapes = tuple({0: auto} for _ in function.names)
    # A size of 1 is no case of its own: the program takes one item, too.
    with torch.no_grad(), torch.fx.experimental._config.patch(backed_size_oblivious=True):
        return torch.export.export(function.eval(), function.example(), dynamic_shapes=(shapes,), strict=False)


def exported(model: nn.Module) -> torch.export.ExportedProgram:
    """The model in evaluation mode as a program of torch.export, a function of the tensors :func:`input_names`, of any
    number of items of any sizes. It has geosft's operators: a process that loads it must ``import geosft`` first, or load
    libgeosft_ops.so. Raises a TypeError for another kind of model, and :class:`CannotExport` for polynomial attention with a tolerance and
    for edges within a cutoff."""
    function = _function_of(copy.deepcopy(model))
    _warn_of_regression(model)
    if any(isinstance(module, PolynomialAttention) and module.tolerance > 0 for module in function.modules()):
        raise CannotExport("tolerance of PolynomialAttention: the degree depends on the values of the tokens; export a fixed degree")
    if getattr(model, "edge_cutoff", 0) > 0:
        raise CannotExport(_OF_CUTOFF)
    return _export(function)


def package(model: nn.Module, file: str | pathlib.Path) -> str:
    """Compiles the model in evaluation mode with AOTInductor into a package (.pt2), a function of the tensors
    :func:`input_names`, and returns the path of `file`. C++ runs it without Python, by torch::inductor::AOTIModelPackageLoader of the
    same version of PyTorch, with libgeosft_ops.so linked (tools/examples/11_run_a_package.cpp). Python does not load it; it
    loads what :func:`exported` returns. The package is for processors with the instructions of this one, and needs a C++ compiler here. Raises a
    ValueError for another ending, a FileNotFoundError where the folder is missing, and what :func:`exported` raises."""
    path = output_path(file, "file", ".pt2")
    # libtorch.so would bring CUDA's libraries; a C++ program has those of LibTorch that it needs already.
    options = {"aot_inductor.link_libtorch": False}
    return torch._inductor.aoti_compile_and_package(exported(model), package_path=str(path), inductor_configs=options)


def _require_onnx() -> None:
    """Raises an ImportError that names the packages that are missing."""
    missing = [name for name in ("onnx", "onnxscript") if importlib.util.find_spec(name) is None]
    if missing:
        raise ImportError(f"geosft.export.onnx needs {' and '.join(missing)}: pip install onnx onnxscript")


def _translations() -> dict:
    """ONNX operators for what PyTorch's exporter does not translate."""
    from onnxscript import opset18 as op

    def sort_stable(self, stable=None, dim: int = -1, descending: bool = False):
        size = op.Gather(op.Shape(self), op.Constant(value_ints=[dim]))
        return op.TopK(self, size, axis=dim, largest=int(descending), sorted=1)  # of equal values the first comes first

    return {torch.ops.aten.sort.stable: sort_stable}


def _export_module(module: nn.Module, args: tuple, dynamic_shapes) -> torch.export.ExportedProgram:
    """A module of someone else as a program, of any sizes that it does not fix unless `dynamic_shapes` says otherwise."""
    if dynamic_shapes is None:
        auto = torch.export.Dim.AUTO
        dynamic_shapes = torch.utils._pytree.tree_map(
            lambda one: dict.fromkeys(range(one.dim()), auto) if isinstance(one, Tensor) else None, args)
    with torch.no_grad(), torch.fx.experimental._config.patch(backed_size_oblivious=True):
        return torch.export.export(module, args, dynamic_shapes=dynamic_shapes, strict=False)


def _fix_constant_sizes(graph) -> None:
    """Sizes that are a number are written as one: the exporter leaves them symbols of that name."""
    for value in (*graph.inputs, *graph.outputs):
        for axis, size in enumerate(value.shape or ()):
            if not isinstance(size, int) and str(size.value).isdecimal():
                value.shape[axis] = int(size.value)


def onnx(
    model: nn.Module, file: str | pathlib.Path, args: tuple | None = None, *, max_tokens: int | None = None, vote: int | None = 0,
    canonical_order: bool | None = None, dynamic_shapes=None
) -> None:
    """Writes the model in evaluation mode as an ONNX file of standard operators (needs the packages onnx and onnxscript): logits of one vote,
    as a function of the tensors :func:`input_names`, of any sizes up to `max_tokens` tokens per item. See
    :func:`standard` for `vote`, for `canonical_order`, and for what raises :class:`CannotExport`.

    With `args` the model may be a module of your own, with layers, attentions, heads or models of geosft in it::

        geosft.export.onnx(model, "model.onnx", (x, mask), max_tokens=1024)

    `args` are examples of the positional arguments of its forward, which give the inputs of the file their names: tensors of at least 2
    items and tokens. The outputs are `output`, or `output_0`, `output_1`, … of several. Every size that the module does not fix is dynamic, the numbers of items and of tokens of packed (`ptr`) and dense
    tokens too; `dynamic_shapes` names sizes, or fixes them, as that of :func:`torch.export.export` does.

    `file` ends with .onnx. Another ending, a missing folder and a missing package are errors before the work."""
    if args is None and not isinstance(model, (PointClassifier, PointSegmenter, GraphModel)):
        raise TypeError("model must be a PointClassifier, PointSegmenter or GraphModel, or args must be given, example arguments of a module of "
                        f"your own; got {type(model).__name__}")
    if args is not None and not isinstance(args, tuple):
        raise TypeError(f"args must be a tuple of the arguments of forward, such as (x,), got {type(args).__name__}")
    path = output_path(file, "file", ".onnx")
    made = standard(model, max_tokens=max_tokens, vote=vote, canonical_order=canonical_order)
    _require_onnx()  # before what takes a minute
    if args is None:
        function = _function_of(made)
        program, names = _export(function), dict(input_names=function.names, output_names=["logits"])
    else:
        with torch.no_grad():
            outputs = torch.utils._pytree.tree_leaves(made(*args))  # says what is wrong with the examples, such as too many tokens
        program = _export_module(made, args, dynamic_shapes)
        names = dict(output_names=["output"] if len(outputs) == 1 else [f"output_{i}" for i in range(len(outputs))])
    for node in program.graph.nodes:
        if node.op == "call_function" and getattr(node.target, "namespace", "") == "geosft":
            raise CannotExport(f"the operator {node.target}, which the model calls: it has no decomposition into standard operators")
    written = torch.onnx.export(program, (), dynamo=True, verbose=False, custom_translation_table=_translations(), **names)
    _fix_constant_sizes(written.model.graph)
    written.save(str(path))
