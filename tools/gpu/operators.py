# SPDX-License-Identifier: Apache-2.0
"""Arguments of the operators other than attention for gpu/operator_checks.py."""

import torch

from cases import OPS, offsets


class OperatorCase:
    """Arguments on the CPU, the floating ones float64, and call(floating, pointers, others), which returns tensors.

    The first `leaves` of the floating arguments have gradients. An operator that `waits` reads a ptr on the GPU before
    it runs, for the size of its result; of one that is `rounded` the chosen rows depend on rounding.
    """

    def __init__(self, name, call, floating, pointers=(), others=(), leaves=0, waits=False, rounded=False):
        self.name, self.call, self.floating, self.pointers, self.others = name, call, floating, pointers, others
        self.leaves, self.waits, self.rounded = leaves, waits, rounded

    def arguments(self, device, dtype):
        """What call takes."""
        floating = [x.to(device, dtype).requires_grad_(i < self.leaves) for i, x in enumerate(self.floating)]
        return floating, [p.to(device) for p in self.pointers], [x.to(device) for x in self.others]

    def outcome(self, floating, pointers, others):
        """The results and the gradients."""
        results = self.call(floating, pointers, others)
        out = [x for x in results if x.requires_grad]
        grad_output = [torch.linspace(-1, 1, x.numel(), dtype=x.dtype, device=x.device).view(x.shape) for x in out]
        leaves = floating[:self.leaves]
        return [*(x.detach() for x in results), *(torch.autograd.grad(out, leaves, grad_output) if out else ())]

    def results(self, device, dtype):
        return self.outcome(*self.arguments(device, dtype))


class RandomNumbers:
    """Numbers of a case, from a seed."""

    def __init__(self, seed):
        self.generator = torch.Generator().manual_seed(seed)

    def normal(self, *shape):
        return torch.randn(*shape, generator=self.generator, dtype=torch.float64)

    def rows(self, below, count):
        return torch.randint(max(below, 1), (count if below else 0,), generator=self.generator)


def pairs_case(sizes, seed=1, noise=False):
    def call(floating, pointers, others):
        return OPS.sample_pairs(floating[0], 9, *pointers, noise, True, 1.0, None, *others)[:3]

    score, seeds = RandomNumbers(seed).normal(sum(sizes)), torch.arange(len(sizes)) + 11
    return OperatorCase("sample_pairs" + ", with noise" * noise, call, [score], [offsets(sizes)], [seeds], leaves=1, waits=True,
                        rounded=noise)


def noisy_pairs_case(sizes, seed=1):
    return pairs_case(sizes, seed, noise=True)


def replacement_case(sizes, seed=2):
    samples = 9 * sum(n > 0 for n in sizes)

    def call(floating, pointers, others):
        return OPS._select_pairs_with_replacement(floating[0], 9, *pointers, *others, samples)[:3]

    score, seeds = RandomNumbers(seed).normal(sum(sizes)), torch.arange(len(sizes)) + 11
    return OperatorCase("sample_pairs, with replacement", call, [score], [offsets(sizes)], [seeds], rounded=True)


def gather_case(sizes, seed=3):
    random, rows = RandomNumbers(seed), sum(sizes)
    top, partner = (random.rows(rows, rows // 2 + 1) for _ in range(2))
    return OperatorCase("gather_pairs", lambda floating, _, others: [OPS.gather_pairs(floating[0], *others, floating[1])],
                        [random.normal(rows, 3, 5), random.normal(len(top))], [], [top, partner], leaves=2)


def pool_case(sizes, seed=4):
    random = RandomNumbers(seed)
    return OperatorCase("softmax_pool", lambda floating, pointers, _: [OPS.softmax_pool(*floating, *pointers)],
                        [random.normal(sum(sizes), 7), random.normal(7)], [offsets(sizes)], leaves=2)


def farthest_case(sizes, seed=5):
    return OperatorCase("farthest_point_sampling", lambda floating, pointers, _: [OPS.farthest_point_sampling(*floating, 6, *pointers)],
                        [RandomNumbers(seed).normal(sum(sizes), 3)], [offsets(sizes)], waits=True)


def nearest_case(sizes, seed=6):
    """Every item asks for the neighbours of as many other points as it has; where it has fewer than 4, some are none."""
    random = RandomNumbers(seed)
    return OperatorCase("knn", lambda floating, pointers, _: OPS.knn(*floating, 4, *pointers),
                        [random.normal(sum(sizes), 3), random.normal(sum(sizes), 3)], [offsets(sizes)] * 2, leaves=2)


def walks_case(sizes, seed=7):
    """A graph of so many nodes in all; its offsets are those of edges."""
    random, nodes = RandomNumbers(seed), sum(sizes)
    source, col = random.rows(nodes, 3 * nodes).sort().values, random.rows(nodes, 3 * nodes)
    rowptr = torch.searchsorted(source, torch.arange(nodes + 1))
    return OperatorCase("random_walk_pe", lambda floating, _, others: [OPS.random_walk_pe(*others, 9, *floating)],
                        [random.normal(3 * nodes).abs()], [], [rowptr, col])


def dropout_case(sizes, seed=8):
    return OperatorCase("dropout", lambda floating, _, others: [OPS._seeded_dropout(*floating, 0.3, *others)],
                        [RandomNumbers(seed).normal(sum(sizes))], [], [torch.tensor([-7])])


MAKERS = (pairs_case, noisy_pairs_case, replacement_case, gather_case, pool_case, farthest_case, nearest_case, walks_case,
          dropout_case)
