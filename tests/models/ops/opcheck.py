# SPDX-License-Identifier: Apache-2.0
"""torch.library.opcheck over every public operator of libgeosft_ops.so, or those named: python3 opcheck.py LIBRARY TORCH_VERSION [OPERATOR…]

Checks schemas, autograd registration, fake tensors and tracing with dynamic shapes. Ends with 77 (skipped) where there is
no PyTorch, or another one than the library was built with; one that cannot be imported is a failure.
"""

import importlib.util
import sys

SKIPPED = 77


def import_torch():
    if importlib.util.find_spec("torch") is None:
        print(f"skipped: {sys.executable} has no torch")
        sys.exit(SKIPPED)
    import torch
    from torch.testing._internal.optests import aot_autograd_check  # needs sympy and others
    return torch, aot_autograd_check


torch, aot_autograd_check = import_torch()


def ragged(*sizes):
    """ptr of items of these sizes."""
    return torch.tensor([0, *torch.tensor(sizes, dtype=torch.int64).cumsum(0).tolist()])


class Inputs:
    """Random inputs of one dtype; `strided` ones are not contiguous."""

    def __init__(self, dtype, strided):
        self.dtype, self.strided = dtype, strided
        self.generator = torch.Generator().manual_seed(1)

    def __call__(self, *shape, gradient=True):
        if self.strided:
            x = torch.randn(*shape[:-1], 2 * shape[-1], generator=self.generator, dtype=self.dtype)[..., ::2]
        else:
            x = torch.randn(*shape, generator=self.generator, dtype=self.dtype)
        return x.detach().requires_grad_(gradient)


def packings():
    """Names, items of the queries and items of the keys."""
    return {"one item": ((7,), (5,)), "ragged": ((4, 0, 6, 1), (3, 2, 0, 2)), "no items": ((), ())}


def attention_inputs(make, queries, keys, heads=2, channels=3, value_channels=4):
    nq, nk = sum(queries), sum(keys)
    return [make(nq, heads, channels), make(nk, heads, channels), make(nk, heads, value_channels), make(nk, heads)]


def pointers(queries, keys):
    if len(queries) == 1:
        return {}
    return {"q_ptr": ragged(*queries), "k_ptr": ragged(*keys)}


def maxout_attention(make):
    for name, (queries, keys) in packings().items():
        qkv = attention_inputs(make, queries, keys)
        pairs = sum(a * b for a, b in zip(queries, keys))
        yield name, qkv, pointers(queries, keys)
        yield f"{name}, relative", [*qkv, make(pairs, 2), make(pairs, 2)], pointers(queries, keys)


def polynomial_attention(make):
    for name, (queries, keys) in packings().items():
        qkv = attention_inputs(make, queries, keys)[:3]
        yield name, [*qkv, 2, 0.5], pointers(queries, keys)
        yield f"{name}, centred", [*qkv, 2, -0.5], {**pointers(queries, keys), "center": True}
        own = attention_inputs(make, queries, queries)[:3]
        yield f"{name}, causal", [*own, 2, 0.5], {**pointers(queries, queries), "causal": True}
    yield "through monomials", [*attention_inputs(make, (150,), (150,))[:3], 2, 0.5], {}


def primal_attention(make):
    for name, (queries, keys) in packings().items():
        qkv = attention_inputs(make, queries, keys)[:3]
        yield name, qkv, pointers(queries, keys)
        recentred = {"beta": make(2), "pool": [1, 2]}
        yield f"{name}, recentred and pooled", qkv, {**recentred, **pointers(queries, keys)}
        yield f"{name}, linear", qkv, {"kernel": "linear", "eps": 1e-3, **recentred, **pointers(queries, keys)}
        first = [sum(keys[:b]) for b, count in enumerate(queries) for _ in range(count)]
        seen = [1 if keys[b] else 0 for b, count in enumerate(queries) for _ in range(count)]
        col = torch.tensor([j for j, one in zip(first, seen) if one], dtype=torch.int64)
        mask = {"mask_rowptr": ragged(*seen), "mask_col": col, "scale": 0.3}
        yield f"{name}, masked", qkv, {**mask, **pointers(queries, keys)}
    yield "by LibTorch's operator", attention_inputs(make, (300,), (400,))[:3], {"beta": make(2)}


