# SPDX-License-Identifier: Apache-2.0
"""Arguments of the attention operators for gpu/checks.py."""

import torch

OPS = torch.ops.geosft
GPU = "cuda"


def offsets(sizes):
    """ptr of items of these sizes."""
    return torch.tensor([0, *torch.tensor(sizes, dtype=torch.int64).cumsum(0).tolist()])


class Case:
    """Arguments of an attention operator on the CPU, float64; `encoding` is one of ENCODINGS."""

    POINT_CHANNELS = {"points": 1, "normals": 2, "angles": 4, "chirality": 5}
    ENCODINGS = ("none", "dense", *POINT_CHANNELS, "graph", "sequence")

    def __init__(self, encoding, queries, keys, heads, c, cv, seed=1, depth=5):
        self.encoding, self.depth = encoding, depth
        self.name = f"{encoding}, {len(queries)} items, nq={sum(queries)} nk={sum(keys)} h={heads} c={c} cv={cv}"
        self.generator = torch.Generator().manual_seed(seed)
        nq, nk = sum(queries), sum(keys)
        self.floating = [self.normal(nq, heads, c), self.normal(nk, heads, c), self.normal(nk, heads, cv)]
        self.floating.append(self.normal(nk, heads))
        self.pointers = [offsets(queries), offsets(keys)]
        self.indices = []
        self.add_encoding(queries, keys, heads)

    def add_encoding(self, queries, keys, heads):
        nq, nk, channels = sum(queries), sum(keys), 0
        if self.encoding == "dense":
            pairs = sum(q * k for q, k in zip(queries, keys))
            self.floating += [self.normal(pairs, heads).abs() + 0.1, self.normal(pairs, heads)]
        if self.encoding in self.POINT_CHANNELS:
            channels = self.POINT_CHANNELS[self.encoding]
            for _ in range(1 if self.encoding == "points" else 2):
                self.floating += [self.normal(nq, 3), self.normal(nk, 3)]
        if self.encoding == "sequence":
            channels = self.depth
            self.floating += [self.normal(nq, channels), self.normal(nk, channels)]
        if self.encoding == "graph":
            channels = 3
            self.add_graph(queries, keys, channels)
        if channels:
            for _ in range(2):
                self.floating += [0.3 * self.normal(channels, heads), self.normal(heads)]

    def add_graph(self, queries, keys, channels, degree=4):
        """Random edges within the items; the keys of an item stand for two of its nodes each."""
        col, top, partner, begin = [], [], [], 0
        for q, k in zip(queries, keys):
            k = k if q else 0
            random_rows = lambda count: torch.randint(begin, begin + max(q, 1), (count,), generator=self.generator)
            col.append(random_rows(q * degree))
            top.append(random_rows(k))
            partner.append(random_rows(k))
            begin += q
        if any(k and not q for q, k in zip(queries, keys)):
            raise ValueError("keys of an item without nodes stand for nothing")
        col, top, partner = (torch.cat(parts) for parts in (col, top, partner))
        self.indices = [torch.arange(begin + 1) * degree, col, top, partner]
        self.floating += [self.normal(len(col), channels), torch.rand(len(top), generator=self.generator, dtype=torch.float64)]

    def normal(self, *shape):
        return torch.randn(*shape, generator=self.generator, dtype=torch.float64)

    def leaves(self, device, dtype):
        return [x.to(device, dtype).requires_grad_() for x in self.floating]

    def call(self, floating, pointers, indices):
        core, bias = floating[:4], floating[4:]
        if self.encoding in ("none", "dense"):
            return OPS.maxout_attention(*core, *(bias or (None, None)), *pointers)
        if self.encoding == "sequence":
            return OPS.sequence_attention(*core, *bias, *pointers)
        if self.encoding == "graph":
            rowptr, col, top, partner = indices
            return OPS.graph_attention(*core, rowptr, col, bias[0], top, partner, bias[1], *bias[2:], *pointers)
        rows = [*bias[:2], None, None] if self.encoding == "points" else bias[:4]
        return OPS.point_attention(*core, *rows, *bias[-4:], *pointers)

    def on(self, device):
        """Pointers and indices."""
        return [p.to(device) for p in self.pointers], [i.to(device) for i in self.indices]

    def results(self, device, dtype, leaves=None):
        """The result and the gradients of all floating arguments."""
        leaves = leaves or self.leaves(device, dtype)
        out = self.call(leaves, *self.on(device))
        grad_output = torch.randn(out.shape, generator=torch.Generator().manual_seed(7), dtype=torch.float64)
        return [out.detach(), *torch.autograd.grad(out, leaves, grad_output.to(device, dtype), allow_unused=True)]


def attention_cases():
    for encoding in Case.ENCODINGS:
        # Keys of an item without queries are no case of graphs, whose keys are nodes.
        ragged = ([129, 0, 70, 5], [33, 0 if encoding == "graph" else 4, 90, 0])
        yield Case(encoding, [1], [1], 1, 1, 1)
        yield Case(encoding, [0], [0], 2, 16, 16)
        yield Case(encoding, *ragged, 3, 5, 7)
        for c, cv in ((8, 8), (16, 13), (32, 20), (33, 64), (65, 128), (128, 1)):
            yield Case(encoding, *ragged, 2, c, cv)
    yield Case("sequence", [129, 5], [33, 70], 2, 16, 16, depth=70)
    for encoding in ("none", "normals", "angles"):
        for c in (8, 16, 32, 64):  # large enough for tiles of many rows a thread
            yield Case(encoding, [1024, 777, 1300, 1000], [270, 600, 1024, 300], 64, c, c)
    for encoding in ("none", "normals", "angles", "graph", "sequence"):
        yield Case(encoding, [70000], [40], 2, 16, 16)
        yield Case(encoding, [40], [70000], 2, 16, 16)
