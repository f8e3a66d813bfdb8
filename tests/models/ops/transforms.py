# SPDX-License-Identifier: Apache-2.0
"""The operators under torch.func, and under torch.utils.checkpoint in compiled code: transforms.py LIBRARY TORCH_VERSION

Takes the valid cases of opcheck.py. vmap has the results and gradients of a loop, and obeys its randomness; the other
transforms are refused by the name of the operator.
"""

import sys
import unittest

import opcheck
from opcheck import torch
from torch.utils.checkpoint import checkpoint

LIBRARY, VERSION = sys.argv[1:]
RAGGED = opcheck.ragged(5, 0, 1, 8)
ops = torch.ops.geosft


def cases(operator):
    """(name, function of its floating arguments that returns the floating results, these arguments)."""
    op = getattr(ops, operator.__name__)
    for name, args, kwargs in operator(opcheck.Inputs(torch.float64, False)):
        places = [i for i, x in enumerate(args) if isinstance(x, torch.Tensor) and x.is_floating_point() and x.requires_grad]

        def function(*floating, args=args, kwargs=kwargs, places=places, op=op):
            given = list(args)
            for place, x in zip(places, floating):
                given[place] = x
            results = op(*given, **kwargs)
            return tuple(x for x in ([results] if isinstance(results, torch.Tensor) else results) if x.is_floating_point())

        floating = [args[place].detach() for place in places]
        if floating and function(*floating):
            yield f"{operator.__name__}, {name}", function, floating


def all_cases():
    return [case for operator in opcheck.OPERATORS for case in cases(operator)]


def gradients(function, floating):
    leaves = [x.clone().requires_grad_() for x in floating]
    results = [x for x in function(*leaves) if x.requires_grad]
    found = torch.autograd.grad([x.sum() for x in results], leaves, allow_unused=True) if results else [None] * len(leaves)
    return [torch.zeros_like(x) if one is None else one for x, one in zip(leaves, found)]


def total(function):
    return lambda *floating: sum(x.sum() for x in function(*floating))


def noisy(score, **given):
    top, partner, weight, _ = ops.sample_pairs(score, 3, noise=True, random_partner=True, **given)
    return torch.cat([weight, top.to(weight.dtype), partner.to(weight.dtype)])


class Transforms(unittest.TestCase):
    def test_vmap(self):
        for name, function, floating in all_cases():
            with self.subTest(name):
                rows = [torch.stack([x, 0.9 * x]).requires_grad_() for x in floating]
                results = torch.func.vmap(function)(*rows)
                each = [function(*[x[row].detach() for x in rows]) for row in range(2)]
                torch.testing.assert_close(list(results), [torch.stack(pair) for pair in zip(*each)], rtol=0, atol=0)
                total(lambda *_: results)().backward()
                each = [gradients(function, [x[row].detach() for x in rows]) for row in range(2)]
                found = [torch.zeros_like(x) if x.grad is None else x.grad for x in rows]
                torch.testing.assert_close(found, [torch.stack(pair) for pair in zip(*each)])

    def test_others_are_refused_by_name(self):
        composed = {"gather_pairs"}  # of LibTorch's operators, which support all of them
        func = torch.func
        for operator in opcheck.OPERATORS:
            for name, function, floating in cases(operator):
                if not any(x.numel() for x in floating):
                    continue  # LibTorch's own transforms fail without a number
                scalar, rows = total(function), [torch.stack([x, x]) for x in floating]
                calls = {
                    "grad": lambda: func.grad(scalar)(*floating),  # noqa: B023
                    "vjp": lambda: func.vjp(function, *floating),  # noqa: B023
                    "jvp": lambda: func.jvp(function, tuple(floating), tuple(floating)),  # noqa: B023
                    "jacrev": lambda: func.jacrev(scalar)(*floating),  # noqa: B023
                    "hessian": lambda: func.hessian(scalar)(*floating),  # noqa: B023
                    "grad of each row": lambda: func.vmap(func.grad(scalar))(*rows),  # noqa: B023
                }
                for transform, call in calls.items():
                    with self.subTest(f"{transform} of {name}"):
                        if operator.__name__ in composed:
                            call()
                            continue
                        with self.assertRaisesRegex(NotImplementedError, f"geosft::{operator.__name__} is not supported"):
                            call()

    def test_forward_mode_is_refused_by_name(self):
        x, u = torch.randn(9, 3, dtype=torch.double), torch.randn(3, dtype=torch.double)
        with torch.autograd.forward_ad.dual_level():
            dual = torch.autograd.forward_ad.make_dual(x, x)
            with self.assertRaisesRegex(NotImplementedError, "geosft::softmax_pool is not supported .* forward mode"):
                ops.softmax_pool(dual, u)


