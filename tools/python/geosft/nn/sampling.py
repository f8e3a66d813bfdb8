# SPDX-License-Identifier: Apache-2.0
"""The sampler: importance scores, and a differentiable sample without replacement (SFT section 4.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from .._tensors import check_flags, check_integers, check_numbers, not_a_tensor
from .checks import cast_like, check_sizes, factory_kwargs, not_finite
from .packed import PackedLayout, Unpacked, check_equal, pack, samples_of

_ops = torch.ops.geosft
_WORD = 2**32 - 1


def _philox(seed: int, row: int, stream: int) -> int:
    """The first 64 bits of Philox 4x32-10 (Salmon et al., SC 2011) for a key and a counter."""
    word = [row & _WORD, row >> 32, stream & _WORD, stream >> 32]
    key0, key1 = seed & _WORD, seed >> 32
    for _ in range(10):
        product0, product1 = 0xD2511F53 * word[0], 0xCD9E8D57 * word[2]
        word = [(product1 >> 32) ^ word[1] ^ key0, product1 & _WORD, (product0 >> 32) ^ word[3] ^ key1, product0 & _WORD]
        key0, key1 = (key0 + 0x9E3779B9) & _WORD, (key1 + 0xBB67AE85) & _WORD
    return word[0] << 32 | word[1]


def _philox_of_rows(seed: int, rows: int) -> Tensor:
    """int64 [rows, 4]: the words of the Philox block of (seed; row, 0)."""
    word = [torch.arange(rows), torch.zeros(rows, dtype=torch.int64)] + [torch.zeros(rows, dtype=torch.int64)] * 2
    key0, key1 = seed & _WORD, seed >> 32
    for _ in range(10):
        # Products wrap around in int64, which leaves their bits as they are.
        product0, product1 = 0xD2511F53 * word[0], 0xCD9E8D57 * word[2]
        high0, high1 = product0 >> 32 & _WORD, product1 >> 32 & _WORD
        word = [high1 ^ word[1] ^ key0, product1 & _WORD, high0 ^ word[3] ^ key1, product0 & _WORD]
        key0, key1 = (key0 + 0x9E3779B9) & _WORD, (key1 + 0xBB67AE85) & _WORD
    return torch.stack(word, 1)


def gumbel_noise(seed: int, tokens: int) -> Tensor:
    """float64 [tokens]: the noise that an item's sampler adds to the scores of its rows (geometry/philox.h)."""
    word = _philox_of_rows(seed, tokens)
    uniform = ((word[:, 0] << 20 | word[:, 1] >> 12).double() + 0.5) * 2.0**-52
    return -(-uniform.log()).log()


def partner_ranks(seed: int, tokens: int) -> Tensor:
    """int64 [tokens]: the rank of each row of an item among the random keys by which partners are sampled."""
    word = _philox_of_rows(seed, tokens)
    by_low = word[:, 3].sort(stable=True).indices
    order = by_low[word[by_low, 2].sort(stable=True).indices]
    return torch.empty_like(order).scatter(0, order, torch.arange(tokens))


def log_softplus(x: Tensor) -> Tensor:
    """log(softplus(x)), for every finite x."""
    middle = torch.where(x > 30, x, x.clamp(max=30).exp().log1p()).clamp(min=1e-30).log()
    return torch.where(x < -30, x - 0.5 * x.clamp(max=0).exp(), middle)


def random_integers(end: int, shape: tuple[int, ...], generator: torch.Generator | None) -> Tensor:
    """int64 of `shape` on the CPU, uniform over 0 … end - 1. Without a generator the shape may be one that a trace does not know."""
    if generator is None:
        return torch.randint(end, shape, device="cpu")
    return torch.randint(end, shape, generator=generator, device="cpu")


