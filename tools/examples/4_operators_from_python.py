# SPDX-License-Identifier: Apache-2.0
"""The operators in Python: 4_operators_from_python.py LIBGEOSFT_OPS trains a sampler through torch.compile."""
import sys

import torch

torch.ops.load_library(sys.argv[1])
torch.manual_seed(0)
tokens = torch.randn(64, 8)
weight = torch.zeros(8, requires_grad=True)


def mean_of_sample(tokens, weight):
    top, partner, share, _ = torch.ops.geosft.sample_pairs(tokens @ weight, 8)
    share = share[:, None]
    return (share * tokens[top] + (1 - share) * tokens[partner]).mean(0)


for step in range(100):
    loss = mean_of_sample(tokens, weight)[0]  # a small first coordinate
    (gradient,) = torch.autograd.grad(loss, weight)
    with torch.no_grad():
        weight -= gradient
first, last = tokens[:, 0].mean().item(), mean_of_sample(tokens, weight)[0].item()
print(f"mean of the first coordinate: {first:.3f} of all tokens, {last:.3f} of the learned sample")
compiled = torch.compile(mean_of_sample, backend="aot_eager", fullgraph=True)
torch.manual_seed(1)
eager = mean_of_sample(tokens, weight)
torch.manual_seed(1)
torch.testing.assert_close(compiled(tokens, weight), eager)
sys.exit(0 if last < first - 0.5 else 1)