class Noise(unittest.TestCase):
    def setUp(self):
        self.score = torch.randn(14, generator=torch.Generator().manual_seed(1), dtype=torch.double)
        self.equal = self.score.expand(4, 14)

    def test_vmap_asks_for_a_choice(self):
        for call in (lambda x: noisy(x), lambda x: noisy(self.score) + x[0]):
            with self.assertRaisesRegex(RuntimeError, "geosft::sample_pairs draws random numbers.*randomness"):
                torch.func.vmap(call)(self.equal)

    def test_different(self):
        for given in ({}, {"ptr": RAGGED}):
            rows = torch.func.vmap(lambda x: noisy(x, **given), randomness="different")(self.equal)
            self.assertEqual(len({tuple(row.tolist()) for row in rows}), 4)

    def test_same(self):
        for given in ({}, {"ptr": RAGGED}):
            rows = torch.func.vmap(lambda x: noisy(x, **given), randomness="same")(self.equal)
            torch.testing.assert_close(rows, rows[:1].expand_as(rows), rtol=0, atol=0)

    def test_the_generator_is_reproducible(self):
        for randomness in ("same", "different"):
            samples = []
            for _ in range(2):
                torch.manual_seed(5)
                samples.append(torch.func.vmap(noisy, randomness=randomness)(self.equal))
            torch.testing.assert_close(*samples, rtol=0, atol=0)

    def test_seeds_need_no_choice(self):
        seeds = torch.arange(4).unsqueeze(1)
        rows = torch.func.vmap(lambda x, seed: noisy(x, seeds=seed))(self.equal, seeds)
        expected = torch.stack([noisy(self.score, seeds=seed) for seed in seeds])
        torch.testing.assert_close(rows, expected, rtol=0, atol=0)

    def test_a_score_that_all_rows_share(self):
        for randomness, count in (("different", 4), ("same", 1)):
            rows = torch.func.vmap(lambda x: noisy(self.score) + 0 * x[0], randomness=randomness)(self.equal)
            self.assertEqual(len({tuple(row.tolist()) for row in rows}), count)


class Compiled(unittest.TestCase):
    def test_noise_in_a_checkpoint(self):
        def part(score):
            top, partner, weight, _ = ops.sample_pairs(score, 3, noise=True, random_partner=True)
            return weight * score[top] + (1 - weight) * score[partner]

        score = torch.randn(14, generator=torch.Generator().manual_seed(1), dtype=torch.double, requires_grad=True)
        torch.manual_seed(2)
        expected = part(score)
        (gradient,) = torch.autograd.grad(expected.square().sum(), score)
        # From 2.13 on the backend eager samples anew in a checkpoint, for torch.rand too.
        backends = ("eager", "aot_eager") if tuple(map(int, VERSION.split(".")[:2])) < (2, 13) else ("aot_eager",)
        for backend in backends:
            with self.subTest(backend):
                torch._dynamo.reset()
                compiled = torch.compile(lambda x: checkpoint(part, x, use_reentrant=False), backend=backend, fullgraph=True)
                torch.manual_seed(2)
                found = compiled(score)
                torch.testing.assert_close(found, expected)
                torch.testing.assert_close(torch.autograd.grad(found.square().sum(), score)[0], gradient)


if __name__ == "__main__":
    if torch.__version__.split("+")[0] != VERSION:
        print(f"skipped: PyTorch {torch.__version__} is not {VERSION}, which the library was built with")
        sys.exit(opcheck.SKIPPED)
    torch._C._functorch._set_vmap_fallback_warning_enabled(False)  # vmap calls row by row, which is known
    torch.ops.load_library(LIBRARY)
    unittest.main(argv=sys.argv[:1])