class SamplingContext:
    """The random numbers of one forward pass. A module makes its own where none is given: :meth:`random` in training
    mode, :meth:`seeded` in evaluation mode. Give a new one to each pass: it counts the samplers that have asked it, each of
    which gets other random numbers. Layers that a pass calls one after the other share it, so that their samples differ::

        sampling = SamplingContext.seeded(vote)
        x = second(first(x, sampling=sampling), sampling=sampling)

    Args:
        mode: "random", "seeded" or "greedy".
        generator: of "random", on the CPU; None: the default one.
        vote: of "seeded": which of many passes, at least 0.

    Raises a ValueError that names the argument.
    """

    def __init__(self, mode: str, generator: torch.Generator | None = None, vote: int = 0):
        if mode not in ("random", "seeded", "greedy"):
            raise ValueError(f"mode must be random, seeded or greedy, not {mode!r}")
        if generator is not None and not isinstance(generator, torch.Generator):
            raise TypeError(f"generator must be a torch.Generator or None, got {type(generator).__name__}")
        check_integers(vote=vote)
        if vote < 0:
            raise ValueError(f"vote must not be negative, got {vote}")
        self.mode, self.generator, self.vote = mode, generator, vote
        self._samplings = 0  # samplers that have asked
        self._chosen = True  # by the caller of a module; False: by the module itself

    @staticmethod
    def random(generator: torch.Generator | None = None) -> SamplingContext:
        """Noise and partners from a CPU generator (None: the default one): training."""
        return SamplingContext("random", generator)

    @staticmethod
    def seeded(vote: int = 0) -> SamplingContext:
        """Noise and partners from seeds that depend on `vote` (an integer of at least 0) and on the place of the sampler in
        the pass alone. The same vote gives the same samples, whatever else is in the batch; vote 0 is what modules take in evaluation mode.
        Another vote samples other tokens: average the outputs of several votes, such as logits, for a better prediction::

            votes = [model(points, normals, sampling=SamplingContext.seeded(vote)) for vote in range(10)]
            logits = torch.stack(votes).mean(0)
        """
        return SamplingContext("seeded", vote=vote)

    @staticmethod
    def greedy() -> SamplingContext:
        """The tokens with the largest scores, partners of the next ranks: no random numbers."""
        return SamplingContext("greedy")

    @staticmethod
    def seed_of(vote: int, call: int) -> int:
        """The seed of every item for a call of a sampler in a seeded pass: `call` 0 is the first sampler that the pass of
        this `vote` asks."""
        return _philox(vote, call, 0) >> 1

    def next_seeds(self, items: int, device: torch.device) -> Tensor:
        """Seeds int64 [items] on `device`. In seeded mode all items share one seed, so a sample does not depend on the batch."""
        if self.mode == "random":
            return random_integers(2**63 - 1, (items,), self.generator).to(device)
        seed = self.seed_of(self.vote, self._samplings)
        self._samplings += 1
        return torch.full((items,), seed, dtype=torch.int64, device=device)


def check_sampling(sampling: SamplingContext | None) -> None:
    """Refuses what are no random numbers of a pass."""
    if sampling is not None and not isinstance(sampling, SamplingContext):
        raise TypeError(f"sampling must be a geosft.nn.SamplingContext or None, got {type(sampling).__name__}")


def context_of(module: nn.Module, sampling: SamplingContext | None) -> SamplingContext:
    """`sampling`, or the context of the module's mode."""
    check_sampling(sampling)
    if sampling is not None:
        return sampling
    made = SamplingContext.random() if module.training else SamplingContext.seeded()
    made._chosen = False
    return made


class _DenseBatch(NamedTuple):
    """What pairs know of the dense batch that they were sampled from."""

    tokens: Unpacked  # B items of N tokens, and their mask
    samples: int  # k, of an item of N tokens


