# SPDX-License-Identifier: Apache-2.0
"""Attentions: over a learned sample of the tokens (SFT section 4.3), and over all tokens."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from .._tensors import check_flags, check_integers, check_numbers
from .composed import PROBABILITIES, SCORES, attention_bias, attention_probabilities, composed_attention, padded_keys
from .checks import cast_like, check_encoding, check_eps, check_options, check_points, check_probability, check_sizes, factory_kwargs
from .packed import PackedLayout, pack
from .relative import KINDS, GraphEncoding, PointEncoding, SequenceEncoding, by_name, names_of, tensors_of
from .sampling import Pairs, Sampler, SamplingContext, check_sampling, context_of

_ops = torch.ops.geosft

# The initialisation of models/layers/attention.cpp, which says why.
_POINT_MEAN, _POINT_DEVIATION = (0.6, 0.0, -0.1, 0.1, 0.0), (0.6, 0.7, 0.4, 0.4, 0.35)
_RELATIVE_SPREAD = 1.8
_ADDITIVE_MEAN_OF_POINTS, _ADDITIVE_MEAN_OF_DISTINCT = -3.0, -1.0
_CARRYING_GAIN = 2.4


class RecordedAttention(NamedTuple):
    """What an attention has computed: `probabilities` [N, K, num_heads] of each token over the sampled tokens of its item
    (beyond those of a smaller item: 0), and the sampled `pairs`."""

    probabilities: Tensor
    pairs: Pairs


@contextlib.contextmanager
def record_attention(module: nn.Module) -> Iterator[list[RecordedAttention]]:
    """Records what every :class:`SamplingAttention` in `module` computes within the block, in order, to look at::

        with record_attention(model) as layers:
            model(points, normals)
        layers[0].probabilities     # [N, K, num_heads]

    It takes memory for every token and sampled token, times the channels. Raises a TypeError if `module` is no module.
    """
    if not isinstance(module, nn.Module):
        raise TypeError(f"module must be a torch.nn.Module, got {type(module).__name__}")
    recorded: list[RecordedAttention] = []
    watched = [one for one in module.modules() if isinstance(one, SamplingAttention)]
    for one in watched:
        one._recorded = recorded
    try:
        yield recorded
    finally:
        for one in watched:
            del one._recorded


def _check_heads(dim: int, num_heads: int) -> None:
    check_sizes(dim=dim)
    check_integers(num_heads=num_heads)
    if num_heads < 1 or dim % num_heads != 0:
        raise ValueError(f"num_heads must divide dim {dim}, got {num_heads}")


class SamplingAttention(nn.Module):
    r"""Attention of all tokens over a learned sample of them: concat_h(P_h V_h) W_O + b_O with queries of all tokens, and
    keys, values and leaks of the sampled ones. No residual connection, no norm. Time and memory are linear in the number
    of tokens. The maxout score with the leaky ReLU probability is one fused operator; the other scores and probabilities,
    which the paper compares with, are composed of PyTorch's operations.

    Args:
        dim: channels of a token.
        num_heads: divides dim.
        num_samples: sampled pairs an item.
        relative: "none", "points", "graph" or "sequence": the kind of encoding that forward takes.
        relative_channels: of X_R; 0 without one. Points: 1, or with normals 2, 4 (angles) or 5 (angles and chirality), see
            :func:`geosft.point_attention`; graph: channels of edge_attr; sequence: those of positions.
        score: "maxout" or "dot".
        probability: "leaky_relu" or "softmax", over the sample. With "softmax" the parameters of `leak` are frozen: nothing uses them.
        score_dropout: on queries and keys, in training.
        initialization: "default", or "paper": every linear map starts as :class:`torch.nn.Linear` does.
        eps: of the normalisation.
        device, dtype: of the parameters.
        sampler: further options of :class:`Sampler`, by name: tau, weighting, hard, with_replacement, noise.

    Parameters are named as in the C++ module. The values begin as there, from the default generator. Raises a ValueError or
    TypeError that names the argument.
    """

    _recorded: list[RecordedAttention] | None = None

    def __init__(
        self, dim: int, num_heads: int = 4, num_samples: int = 32, *, relative: str = "none", relative_channels: int = 0,
        score: str = "maxout", probability: str = "leaky_relu", score_dropout: float = 0.0, eps: float = 1e-6,
        initialization: str = "default", device=None, dtype=None, **sampler
    ):
        super().__init__()
        check_options(self, sampler, Sampler)
        _check_heads(dim, num_heads)
        if not isinstance(relative, str) or relative not in KINDS:
            raise ValueError(f"relative must be one of {', '.join(KINDS)}, not {relative!r}")
        check_sizes(0, relative_channels=relative_channels)
        if relative != "none" and relative_channels < 1:
            raise ValueError(f"relative_channels must be at least 1 for relative={relative!r}, got {relative_channels}")
        if relative == "none" and relative_channels > 0:
            raise ValueError(f"relative_channels must be 0 without a relative encoding (relative='none'), got {relative_channels}")
        if relative == "points" and relative_channels not in (1, 2, 4, 5):
            raise ValueError(f"relative_channels must be 1, 2, 4 or 5 for relative='points', got {relative_channels}")
        if score not in SCORES:
            raise ValueError(f"score must be one of {', '.join(SCORES)}, not {score!r}")
        if probability not in PROBABILITIES:
            raise ValueError(f"probability must be one of {', '.join(PROBABILITIES)}, not {probability!r}")
        check_probability("score_dropout", score_dropout)
        check_eps(eps)
        if initialization not in ("default", "paper"):
            raise ValueError(f"initialization must be default or paper, not {initialization!r}")
        made = factory_kwargs(device, dtype)
        self.initialization = initialization
        self.dim, self.num_heads, self.relative, self.relative_channels = dim, num_heads, relative, relative_channels
        self.score, self.probability, self.score_dropout, self.eps = score, probability, score_dropout, eps
        self.sampler = Sampler(dim, num_samples, **made, **sampler)
        self.query, self.key, self.value = (nn.Linear(dim, dim, **made) for _ in range(3))
        # A softmax has no leak; it remains in the state_dict, as in C++. Frozen, since DistributedDataParallel waits for each gradient.
        self.leak = nn.Linear(dim, num_heads, **made).requires_grad_(probability == "leaky_relu")
        self.output = nn.Linear(dim, dim, **made)
        if relative != "none":
            self.w_mul, self.w_add = (nn.Parameter(torch.empty(relative_channels, num_heads, **made)) for _ in range(2))
            self.b_mul, self.b_add = (nn.Parameter(torch.empty(num_heads, **made)) for _ in range(2))
        self.reset_parameters()

    def extra_repr(self) -> str:
        """What print shows."""
        return f"{self.dim}, num_heads={self.num_heads}, relative={self.relative!r}"

    def reset_parameters(self) -> None:
        """Initialises what does not begin as nn.Linear does: W_V and W_O, and the maps of the relative encoding."""
        if self.initialization == "paper":
            self.value.reset_parameters()
            self.output.reset_parameters()
            if self.relative != "none":
                bound = 1 / math.sqrt(self.relative_channels)
                for one in (self.w_mul, self.b_mul, self.w_add, self.b_add):
                    nn.init.uniform_(one, -bound, bound)
            return
        for linear in (self.value, self.output):
            nn.init.normal_(linear.weight, 0.0, _CARRYING_GAIN / math.sqrt(self.dim))
        if self.relative == "none":
            return
        spread = _RELATIVE_SPREAD / math.sqrt(self.relative_channels)
        nn.init.normal_(self.w_mul, 0.0, spread)
        nn.init.normal_(self.w_add, 0.0, spread)
        nn.init.normal_(self.b_mul)
        nn.init.normal_(self.b_add, _ADDITIVE_MEAN_OF_POINTS if self.relative == "points" else _ADDITIVE_MEAN_OF_DISTINCT)
        if self.relative != "points":
            return
        with torch.no_grad():  # for standardised channels of X_R
            for channel in range(self.relative_channels):
                for w, b in ((self.w_mul, self.b_mul), (self.w_add, self.b_add)):
                    w[channel] /= _POINT_DEVIATION[channel]
                    b -= w[channel] * _POINT_MEAN[channel]

    def forward(
        self, x: Tensor, relative: PointEncoding | GraphEncoding | SequenceEncoding | None = None,
        ptr: Tensor | Sequence[int] | PackedLayout | None = None, *, mask: Tensor | None = None,
        sampling: SamplingContext | None = None
    ) -> Tensor:
        """Mixes tokens.

        Args:
            x: tokens [N, dim], or [B, N, dim].
            relative: the encoding of the kind that the module was built for; its tensors have a row per token.
            ptr: items of packed tokens, int64 [B + 1] or a sequence of B + 1 integers (whose sizes torch.compile knows).
            mask: bool [B, N] for dense tokens, True where a token is.
            sampling: the random numbers of the pass.

        Returns:
            A tensor of the shape of x, zeros where the mask is False.
        """
        x, relative, layout, unpacked = self._packed(x, relative, ptr, mask)
        pairs = self.sampler(x, layout, sampling=context_of(self, sampling))
        projected = self._project(x, pairs)
        if self._recorded is not None:
            with torch.no_grad():
                self._recorded.append(RecordedAttention(self._probabilities(projected, relative, pairs, layout), pairs))
        return unpacked.restore(self.output(self._mix(projected, relative, pairs, layout).reshape(x.shape)))

    def _packed(self, x: Tensor, relative, ptr, mask: Tensor | None):
        """The packed tokens, the encoding of packed tokens, the layout, and the way back."""
        self._check(relative)
        if isinstance(x, Tensor) and x.dim() in (2, 3):
            check_encoding(relative, x, self.relative_channels)
        (x, *encoded), layout, unpacked = pack([x, *tensors_of(relative)], self.dim, ptr, mask, "x", self.query.weight, names_of(relative))
        if isinstance(relative, GraphEncoding):
            if unpacked.shape is not None:
                raise ValueError("x must be packed [N, dim] with relative='graph', whose edges are between packed rows")
            relative = relative._replace(edge_attr=cast_like(relative.edge_attr, x))  # coordinates are widened where they are used
        elif relative is not None:
            relative = type(relative)(*encoded)
            if not isinstance(ptr, PackedLayout):  # of a layer, which has looked
                check_points(relative, layout)
        return x, relative, layout, unpacked

    def _project(self, x: Tensor, pairs: Pairs) -> tuple[Tensor, ...]:
        """q [N, h, c] of all tokens; k, v [K, h, c] and leak [K, h] of the sampled ones."""
        sampled = pairs.sample(x)
        q = self._heads(nn.functional.dropout(self.query(x), self.score_dropout, self.training), x)
        k = self._heads(nn.functional.dropout(self.key(sampled), self.score_dropout, self.training), x)
        return q, k, self._heads(self.value(sampled), x), self.leak(sampled).to(x.dtype)

    def _check(self, relative) -> None:
        if not isinstance(relative, KINDS[self.relative]):
            wanted = KINDS[self.relative].__name__ if self.relative != "none" else "None"
            raise TypeError(f"relative must be {'' if wanted == 'None' else 'a '}{wanted} for relative={self.relative!r}, got {type(relative).__name__}{by_name(relative)}")
        if self.relative == "points" and (relative.normals is not None) != (self.relative_channels > 1):
            raise ValueError(f"normals must be given: the attention was built with relative_channels={self.relative_channels}" if relative.normals is None else
                             "normals must be None: the attention was built with relative_channels=1")

    def _heads(self, rows: Tensor, x: Tensor) -> Tensor:
        """[N, num_heads, c], of the type of the tokens, which autocast does not change."""
        return rows.to(x.dtype).view(-1, self.num_heads, self.dim // self.num_heads)

    @property
    def _weights(self) -> tuple[Tensor, ...]:
        return () if self.relative == "none" else (self.w_mul, self.b_mul, self.w_add, self.b_add)

    def _probabilities(self, projected: tuple[Tensor, ...], relative, pairs: Pairs, layout: PackedLayout) -> Tensor:
        q, k, _, leak = projected
        keys = padded_keys(pairs, layout)
        bias = attention_bias(relative, pairs, keys, self._weights)
        return attention_probabilities(self.score, self.probability, q, k, leak, bias, keys, self.eps)

    def _mix(self, projected: tuple[Tensor, ...], relative, pairs: Pairs, layout: PackedLayout) -> Tensor:
        if (self.score, self.probability) != ("maxout", "leaky_relu"):
            probabilities = self._probabilities(projected, relative, pairs, layout)
            return composed_attention(probabilities, projected[2], padded_keys(pairs, layout))
        items = (layout.ptr, pairs.ptr, self.eps)
        if self.relative == "none":
            return _ops.maxout_attention(*projected, None, None, *items)
        if self.relative == "graph":
            if relative.coordinates is not None:
                keys = padded_keys(pairs, layout)
                seen = keys.mask[keys.item]
                bias = attention_bias(relative, pairs, keys, self._weights)
                return _ops.maxout_attention(*projected, bias.mul[seen], bias.add[seen], *items)
            return _ops.graph_attention(*projected, *relative[:3], pairs.top, pairs.partner, pairs.weight, *self._weights, *items)
        sampled = [None if one is None else pairs.sample(one) for one in relative]
        if self.relative == "sequence":
            return _ops.sequence_attention(*projected, *relative, *sampled, *self._weights, *items)
        points, normals = relative
        return _ops.point_attention(*projected, points, sampled[0], normals, sampled[1], *self._weights, *items)


class SelfAttention(nn.Module):
    """Linear maps before and after an attention over all tokens."""

    def __init__(self, dim: int, num_heads: int, device, dtype):
        super().__init__()
        _check_heads(dim, num_heads)
        self.dim, self.num_heads = dim, num_heads
        made = factory_kwargs(device, dtype)
        for name in ("query", "key", "value", "output"):
            setattr(self, name, nn.Linear(dim, dim, **made))

    def extra_repr(self) -> str:
        """What print shows."""
        return f"{self.dim}, num_heads={self.num_heads}"

    def forward(
        self, x: Tensor, relative=None, ptr: Tensor | Sequence[int] | PackedLayout | None = None, *,
        mask: Tensor | None = None, sampling: SamplingContext | None = None
    ) -> Tensor:
        """x [N, dim] packed by ptr, or [B, N, dim] with a mask: the same shape. `relative` is what a sparse attention
        finds its keys with, and not used otherwise; `sampling` is what other attentions take."""
        check_sampling(sampling)
        (x, *encoded), layout, unpacked = pack([x, *tensors_of(relative)], self.dim, ptr, mask, "x", self.query.weight, names_of(relative))
        if relative is not None and not isinstance(relative, GraphEncoding):
            relative = type(relative)(*encoded)
        return unpacked.restore(self.output(self._mix(x, layout, relative).reshape(x.shape)))

    def _heads(self, x: Tensor) -> tuple[Tensor, ...]:
        """q, k and v [N, h, c]."""
        return tuple(map_(x).view(x.shape[0], self.num_heads, self.dim // self.num_heads) for map_ in (self.query, self.key, self.value))


class PolynomialAttention(SelfAttention):
    r"""Softmax attention over all tokens in almost linear time: the exponential is a polynomial ("Multi-Layer
    Transformers Gradient Can be Approximated in Almost Linear Time"). See :func:`geosft.polynomial_attention`.

    Args:
        dim, num_heads: num_heads divides dim.
        degree: of the polynomial, if `tolerance` is 0.
        causal: tokens attend to earlier tokens and themselves.
        center: keys minus their mean, which lowers the error; without `causal` only.
        tolerance: if positive, each call takes the smallest even degree whose error bound, rounding included, is within
            it (models/ops/polynomial_degree.h). The degree then depends on the values of the tokens, so such a module is
            neither compiled in one graph nor exported.
        max_monomials: with a tolerance, the maximum number of monomials per head.
        or_exact: with a tolerance that needs more monomials, or more precision: softmax attention, of quadratic time,
            instead of an error.
        score_scale: what scores of heads of c channels are multiplied by: 1 / sqrt(c) ("inverse_sqrt"), or 1 / c as in the
            paper ("inverse").
        device, dtype: of the parameters.

    forward takes and returns x [N, dim] packed by ptr, or [B, N, dim] with a mask. Raises a ValueError, or a RuntimeError
    of the operator, that names the argument.
    """

    def __init__(
        self, dim: int, num_heads: int = 4, degree: int = 4, *, causal: bool = False, center: bool = True,
        tolerance: float = 0.0, max_monomials: int = 5000, or_exact: bool = False, score_scale: str = "inverse_sqrt", device=None,
        dtype=None
    ):
        super().__init__(dim, num_heads, device, dtype)
        check_integers(degree=degree)
        check_numbers(tolerance=tolerance)
        if degree < 0:
            raise ValueError(f"degree must be at least 0, got {degree}")
        if not 0 <= tolerance < math.inf:
            raise ValueError(f"tolerance must be at least 0 and finite, got {tolerance}")
        check_sizes(max_monomials=max_monomials)
        check_flags(causal=causal, center=center, or_exact=or_exact)
        self.degree, self.causal, self.center = degree, causal, center and not causal
        self.tolerance, self.max_monomials, self.or_exact = tolerance, max_monomials, or_exact
        if score_scale not in ("inverse_sqrt", "inverse"):
            raise ValueError(f"score_scale must be one of inverse_sqrt, inverse, not {score_scale!r}")
        self.scale = (dim // num_heads) ** (-1.0 if score_scale == "inverse" else -0.5)

    def _mix(self, x: Tensor, layout: PackedLayout, relative) -> Tensor:
        q, k, v = self._heads(x)
        ptr, degree = layout.ptr, self.degree
        if self.tolerance > 0:
            degree = _ops._polynomial_degree(q, k, self.scale, ptr, ptr, self.center, self.tolerance, self.max_monomials, self.or_exact)
        if degree < 0:
            return self._exact(q, k, v, layout)
        return _ops.polynomial_attention(q, k, v, degree, self.scale, self.causal, ptr, ptr, self.center)

    def _exact(self, q: Tensor, k: Tensor, v: Tensor, layout: PackedLayout) -> Tensor:
        """Softmax attention within each item."""
        sizes = layout.sizes()
        mixed = [
            nn.functional.scaled_dot_product_attention(*(rows.transpose(0, 1).unsqueeze(0) for rows in item), is_causal=self.causal, scale=self.scale)
            .squeeze(0).transpose(0, 1)
            for item in zip(*(rows.split(sizes) for rows in (q, k, v))) if item[0].shape[0] > 0]
        return torch.cat(mixed) if mixed else torch.zeros_like(v)
