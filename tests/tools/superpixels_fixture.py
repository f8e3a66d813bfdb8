#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/fixtures/superpixels_tensors.pickle: two graphs as PyTorch (2.11) pickles them, whose tensors are parts
of a larger one, transposed, and of several types. Usage: superpixels_fixture.py FILE"""
import pickle
import sys

import torch

table = torch.arange(20, dtype=torch.float32).reshape(5, 4)
path = (
    table[:3, 1:3],
    torch.arange(4, dtype=torch.float64).unsqueeze(1) / 4,
    torch.tensor([[1, 2], [0, 1], [2, 1], [1, 0]]).t(),
    torch.tensor([4, 9, 4]),
)
pair = (
    table[3:, 1:3],
    torch.tensor([[True], [False]]),
    torch.tensor([[1, 0], [0, 1]], dtype=torch.int32),
    torch.tensor([9, 4]).to(torch.uint16),
)

with open(sys.argv[1], "wb") as file:
    pickle.dump([path, pair], file)
