# SPDX-License-Identifier: Apache-2.0
"""Checks that operators compute in the dtype of their arguments, also inside autocast."""

import torch

from cases import GPU, Case
from checking import filled_memory, require, require_same
from operators import MAKERS
from polynomial_checks import PolynomialCase
from primal_checks import families


def computations():
    """Names and functions without arguments, which return tensors; float32."""
    cases = [Case(encoding, [65, 7], [33, 40], 2, 16, 16) for encoding in Case.ENCODINGS]
    cases += [PolynomialCase([300, 5], [400, 9], (2, 3), 2, center=True), PolynomialCase([70, 3], [70, 3], (8, 20), 2, causal=True)]
    cases += [*families([70, 3], [9, 40]), *families([40, 9], [30, 70], (160, 8))]  # the last are wider than the kernels take
    cases += [make([65, 7]) for make in MAKERS]
    for case in cases:
        yield case.name, lambda case=case: case.results(GPU, torch.float32)


def check_autocast(small):
    for name, compute in computations():
        with filled_memory():  # and deterministic, which the wide ones are not by themselves
            expected = compute()
        for half in (torch.float16, torch.bfloat16):
            with filled_memory(), torch.autocast(GPU, half):
                actual = compute()
            what = f"{name}, inside autocast in {half}"
            require([x.dtype for x in actual] == [x.dtype for x in expected], f"{what}: another type")
            require_same(actual, expected, what)
    return "the bits of float32"
