# SPDX-License-Identifier: Apache-2.0
"""Sinusoids of positions."""

from formulas.autograd import Decimal, sine_and_cosine


def sinusoid(n, d):
    """[n][d]: column 2j is sin(i / 10000^(j/d)), column 2j + 1 the cosine."""
    out = []
    for i in range(n):
        row = []
        for j in range((d + 1) // 2):
            row += sine_and_cosine(i / Decimal(10000) ** (Decimal(j) / d))
        out.append(row[:d])
    return out