class Pairs(NamedTuple):
    """Sampled pairs of a batch, packed or dense.

    Attributes:
        top, partner: int64 [K], rows of the packed tokens; of dense ones those of x[mask], or without a mask of x.flatten(0, 1).
        weight: [K], that of `top`, of the dtype of the scores.
        layout: the items of the samples.
        hard: :meth:`sample` takes the member with the larger weight.
        rows: the number of packed tokens that the pairs are of, which :meth:`sample` expects of other rows, too.
        dense: of dense tokens: their shape and mask.
    """

    top: Tensor
    partner: Tensor
    weight: Tensor
    layout: PackedLayout
    hard: bool
    rows: int
    dense: _DenseBatch | None = None

    @property
    def mask(self) -> Tensor | None:
        """bool [B, k]: True where :meth:`sample` of dense x has a sample; None for packed tokens, and for dense ones without a mask,
        which have k samples in every item."""
        if self.dense is None or self.dense.tokens.mask is None:
            return None
        return torch.arange(self.dense.samples, device=self.ptr.device) < self.ptr.diff().unsqueeze(1)

    @property
    def ptr(self) -> Tensor | None:
        """int64 [B + 1]: the samples of each item; None for a batch without ptr."""
        return self.layout.ptr

    def sample(self, x: Tensor) -> Tensor:
        """weight * x[top] + (1 - weight) * x[partner] for packed x [N, ...]: [K, ...]; for dense x [B, N, ...] of a dense batch:
        [B, k, ...], zeros where :attr:`mask` is False.

        With `hard` the value is that of the member with the larger weight, and the gradient that of the sum
        (equations 8 and 9). Raises a TypeError or ValueError that names x, unless it has a row for each token that the pairs are of.
        Rows of dense tokens may be packed, too, as x[mask] or, without a mask, x.flatten(0, 1): the result is [K, ...] then.
        """
        if not isinstance(x, Tensor):
            raise not_a_tensor("x", x)
        if self.dense is None or x.shape[:2] != self.dense.tokens.shape:
            return self._sampled(x)
        k, device = self.dense.samples, x.device
        index = None if self.dense.tokens.mask is None else self.layout.item_of_row(device) * k + self.layout.place_in_item(device)
        dense = Unpacked(torch.Size((x.shape[0], k)), self.mask, index)
        return dense.restore(self._sampled(self.dense.tokens.rows(x)))

    def _wrong_rows(self, x: Tensor) -> str:
        """What an error says of rows that are not those of the tokens."""
        wanted, packed = f"[{self.rows}, ...]", ""
        if self.dense is not None:
            packed = f" (packed rows must have shape {wanted})"
            wanted = f"[{self.dense.tokens.shape[0]}, {self.dense.tokens.shape[1]}, ...]"
        return f"x must have shape {wanted}, got {list(x.shape)}: the pairs are of other tokens{packed}"

    def _sampled(self, x: Tensor) -> Tensor:
        check_equal(x.shape[0] if x.dim() > 0 else -1, self.rows, lambda: self._wrong_rows(x),
                    "x must have shape [N, ...], a row for each of the tokens that the pairs are of")
        blend = _ops.gather_pairs(x, self.top, self.partner, cast_like(self.weight, x))
        if not self.hard:
            return blend
        winner = x.detach().index_select(0, torch.where(self.weight >= 0.5, self.top, self.partner))
        return winner + (blend - blend.detach())