def relative_weights(make, channels, heads=2):
    return [make(channels, heads), make(heads), make(channels, heads), make(heads)]


def point_attention(make):
    for name, (queries, keys) in packings().items():
        qkv = attention_inputs(make, queries, keys)
        x, xs = make(sum(queries), 3), make(sum(keys), 3)
        yield name, [*qkv, x, xs, None, None, *relative_weights(make, 1)], pointers(queries, keys)
        m, ms = make(sum(queries), 3), make(sum(keys), 3)
        for kind, channels in (("normals", 2), ("angles", 4), ("chirality", 5)):
            yield f"{name}, {kind}", [*qkv, x, xs, m, ms, *relative_weights(make, channels)], pointers(queries, keys)


def sequence_attention(make):
    for name, (queries, keys) in packings().items():
        qkv = attention_inputs(make, queries, keys)
        s, ss = make(sum(queries), 5), make(sum(keys), 5)
        yield name, [*qkv, s, ss, *relative_weights(make, 5)], pointers(queries, keys)


def graph_attention(make):
    # The keys of an item stand for its nodes, so an item without nodes has none.
    for name, (queries, keys) in {**packings(), "ragged": ((4, 0, 6, 1), (3, 0, 0, 2))}.items():
        qkv = attention_inputs(make, queries, keys)
        rowptr, col, first = [0], [], 0
        for nodes in queries:  # a ring with self-loops in every item
            for node in range(nodes):
                col += [first + node, first + (node + 1) % nodes]
                rowptr.append(len(col))
            first += nodes
        starts = [sum(queries[:b]) for b in range(len(queries))]
        tops = [starts[b] + j % queries[b] for b, samples in enumerate(keys) for j in range(samples)]
        top = torch.tensor(tops, dtype=torch.int64)
        weight = torch.rand(sum(keys), generator=make.generator, dtype=make.dtype).requires_grad_()
        edges = [torch.tensor(rowptr), torch.tensor(col, dtype=torch.int64), make(len(col), 2), top, top.clone(), weight]
        yield name, [*qkv, *edges, *relative_weights(make, 2)], pointers(queries, keys)


def sample_pairs(make):
    yield "one item", [make(9), 3], {}
    yield "more samples than pairs", [make(5), 100], {}
    yield "one token", [make(1), 2], {}
    yield "ragged", [make(14), 4], {"ptr": ragged(5, 0, 1, 8)}
    seeded = {"ptr": ragged(5, 0, 1, 8), "seeds": torch.tensor([1, 2, 3, 4]), "noise": True, "random_partner": True}
    yield "seeded", [make(14), 4], {**seeded, "tau": 0.5}
    yield "no items", [make(0), 4], {"ptr": ragged()}
    none = torch.empty(0, dtype=torch.int64)
    yield "no items, seeded", [make(0), 4], {"ptr": ragged(), "seeds": none, "noise": True, "random_partner": True}


def gather_pairs(make):
    top, partner = torch.tensor([2, 0, 2, 3]), torch.tensor([1, 0, 4, 2])
    yield "rows", [make(5, 3), top, partner, make(4)], {}
    yield "matrices", [make(5, 3, 2), top, partner, make(4)], {}
    yield "numbers", [make(5), top, partner, make(4)], {}
    none = torch.empty(0, dtype=torch.int64)
    yield "no rows", [make(0, 3), none, none.clone(), make(0)], {}


def farthest_point_sampling(make):
    yield "one item", [make(9, 3), 4], {}
    yield "more than there are", [make(5, 3), 50], {}
    yield "ragged", [make(14, 3), 4], {"ptr": ragged(5, 0, 1, 8)}
    yield "no items", [make(0, 3), 4], {"ptr": ragged()}


