# SPDX-License-Identifier: Apache-2.0
"""A layer of the Sampling Foundational Transformer on points, composed of the operators as in models/layers."""

import torch

from cases import GPU, OPS


class SftLayer(torch.nn.Module):
    """Post-norm, no dropout. Without `attend` everything but the attention operator: what its memory is compared with."""

    def __init__(self, width, heads, num_samples, attend=True):
        super().__init__()
        self.heads, self.num_samples, self.attend = heads, num_samples, attend
        self.score = torch.nn.Linear(width, 1)
        self.query, self.key, self.value, self.output = (torch.nn.Linear(width, width) for _ in range(4))
        self.leak = torch.nn.Linear(width, heads)
        self.norm1, self.norm2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.expand, self.contract = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)
        for name, shape in (("w_mul", (2, heads)), ("b_mul", (heads,)), ("w_add", (2, heads)), ("b_add", (heads,))):
            self.register_parameter(name, torch.nn.Parameter(0.3 * torch.randn(shape)))

    def split(self, x):
        return x.float().view(x.shape[0], self.heads, -1)

    def mix(self, x, points, normals, ptr, seeds):
        score = self.score(x).squeeze(-1).float()
        top, partner, weight, sample_ptr = OPS.sample_pairs(score, self.num_samples, ptr, True, True, 1.0, None, seeds)
        sampled = OPS.gather_pairs(x, top, partner, weight)
        q, k, v = self.split(self.query(x)), self.split(self.key(sampled)), self.split(self.value(sampled))
        leak = self.leak(sampled).float()
        if not self.attend:
            return (q + (k.mean() + v.mean() + leak.mean())).flatten(1)
        xs, ms = (OPS.gather_pairs(rows, top, partner, weight) for rows in (points, normals))
        return OPS.point_attention(q, k, v, leak, points, xs, normals, ms, self.w_mul, self.b_mul, self.w_add, self.b_add, ptr,
                                   sample_ptr).flatten(1)

    def forward(self, x, points, normals, ptr, seeds):
        x = self.norm1(x + self.output(self.mix(x, points, normals, ptr, seeds)))
        return self.norm2(x + self.contract(torch.nn.functional.gelu(self.expand(x))))


def layer_inputs(batch, n, width):
    """Tokens, points, normals, offsets (on the CPU: see geometry/device_offsets.h) and seeds."""
    x = torch.randn(batch * n, width, device=GPU).requires_grad_()
    points, normals = (torch.randn(batch * n, 3, device=GPU) for _ in range(2))
    return [x, points, normals, torch.arange(batch + 1) * n, torch.arange(batch, device=GPU)]