class Sampler(nn.Module):
    r"""Samples tokens by learned importance scores x W_S + b_S, without replacement and differentiably.

    Draw once, then sample tokens and everything that belongs to them. Of packed tokens, the K samples of all items are packed,
    by ``pairs.ptr``::

        pairs = sampler(x, ptr)            # x [N, dim], ptr int64 [B + 1]; without ptr: one item
        tokens = pairs.sample(x)           # [K, dim]
        points = pairs.sample(points)      # [K, 3] of [N, 3]

    Of dense tokens, each item has k = min(num_samples, N // 2) samples, 1 if N is 1, and with replacement num_samples. With a mask an item of fewer tokens has fewer,
    and zeros follow them::

        pairs = sampler(x, mask=mask)      # x [B, N, dim], mask bool [B, N], True where a token is
        tokens = pairs.sample(x)           # [B, k, dim]
        points = pairs.sample(points)      # [B, k, 3] of [B, N, 3]
        there = pairs.mask                 # bool [B, k], True where a sample is; None without a mask

    Args:
        dim: channels of a token.
        num_samples: pairs per item; an item of n tokens gives min(num_samples, n // 2), 1 if n is 1; with replacement
            num_samples, 0 if n is 0.
        tau: temperature of the weights, above 0.
        weighting: "softplus", or "gumbel_softmax" (equations 5 and 6).
        hard: forward takes the member with the larger weight (equations 8 and 9).
        with_replacement: independent samples of all tokens (equations 10 and 11), always at random but for the greedy mode. The
            gradient of the scores is the derivative of the weights times 1 / num_samples, the estimator of the paper.
        noise: Gumbel noise on the scores, except in greedy mode. Samples with replacement always have it.
        device, dtype: of the parameters.

    Raises a ValueError that names the argument, and where tokens or scores are not finite, except in compiled graphs, where the operator
    raises a RuntimeError.
    """

    def __init__(
        self, dim: int, num_samples: int = 32, *, tau: float = 1.0, weighting: str = "softplus", hard: bool = False,
        with_replacement: bool = False, noise: bool = True, device=None, dtype=None
    ):
        super().__init__()
        check_sizes(dim=dim, num_samples=num_samples)
        if weighting not in ("softplus", "gumbel_softmax"):
            raise ValueError(f"weighting must be softplus or gumbel_softmax, not {weighting!r}")
        check_numbers(tau=tau)
        if not 0 < tau < float("inf"):
            raise ValueError(f"tau must be above 0, got {tau}")
        check_flags(hard=hard, with_replacement=with_replacement, noise=noise)
        if with_replacement and not noise:
            raise ValueError("noise must be True with with_replacement, whose independent samples come from it: SamplingContext.greedy() samples without noise")
        self.dim, self.num_samples, self.tau, self.weighting = dim, num_samples, tau, weighting
        self.hard, self.with_replacement, self.noise = hard, with_replacement, noise
        self.projection = nn.Linear(dim, 1, **factory_kwargs(device, dtype))

    def extra_repr(self) -> str:
        """What print shows."""
        return f"num_samples={self.num_samples}, tau={self.tau}, weighting={self.weighting!r}"

    def score(self, x: Tensor) -> Tensor:
        """Importance scores [N] of tokens x [N, dim]."""
        return self.projection(x).squeeze(-1).to(x.dtype)

    def forward(
        self, x: Tensor, ptr: Tensor | Sequence[int] | PackedLayout | None = None, *, mask: Tensor | None = None,
        sampling: SamplingContext | None = None
    ) -> Pairs:
        """x [N, dim], packed by ptr int64 [B + 1], or [B, N, dim] with a mask, bool [B, N]; and the random numbers `sampling` of
        the pass: the sampled pairs."""
        (x,), layout, tokens = pack([x], self.dim, ptr, mask, "x", self.projection.weight)
        pairs = self._drawn(x, layout, context_of(self, sampling))
        if tokens.shape is None:
            return pairs
        return pairs._replace(dense=_DenseBatch(tokens, samples_of(tokens.shape[1], self.num_samples, self.with_replacement)))

    def _drawn(self, x: Tensor, layout: PackedLayout, sampling: SamplingContext) -> Pairs:
        """The pairs for packed x; an error of its scores names the tokens, as in models/layers/sampler.cpp."""
        if torch.compiler.is_compiling():
            return self.draw(self.score(x), layout, sampling)
        try:
            return self.draw(self.score(x), layout, sampling)
        except RuntimeError as error:
            if not str(error).startswith("score must be finite"):
                raise
        bad = ~x.isfinite().all(1)
        if not bad.any():
            raise ValueError("scores x W_S + b_S of the tokens must be finite, found NaN or infinity although the tokens x are finite: the weights of "
                             "the sampler are too large, or not finite themselves")
        error = not_finite("x, the tokens,", bad, layout)
        raise ValueError(f"{error}. Tokens that a layer computed are not finite where its input or one of its parameters is not")

    def draw(self, score: Tensor, layout: PackedLayout, sampling: SamplingContext) -> Pairs:
        """The sampled pairs for `score` [N] of any floating type, of items of `layout`, by the random numbers `sampling`."""
        wide = score.float() if score.dtype in (torch.float16, torch.bfloat16) else score
        k, rows = self.num_samples, layout.num_samples(self.num_samples, self.with_replacement)
        if sampling.mode == "greedy":
            pairs = _ops._select_pairs(wide.detach(), k, layout.ptr, False, False, None, rows)
        else:
            seeds = sampling.next_seeds(layout.items, score.device)
            if self.with_replacement:
                pairs = _ops._select_pairs_with_replacement(wide.detach(), k, layout.ptr, seeds, rows)
            else:
                pairs = _paired_by_row(_ops._select_pairs(wide.detach(), k, layout.ptr, self.noise, True, seeds, rows))
        top, partner, noise, sample_ptr = pairs
        if self.with_replacement:  # the sampler's gradient times 1 / k
            wide = wide.detach() + (wide - wide.detach()) * (1.0 / k)
        if self.weighting == "softplus":
            weight = _ops._pair_weight(wide, top, partner, noise, self.tau)
        else:
            weight = _gumbel_softmax_weight(wide, top, partner, noise, self.tau)
        sampled = layout.samples(k, self.with_replacement, top.shape[0], sample_ptr)
        return Pairs(top, partner, weight.to(score.dtype), sampled, self.hard, layout.rows)


def _paired_by_row(pairs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """The same samples with `top` in the order of rows: rounding that swaps two scores then does not change pairs."""
    top, partner, noise, sample_ptr = pairs
    top, order = top.sort()
    return top, partner, torch.stack((noise[0].index_select(0, order), noise[1])), sample_ptr


def _gumbel_softmax_weight(score: Tensor, top: Tensor, partner: Tensor, noise: Tensor, tau: float) -> Tensor:
    difference = score.index_select(0, top) - score.index_select(0, partner)
    weight = ((difference + (noise[0] - noise[1])) / tau).sigmoid()
    return torch.where(top == partner, torch.ones_like(weight), weight)
