# SPDX-License-Identifier: Apache-2.0
"""The operators under torch.func, and under torch.utils.checkpoint in compiled code: transforms.py LIBRARY TORCH_VERSION

Takes the valid cases of opcheck.py. torch.func.vjp has the gradients of torch.autograd; vmap has the results of a loop;
forward-mode derivatives are refused by the name of the operator.
"""

import sys
import unittest
import warnings

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
    def test_gradients(self):
        for name, function, floating in all_cases():
            with self.subTest(name):
                found = torch.func.grad(total(function), tuple(range(len(floating))))(*floating)
                torch.testing.assert_close(list(found), gradients(function, floating), rtol=0, atol=0)

    def test_jacobian_by_vjp(self):
        for operator in (opcheck.softmax_pool, opcheck.sample_pairs, opcheck.knn):
            for name, function, floating in cases(operator):
                with self.subTest(name):
                    last = lambda *floating: function(*floating)[-1]  # noqa: E731
                    wanted = torch.autograd.functional.jacobian(last, tuple(floating))
                    found = torch.func.jacrev(last, tuple(range(len(floating))))(*floating)
                    torch.testing.assert_close(found, wanted)

    def test_gradients_of_each_row(self):
        for name, function, floating in all_cases():
            with self.subTest(name):
                rows = [torch.stack([x, 0.9 * x]) for x in floating]
                found = torch.func.vmap(torch.func.grad(total(function), tuple(range(len(floating)))))(*rows)
                each = [gradients(function, [x[row] for x in rows]) for row in range(2)]
                torch.testing.assert_close(list(found), [torch.stack(pair) for pair in zip(*each)])

    def test_gradients_through_vmap(self):
        for name, function, floating in all_cases():
            with self.subTest(name):
                rows = [torch.stack([x, 0.9 * x]).requires_grad_() for x in floating]
                total(torch.func.vmap(function))(*rows).backward()
                each = [gradients(function, [x[row].detach() for x in rows]) for row in range(2)]
                found = [torch.zeros_like(x) if x.grad is None else x.grad for x in rows]
                torch.testing.assert_close(found, [torch.stack(pair) for pair in zip(*each)])

    def test_forward_mode_is_refused_by_name(self):
        composed = {"gather_pairs"}  # of LibTorch's operators, which have forward-mode derivatives
        for operator in opcheck.OPERATORS:
            for name, function, floating in cases(operator):
                with self.subTest(name):
                    forward = lambda: torch.func.jvp(function, tuple(floating), tuple(floating))  # noqa: B023, E731
                    if operator.__name__ in composed:
                        forward()
                        continue
                    with self.assertRaisesRegex(NotImplementedError, f"geosft::{operator.__name__} has no forward-mode"):
                        forward()

    def test_second_derivatives_are_refused_by_name(self):
        x, u = torch.randn(9, 3, dtype=torch.double), torch.randn(3, dtype=torch.double)
        with self.assertRaisesRegex(NotImplementedError, "geosft::softmax_pool has no forward-mode"):
            torch.func.hessian(lambda x: ops.softmax_pool(x, u).sum())(x)
        with self.assertRaisesRegex(RuntimeError, "double backward of softmax_pool"):
            torch.func.jacrev(torch.func.jacrev(lambda x: ops.softmax_pool(x, u).sum()))(x)


class Noise(unittest.TestCase):
    def setUp(self):
        self.score = torch.randn(14, generator=torch.Generator().manual_seed(1), dtype=torch.double)
        self.equal = self.score.expand(4, 14)

    def test_vmap_asks_for_a_choice(self):
        for call in (lambda x: noisy(x), lambda x: noisy(self.score) + x[0], torch.func.grad(lambda x: noisy(x)[:3].sum())):
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
            draws = []
            for _ in range(2):
                torch.manual_seed(5)
                draws.append(torch.func.vmap(noisy, randomness=randomness)(self.equal))
            torch.testing.assert_close(*draws, rtol=0, atol=0)

    def test_seeds_need_no_choice(self):
        seeds = torch.arange(4).unsqueeze(1)
        rows = torch.func.vmap(lambda x, seed: noisy(x, seeds=seed))(self.equal, seeds)
        wanted = torch.stack([noisy(self.score, seeds=seed) for seed in seeds])
        torch.testing.assert_close(rows, wanted, rtol=0, atol=0)

    def test_gradients_of_each_row(self):
        def weights(x):
            return noisy(x)[:3].sum()

        found = torch.func.vmap(torch.func.grad(weights), randomness="same")(self.equal)
        self.assertTrue(found.abs().sum() > 0)
        torch.testing.assert_close(found, found[:1].expand_as(found), rtol=0, atol=0)


class Compiled(unittest.TestCase):
    def test_noise_in_a_checkpoint(self):
        def part(score):
            top, partner, weight, _ = ops.sample_pairs(score, 3, noise=True, random_partner=True)
            return weight * score[top] + (1 - weight) * score[partner]

        score = torch.randn(14, generator=torch.Generator().manual_seed(1), dtype=torch.double, requires_grad=True)
        torch.manual_seed(2)
        wanted = part(score)
        (gradient,) = torch.autograd.grad(wanted.square().sum(), score)
        for backend in ("eager", "aot_eager"):
            with self.subTest(backend):
                torch._dynamo.reset()
                compiled = torch.compile(lambda x: checkpoint(part, x, use_reentrant=False), backend=backend, fullgraph=True)
                torch.manual_seed(2)
                found = compiled(score)
                torch.testing.assert_close(found, wanted)
                torch.testing.assert_close(torch.autograd.grad(found.square().sum(), score)[0], gradient)


if __name__ == "__main__":
    if torch.__version__.split("+")[0] != VERSION:
        print(f"skipped: PyTorch {torch.__version__} is not {VERSION}, which the library was built with")
        sys.exit(opcheck.SKIPPED)
    warnings.filterwarnings("ignore", "There is a performance drop")  # vmap calls row by row
    torch.ops.load_library(LIBRARY)
    unittest.main(argv=sys.argv[:1])
