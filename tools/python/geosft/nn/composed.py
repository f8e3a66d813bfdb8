# SPDX-License-Identifier: Apache-2.0
"""Sampling attention composed of PyTorch's operations: every score and probability that the paper compares with, and
relative encodings that no fused operator has."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import softplus

from .packed import segment_of
from .relative import SMALLEST_SQUARED_DISTANCE, GraphEncoding, PointEncoding, SequenceEncoding, distance_features, point_features

SCORES, PROBABILITIES = ("maxout", "dot"), ("leaky_relu", "softmax")


class PaddedKeys(NamedTuple):
    """The keys of each item, which are its sampled tokens, padded to equal number, k: key j of item b is the sampled token
    ``rows[b, j]`` where ``mask[b, j]``, both [B, k]; ``item`` int64 [N] is the item of each query."""

    rows: Tensor
    mask: Tensor
    item: Tensor

    def of_queries(self, sampled: Tensor) -> Tensor:
        """What each query sees of sampled rows [K, ...]: [N, k, ...]."""
        return sampled[self.rows[self.item]]


def padded_keys(pairs, layout) -> PaddedKeys:
    """The padded keys of sampled pairs for the queries of `layout`."""
    item = layout.item_of_row(pairs.top.device)
    if pairs.ptr is None:
        rows = torch.arange(pairs.top.shape[0], device=pairs.top.device).unsqueeze(0)
        return PaddedKeys(rows, torch.ones_like(rows, dtype=torch.bool), item)
    ptr = pairs.ptr.to(pairs.top.device)
    count = ptr.diff()
    place = torch.arange(pairs.layout.longest(), device=ptr.device)
    mask = place < count.unsqueeze(1)
    last = max(pairs.top.shape[0] - 1, 0)
    return PaddedKeys((ptr[:-1].unsqueeze(1) + place).clamp_max(last), mask, item)


class Bias(NamedTuple):
    """R_mul and R_add [N, k, h] of every query and key."""

    mul: Tensor
    add: Tensor


def _transform(encoding: Tensor, weights: tuple[Tensor, ...]) -> Bias:
    """R_mul = softplus(X_R w_mul + b_mul) and R_add = X_R w_add + b_add for X_R [N, k, r]."""
    w_mul, b_mul, w_add, b_add = weights
    with torch.autocast(encoding.device.type, enabled=False):  # as the fused operators, in the type of the weights
        return Bias(softplus(encoding @ w_mul + b_mul), encoding @ w_add + b_add)


def _unit_vectors(x: Tensor) -> Tensor:
    """Vectors [..., 3] scaled to length 1; those of length 0 remain, with a gradient of 0: a steep one would have to cancel
    with that of the other end."""
    squared = x.square().sum(-1, keepdim=True)
    nonzero = squared > SMALLEST_SQUARED_DISTANCE
    return x * torch.where(nonzero, torch.where(nonzero, squared, 1.0).rsqrt(), 0.0)


def _products_of(x: Tensor) -> Tensor:
    """The products xx, yy, zz, xy, xz, yz of the components of vectors [..., 3]."""
    return torch.cat((x.square(), x[..., :1] * x[..., 1:], x[..., 1:2] * x[..., 2:]), -1)


class _EdgeDirections(NamedTuple):
    """The directions u of the edges of each node, which have length 1: the `mean` [..., 3] of u over its edges, and the mean
    `products` [..., 6] of two components of u; 0 for a node without edges."""

    mean: Tensor
    products: Tensor

    @staticmethod
    def of(coordinates: Tensor, rowptr: Tensor, col: Tensor) -> _EdgeDirections:
        """Those of the edges in CSR between nodes with `coordinates` [N, 3]."""
        source = segment_of(rowptr, col.shape[0], col.device)
        along = _unit_vectors(coordinates[col] - coordinates[source])
        each = torch.cat((along, _products_of(along)), 1)
        sums = each.new_zeros(coordinates.shape[0], 9).index_add(0, source, each)
        means = sums / rowptr.diff().clamp_min(1).unsqueeze(1).to(sums)
        return _EdgeDirections(means[:, :3], means[:, 3:])

    def of_nodes(self, rows: Tensor) -> _EdgeDirections:
        return _EdgeDirections(self.mean[rows], self.products[rows])


def _angle_features(queries: Tensor, query_directions: _EdgeDirections, keys: Tensor, key_directions: _EdgeDirections) -> Tensor:
    """[N, K, ANGLE_CHANNELS] of queries, nodes with coordinates [N, 3], and the keys that each sees, sampled nodes with
    coordinates [N, K, 3] (:class:`GraphEncoding`)."""
    line = _unit_vectors(keys - queries.unsqueeze(1))
    products = _products_of(line) * line.new_tensor([1.0, 1.0, 1.0, 2.0, 2.0, 2.0])
    mean, of_query = query_directions.mean.unsqueeze(1), query_directions.products.unsqueeze(1)
    return torch.stack(((line * mean).sum(-1), (products * of_query).sum(-1), -(line * key_directions.mean).sum(-1),
                        (products * key_directions.products).sum(-1), (mean * key_directions.mean).sum(-1)), -1)


def _edge_encoding(relative: GraphEncoding, members: Tensor, keys: PaddedKeys) -> Tensor:
    """X_R [N, k, r] of the nodes ``members`` [B, k]: the sum of the edges from each query to them."""
    nodes = relative.rowptr.shape[0] - 1
    source = segment_of(relative.rowptr, relative.col.shape[0], relative.col.device)
    found = (members[keys.item[source]] == relative.col.unsqueeze(1)).to(relative.edge_attr.dtype)
    each = found.unsqueeze(2) * relative.edge_attr.unsqueeze(1)
    return each.new_zeros(nodes, *each.shape[1:]).index_add(0, source, each)


def _node_encoding(
    relative: GraphEncoding, coordinates: Tensor | None, directions: _EdgeDirections | None, members: Tensor, keys: PaddedKeys
) -> Tensor:
    """X_R of the edges to nodes and, where the encoding has coordinates, of the distance and the angles to them."""
    edges = _edge_encoding(relative, members, keys)
    if coordinates is None:
        return edges
    seen = members[keys.item]
    there = coordinates[seen]
    squares = (coordinates.unsqueeze(1) - there).square().sum(-1)
    encoding = [edges, distance_features(squares, relative.distance_channels, relative.distance_range)]
    if directions is not None:
        encoding.append(_angle_features(coordinates, directions, there, directions.of_nodes(seen)))
    return torch.cat([channels.to(edges.dtype) for channels in encoding], -1)


def attention_bias(relative, pairs, keys: PaddedKeys, weights: tuple[Tensor, ...]) -> Bias | None:
    """The attention bias of an encoding; None without one."""
    if relative is None:
        return None
    if isinstance(relative, SequenceEncoding):
        sampled = keys.of_queries(pairs.sample(relative.positions))
        return _transform(relative.positions.unsqueeze(1) * sampled, weights)
    if isinstance(relative, PointEncoding):
        points, normals = (None if one is None else keys.of_queries(pairs.sample(one)) for one in relative)
        channels = weights[0].shape[0]
        return _transform(point_features(relative.coordinates, points, relative.normals, normals, channels), weights)
    coordinates = relative.coordinates
    if coordinates is not None:
        coordinates = coordinates.to(torch.promote_types(coordinates.dtype, torch.float32))
    directions = _EdgeDirections.of(coordinates, relative.rowptr, relative.col) if relative.angles else None
    top = _transform(_node_encoding(relative, coordinates, directions, pairs.top[keys.rows], keys), weights)
    partner = _transform(_node_encoding(relative, coordinates, directions, pairs.partner[keys.rows], keys), weights)
    p = keys.of_queries(pairs.weight).unsqueeze(-1)
    return Bias(p * top.mul + (1 - p) * partner.mul, p * top.add + (1 - p) * partner.add)


def _scores(kind: str, q: Tensor, k: Tensor) -> Tensor:
    """[N, k, h] of queries [N, h, c] and what each sees of the keys [N, k, h, c]."""
    scale = 1.0 / math.sqrt(q.shape[-1])
    if kind == "dot":
        return (q.unsqueeze(1) * k).sum(-1) * scale
    return torch.maximum(q.unsqueeze(1), k).sum(-1) * scale


def _normalized(kind: str, score: Tensor, leak: Tensor, mask: Tensor, eps: float) -> Tensor:
    """Probabilities over the keys of each query; zeros for a query without any."""
    if kind == "softmax":
        shares = score.masked_fill(~mask, -torch.inf).softmax(1)
        return torch.where(mask, shares, 0)  # NaN where there is no key
    positive = torch.where(mask, score.relu(), 0)
    total = positive.sum(1, keepdim=True) + torch.where(mask, softplus(leak), 0).sum(1, keepdim=True) + eps
    return positive / torch.where(total == 0, torch.ones_like(total), total)


def attention_probabilities(
    score: str, probability: str, q: Tensor, k: Tensor, leak: Tensor, bias: Bias | None, keys: PaddedKeys, eps: float
) -> Tensor:
    """P [N, k, h] with S = score(q, k) / sqrt(c) * R_mul + R_add (SFT section 4.3), for q [N, h, c] of all tokens,
    k [K, h, c] and leak [K, h] of the sampled ones. Takes N * k * h * c memory."""
    s = _scores(score, q, keys.of_queries(k))
    if bias is not None:
        s = s * bias.mul + bias.add
    mask = keys.mask[keys.item].unsqueeze(-1)
    return _normalized(probability, s, keys.of_queries(leak), mask, eps)


def composed_attention(probabilities: Tensor, v: Tensor, keys: PaddedKeys) -> Tensor:
    """P V [N, h, cv] for values [K, h, cv] of the sampled tokens."""
    return (probabilities.unsqueeze(-1) * keys.of_queries(v)).sum(1)