def knn(make):
    yield "one item", [make(9, 3), make(4, 3), 3], {}
    yield "ragged, padded", [make(10, 3), make(6, 3), 4], {"ptr": ragged(6, 0, 4), "query_ptr": ragged(2, 1, 3)}
    yield "no items", [make(0, 3), make(0, 3), 4], {"ptr": ragged(), "query_ptr": ragged()}
    yield "without gradients", [make(9, 3, gradient=False), make(4, 3, gradient=False), 2], {}


def softmax_pool(make):
    yield "one item", [make(9, 3), make(3)], {}
    yield "ragged", [make(14, 3), make(3)], {"ptr": ragged(5, 0, 1, 8)}
    yield "no items", [make(0, 3), make(3)], {"ptr": ragged()}


def random_walk_pe(make):
    rowptr, col = torch.tensor([0, 2, 3, 5, 5]), torch.tensor([1, 2, 0, 0, 2])
    yield "directed", [rowptr, col, 5], {}
    yield "weighted", [rowptr, col, 4], {"weight": make(5, gradient=False).abs()}
    yield "no nodes", [torch.tensor([0]), torch.tensor([], dtype=torch.int64), 3], {}


OPERATORS = [
    maxout_attention,
    point_attention,
    sequence_attention,
    graph_attention,
    polynomial_attention,
    primal_attention,
    softmax_pool,
    random_walk_pe,
    sample_pairs,
    gather_pairs,
    farthest_point_sampling,
    knn,
]


def detached(values):
    return [x.detach() if isinstance(x, torch.Tensor) else x for x in values]


def check_case(op, args, kwargs):
    """Raises an exception with the reason unless opcheck passes."""
    outputs = op(*args, **kwargs)
    if isinstance(outputs, torch.Tensor) or outputs[0].is_floating_point():
        torch.library.opcheck(op, tuple(args), kwargs)
        return
    # opcheck adds up all outputs before it differentiates, in the dtype of the first one, and fails where that is an
    # integer. So: all of it without gradients, all but tracing with them, and tracing of the floating outputs alone.
    torch.library.opcheck(op, tuple(detached(args)), kwargs)
    untraced = ("test_schema", "test_autograd_registration", "test_faketensor")
    torch.library.opcheck(op, tuple(args), kwargs, test_utils=untraced)

    def floating(*args, **kwargs):
        return [x for x in op(*args, **kwargs) if x.is_floating_point()]

    aot_autograd_check(floating, tuple(args), kwargs, dynamic=True, check_gradients="auto")


def check(operator):
    """The failures, one line each."""
    op = getattr(torch.ops.geosft, operator.__name__).default
    failures, count = [], 0
    for dtype in (torch.float32, torch.float64):
        for strided in (False, True):
            for name, args, kwargs in operator(Inputs(dtype, strided)):
                count += 1
                try:
                    check_case(op, args, kwargs)
                except Exception as error:  # whatever it is, the other cases are still to be checked
                    case = f"{operator.__name__}, {name}, {dtype}{', strided' if strided else ''}"
                    failures.append(f"{case}: {str(error).strip()}")
    print(f"{operator.__name__}: {count - len(failures)} of {count} cases passed", flush=True)
    return failures


def uncovered():
    """Public operators of the library that no case above covers."""
    names = {name.split("::")[1].split(".")[0] for name in torch._C._dispatch_get_all_op_names() if "geosft::" in name}
    return {name for name in names if not name.startswith("_")} - {operator.__name__ for operator in OPERATORS}


def main():
    library, version, *names = sys.argv[1:]
    if torch.__version__.split("+")[0] != version:
        print(f"skipped: PyTorch {torch.__version__} is not {version}, which the library was built with")
        return SKIPPED
    torch.ops.load_library(library)
    failures = [line for operator in OPERATORS if not names or operator.__name__ in names for line in check(operator)]
    known = {operator.__name__ for operator in OPERATORS}
    failures += [f"{name}: no case in {__file__}" for name in sorted((set(names) or uncovered()) - known)]
    for line in failures:
        print(f"FAILED {line}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
