# SPDX-License-Identifier: Apache-2.0
"""Modules and functions of the Python package with one argument broken at a time: bad_arguments.py [CASE…]

Each call, forward and of the constructor, must raise an error that names the argument, or give a result that is the same a
second time. Tensors get other shapes, types, devices, layouts and values, as the operators' do (tests/models/ops/bad_arguments.py),
and so do the fields of encodings and of graphs. Numbers and flags of constructors become texts, an unknown keyword names the class that
was called, and `sampling` is no other object. A batch without items, and one of an empty item, must give finite results of
no rows or one. Every public module has a case. Each case runs in a process of its own, so a crash is a failure as well.
"""

import importlib.util
import inspect
import os
import pathlib
import re
import resource
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "models" / "ops"))

import bad_arguments as operators_
import geosft
import torch
from geosft import export, nn

SECONDS_A_CALL, SECONDS_A_CASE, MOST_MEMORY = 300, 900, 12 * 2**30
PTR = torch.tensor([0, 4, 4, 9])
ROWPTR, COL = torch.arange(10) * 2, torch.tensor([1, 3, 0, 2, 1, 3, 2, 0, 5, 8, 4, 6, 5, 7, 6, 8, 7, 4])
COL_OF_TRIANGLES = torch.tensor([1, 2, 0, 2, 0, 1, 4, 5, 3, 5, 3, 4, 7, 8, 6, 8, 6, 7])
SMALL = dict(dim=8, num_heads=2, num_samples=3, depth=1)
TINY = dict(dim=8, num_heads=2, num_samples=3)
# What PyTorch says of tensors that none of its CPU kernels takes, and of sizes that no memory holds.
OF_PYTORCH = r"can't allocate memory|Storage size calculation overflowed|Could not run 'geosft::\w+'|Sparse|sparse|Quantized|quantized|numel: integer multiplication overflow|Overflow when unpacking|invalid shape dimension"


def uniform(*shape):
    return torch.rand(*shape, generator=torch.Generator().manual_seed(len(shape)))


def graphs():
    return nn.FeaturedGraphs(
        PTR, ROWPTR, COL, node_categories=torch.arange(9).view(9, 1) % 3, node_values=uniform(9, 2), edge_categories=torch.arange(18).view(18, 1) % 2,
        edge_values=uniform(18, 1), coordinates=uniform(9, 3), node_encoding=uniform(9, 4))


def seeded(function, **arguments):
    """A call whose random numbers are always the same."""
    torch.manual_seed(1)
    return function(**arguments)


def attention(relative, channels, encoding):
    return (nn.SamplingAttention, dict(dim=8, num_heads=2, num_samples=3, relative=relative, relative_channels=channels),
            dict(x=uniform(9, 8), relative=encoding, ptr=PTR))


def local_graph(kind):
    edges = uniform(18, 8) if kind == "gated_gcn" else None
    return nn.LocalGraph(nn.EdgeIndex.of(ROWPTR, COL, 9), kind, uniform(1), uniform(18, 2), edges)


def convolution(kind):
    return nn.MessagePassing, dict(dim=8, kind=kind, edge_channels=2), dict(x=uniform(9, 8), graph=local_graph(kind))


def convolved(kind, **options):
    return (nn.GraphModel, dict(out_features=3, **TINY, node_values=2, edge_vocabulary=[2], edge_values=1, relative=False, local=kind, **options),
            dict(graphs=nn.FeaturedGraphs(PTR, ROWPTR, COL, node_values=uniform(9, 2), edge_categories=torch.arange(18).view(18, 1) % 2,
                                          edge_values=uniform(18, 1))))


CLOUD = tempfile.NamedTemporaryFile("w", suffix=".xyz")  # noqa: SIM115 (there until the process ends)
CLOUD.write("0 0 0\n1 0 0\n0 1 0\n")
CLOUD.flush()
SERIES = tempfile.NamedTemporaryFile("w", suffix=".tsv")  # noqa: SIM115
SERIES.write("1\t0.5\t1.5\t2.5\n2\t1\t2\t3\n")
SERIES.flush()
EDGE_LIST = tempfile.NamedTemporaryFile("w", suffix=".txt")  # noqa: SIM115
EDGE_LIST.write("0 1\n1 2\n")
EDGE_LIST.flush()
SCHEMA = {"node_vocabulary": [], "edge_vocabulary": [], "node_values": 0, "edge_values": 0, "coordinates": False}


def watched_by(module):
    with nn.record_attention(module) as layers:
        return torch.tensor(len(layers))


# Of modules: class, arguments of the constructor, arguments of forward.
MODULES = {
    "Sampler": (nn.Sampler, dict(dim=8, num_samples=3, tau=1.0, weighting="softplus", hard=False), dict(x=uniform(9, 8), ptr=PTR)),
    "dense tokens": (nn.Sampler, dict(dim=8, num_samples=3), dict(x=uniform(2, 5, 8), mask=torch.arange(5) < torch.tensor([[5], [3]]))),
    "SamplingAttention": (nn.SamplingAttention, dict(dim=8, num_heads=2, num_samples=3, score="maxout", probability="leaky_relu", score_dropout=0.0),
                          dict(x=uniform(9, 8), ptr=PTR)),
    "dense": (nn.SamplingAttention, dict(dim=8, num_heads=2), dict(x=uniform(2, 5, 8), mask=torch.arange(5) < torch.tensor([[5], [3]]))),
    "points": attention("points", 2, nn.PointEncoding(uniform(9, 3), uniform(9, 3))),
    "graph": attention("graph", 2, nn.GraphEncoding(ROWPTR, COL, uniform(18, 2))),
    "distances": attention("graph", 5, nn.GraphEncoding(ROWPTR, COL, uniform(18, 2), uniform(9, 3), 3, 2.0)),
    "sequence": attention("sequence", 4, nn.SequenceEncoding(uniform(9, 4))),
    "TransformerLayer": (nn.TransformerLayer, dict(dim=8, num_heads=2, num_samples=3, norm_first=True, mlp_ratio=2, dropout=0.1, mlp_dropout=0.0),
                         dict(x=uniform(9, 8), ptr=PTR)),
    "Encoder": (nn.Encoder, SMALL, dict(x=uniform(9, 8), ptr=PTR)),
    "PolynomialAttention": (nn.PolynomialAttention, dict(dim=8, num_heads=2, degree=2, causal=False, center=False), dict(x=uniform(9, 8), ptr=PTR)),
    "tolerance": (nn.PolynomialAttention, dict(dim=8, num_heads=2, tolerance=0.1, max_monomials=300, or_exact=True), dict(x=uniform(9, 8), ptr=PTR)),
    "PrimalAttention": (nn.PrimalAttention, dict(dim=8, num_heads=2, kernel="softmax", beta=0.5), dict(x=uniform(9, 8), ptr=PTR)),
    "pooled": (nn.PrimalAttention, dict(dim=8, num_heads=2, pool=[1, 2], pooling="average"), dict(x=uniform(9, 8), ptr=PTR)),
    "PointClassifier": (nn.PointClassifier, dict(num_classes=3, **SMALL, head_samples=4, head_dropout=0.0, tokens="local"),
                        dict(points=uniform(9, 3), normals=uniform(9, 3), ptr=PTR)),
    "clouds": (nn.PointClassifier, dict(num_classes=3, **SMALL, normals=False), dict(points=uniform(2, 5, 3))),
    "PointSegmenter": (nn.PointSegmenter, dict(num_parts=3, num_categories=2, **SMALL),
                       dict(points=uniform(9, 3), normals=uniform(9, 3), ptr=PTR, category=torch.tensor([0, 1, 1]))),
    "GraphModel": (nn.GraphModel, dict(out_features=3, **SMALL, node_vocabulary=[3], node_values=2, edge_vocabulary=[2], edge_values=1, encoding=4,
                                       positions="none", head="softmax_pool"), dict(graphs=graphs()._replace(coordinates=None))),
    "molecules": (nn.GraphModel, dict(out_features=3, **SMALL, node_vocabulary=[3], node_values=2, edge_vocabulary=[2], edge_values=1, encoding=4,
                                      distance_channels=3, distance_range=2.0, angles=True, head="sum"), dict(graphs=graphs())),
    "SoftmaxPoolHead": (nn.SoftmaxPoolHead, dict(dim=8, out_features=3), dict(x=uniform(9, 8), ptr=PTR)),
    "SampleMaxHead": (nn.SampleMaxHead, dict(dim=8, out_features=3, num_samples=3, dropout=0.0), dict(x=uniform(9, 8), ptr=PTR)),
    "SumHead": (nn.SumHead, dict(dim=8, out_features=3), dict(x=uniform(9, 8), ptr=PTR)),
    "PairHead": (nn.PairHead, dict(dim=8, out_features=3), dict(x=uniform(9, 8), ptr=torch.tensor([0, 4, 9]))),
    "TokenHead": (nn.TokenHead, dict(dim=8, out_features=3), dict(x=uniform(9, 8))),
    "PooledHead": (nn.PooledHead, dict(dim=8, out_features=3, pooling="mean", layers=2, graph_features=3, dropout=0.0),
                   dict(x=uniform(9, 8), ptr=PTR, graph_features=uniform(3, 3))),
    "sampled": (nn.PooledHead, dict(dim=8, out_features=3, pooling="sample_max", num_samples=3), dict(x=uniform(9, 8), ptr=PTR)),
    "PackedBatchNorm": (nn.PackedBatchNorm, dict(channels=8, momentum=0.1, eps=1e-5), dict(x=uniform(9, 8))),
    "MessagePassing": convolution("gine"),
    "gcn": convolution("gcn"),
    "gated_gcn": convolution("gated_gcn"),
    "layers": (nn.Encoder, dict(**TINY, local="gine", edge_channels=2, virtual_node=True, jumping_knowledge="concatenate"),
               dict(x=uniform(9, 8), ptr=PTR, graph=local_graph("gine"))),
    "convolutions": convolved("gine", attention="none", head="mean", head_layers=2, max_degree=2),
    "gates": convolved("gated_gcn", virtual_node=True, normalization="batch", head="nodes"),
    "class_token": (nn.GraphModel, dict(out_features=3, **TINY, node_values=2, relative=False, head="class_token", positions="learned", places=3),
                    dict(graphs=nn.FeaturedGraphs(torch.tensor([0, 3, 6, 9]), ROWPTR, COL_OF_TRIANGLES, node_values=uniform(9, 2)))),
    "texts": (nn.GraphModel, dict(out_features=3, **TINY, node_vocabulary=[4], positions="relative", position_channels=4),
              dict(graphs=nn.FeaturedGraphs(PTR, torch.zeros(10, dtype=torch.int64), COL[:0], torch.arange(9).view(9, 1) % 4))),
}
FUNCTIONS = {
    "distance_features": (nn.distance_features, dict(squared_distance=uniform(4), channels=3, range_=2.0)),
    "sinusoids": (nn.sinusoids, dict(n=5, dim=4)),
    "farthest_point_order": (nn.farthest_point_order, dict(points=uniform(9, 3), ptr=PTR)),
    "from_edges": (nn.FeaturedGraphs.from_edges, dict(edge_index=torch.stack((torch.repeat_interleave(torch.arange(9), 2), COL)), ptr=PTR,
                                                       edge_values=uniform(18, 1), weight=uniform(18))),
    "EdgeIndex": (nn.EdgeIndex.of, dict(rowptr=ROWPTR, col=COL, columns=9)),
    "LocalGraph": (lambda **given: nn.LocalGraph(**given).edge_weight, dict(index=nn.EdgeIndex.of(ROWPTR, COL, 9), kind="gcn", like=uniform(1), edge_attr=uniform(18, 2))),
    "record_attention": (watched_by, dict(module=nn.SamplingAttention(8, 2, 3).eval())),
    "read_graphs": (geosft.read_graphs, dict(source=EDGE_LIST.name, schema=SCHEMA, smiles_column="smiles", chiral_tags="written", fingerprint="none", fingerprint_bits=8)),
    "read_sequences": (geosft.read_sequences, dict(source=SERIES.name, schema={"node_values": 1}, patch_size=1, max_length=0)),
    "SamplingContext": (nn.SamplingContext, dict(mode="seeded", vote=0)),
    "read_cloud": (geosft.read_cloud, dict(file=CLOUD.name, points_per_mesh=10, seed=0, columns="")),
    "load": (geosft.load, dict(run="/nowhere")),
    "from_pretrained": (geosft.from_pretrained, dict(name="nothing")),
    "exported": (export.exported, dict(model=torch.nn.Linear(2, 2))),
    "package": (export.package, dict(model=torch.nn.Linear(2, 2), file="model.pt2")),
    "onnx": (export.onnx, dict(model=torch.nn.Linear(2, 2), file="model.onnx", args=None, max_tokens=3)),
    "standard": (export.standard, dict(model=nn.PointClassifier(3, **SMALL, canonical_order=False), max_tokens=9, vote=0)),
}
if "furniture" in geosft.pretrained_names():
    FUNCTIONS["predict"] = (geosft.from_pretrained("furniture").predict, dict(points=uniform(40, 3), normals=uniform(40, 3)))
    FUNCTIONS["prepare"] = (geosft.from_pretrained("furniture").prepare, dict(points=uniform(40, 3), normals=uniform(40, 3), vote=1))
    FUNCTIONS["inputs"] = (lambda **given: list(export.inputs(**given).values()),
                           dict(model=nn.PointClassifier(3, **SMALL), points=uniform(9, 3), normals=uniform(9, 3)))
    FUNCTIONS["predict_file"] = (geosft.from_pretrained("furniture").predict_file, dict(file="/nowhere/cloud.xyz"))
    FUNCTIONS["save"] = (geosft.from_pretrained("furniture").save, dict(folder="/proc/nothing"))
    FUNCTIONS["set_classes"] = (geosft.from_pretrained("furniture").set_classes, dict(names=["a", "b"]))
if importlib.util.find_spec("torch_geometric"):
    from geosft import pyg
    EDGES = torch.stack((torch.repeat_interleave(torch.arange(9), 2), COL))
    BATCH = torch.tensor([0] * 4 + [1] * 5)
    MODULES |= {
        "SamplingConv": (pyg.SamplingConv, dict(in_channels=8, out_channels=4, heads=2, num_samples=3, edge_dim=2),
                         dict(x=uniform(9, 8), edge_index=EDGES, edge_attr=uniform(18, 2), batch=BATCH)),
        "SamplingPointConv": (pyg.SamplingPointConv, dict(in_channels=8, out_channels=4, heads=2, num_samples=3, normals=True),
                              dict(x=uniform(9, 8), pos=uniform(9, 3), batch=BATCH, normals=uniform(9, 3))),
    }
    FUNCTIONS |= {
        "ptr_of": (pyg.ptr_of, dict(batch=BATCH, rows=9)),
        "AddRandomWalkPE": (pyg.AddRandomWalkPE, dict(walk_length=3)),
        "from_data": (lambda edge_index, x, ptr: pyg.from_data(pyg.Data(edge_index=edge_index, x=x, num_nodes=9, ptr=ptr)),
                      dict(edge_index=EDGES, x=uniform(9, 2), ptr=PTR)),
    }


def broken(value):
    """(what was done, argument or field, value) for a valid value."""
    if hasattr(value, "_fields"):
        for field, one in zip(value._fields, value):
            for what, _, other in broken(one):
                yield f"{field} {what}", field, value._replace(**{field: other})
        for what, other in (("None", None), ("a list", list(value)), ("a tensor", torch.zeros(9, 3))):
            yield what, None, other
        return
    if isinstance(value, torch.nn.Module):
        for what, other in (("None", None), ("another module", torch.nn.Linear(2, 2)), ("a class", type(value))):
            yield what, None, other
        return
    if isinstance(value, nn.LocalGraph):
        for field in ("edge_attr", "edges"):
            for what, _, other in broken(getattr(value, field)):
                changed = value.copy()
                setattr(changed, field, other)
                yield f"{field} {what}", field, changed
        for what, other in (("None", None), ("a list", [value.index]), ("a tensor", torch.zeros(9, 3)), ("of another kind", local_graph("gcn"))):
            yield what, None, other
        return
    if isinstance(value, dict):
        for what, other in (("None", None), ("a list", [1]), ("a text", "schema")):
            yield what, None, other
        return
    if value is None:
        for what, other in operators_.broken(None, "Optional[Tensor]"):
            yield what, None, other
        return
    if isinstance(value, torch.Tensor) and value.dtype == torch.bool:
        changes = [*operators_.broken_shapes(value), *operators_.broken_kinds(value), ("none", value & False), ("the others", ~value)]
    else:
        changes = operators_.broken(value, "")
    for what, other in changes:
        yield what, None, other
    if isinstance(value, str):
        for what, other in (("None", None), ("a list", ["x"]), ("a number", 3)):
            yield what, None, other


def flat(result):
    """The tensors of a result."""
    if isinstance(result, torch.Tensor):
        return [result]
    if isinstance(result, torch.nn.Module):
        return list(result.state_dict().values())
    return [one for part in result for one in flat(part)] if isinstance(result, (list, tuple)) else []


def evaluate(function, arguments):
    results = flat(seeded(function, **arguments))
    if any(one.requires_grad for one in results):
        sum(one.double().sum() for one in results if one.requires_grad and not one.is_meta).backward()
    return [one.detach() for one in results]


def is_named(error, name, field, arguments):
    """Whether an error is of this argument or field, or of one that must agree with it."""
    text = str(error)
    value = arguments[name]
    if isinstance(value, str) and value and value[:20] in text:  # files are named by their paths
        return True
    if isinstance(error, (MemoryError, OverflowError)) or re.search(OF_PYTORCH, text):
        return True
    fields = [one for value in arguments.values() if hasattr(value, "_fields") for one in value._fields]
    own = rf"(?<!\w){field or name}(?!\w)"
    of_tokens = r"(x, the tokens,|scores? (of tokens, .* )?|scores x W_S \+ b_S of the tokens) ?must be finite"  # made of too large numbers
    other = rf"(?<!\w)({'|'.join([*arguments, *fields])})( and \w+)? must |{of_tokens}"
    return re.search(f"{own}|{other}", text)


def complaint(function, arguments, name, field):
    try:
        first = evaluate(function, arguments)
    except Exception as error:
        return None if is_named(error, name, field, arguments) else f"{type(error).__name__} does not name {field or name}: {str(error)[:200]}"
    try:
        second = evaluate(function, arguments)
    except Exception as error:
        return f"the second call fails: {error}"
    same = len(first) == len(second) and (any(x.is_meta for x in first) or all(map(operators_.equal, first, second)))
    return None if same else "two calls give different results"


def without_items(name, value, items):
    """An argument for a batch of no items, or of one that is empty: offsets begin where items do, other tensors have no rows."""
    if hasattr(value, "_fields"):
        return type(value)(*(without_items(field, one, items) for field, one in zip(value._fields, value)))
    if isinstance(value, nn.LocalGraph):
        like, kind = uniform(1), value.kind
        index = nn.EdgeIndex.of(torch.zeros(1, dtype=torch.int64), torch.zeros(0, dtype=torch.int64), 0)
        return nn.LocalGraph(index, kind, like, value.edge_attr[:0], None if value.edges is None else value.edges[:0])
    if not isinstance(value, torch.Tensor):
        return value
    if name in ("ptr", "rowptr"):
        return value.new_zeros(items + 1 if name == "ptr" else 1)
    if name == "edge_index":
        return value[:, :0]
    return value[:items] if name in ("category", "graph_features") else value[:0]


def complaint_of_empty(module, given, items):
    arguments = {name: without_items(name, value, items) for name, value in given.items()}
    if "ptr" not in given and "graphs" not in given and items > 0:
        return None  # one empty item cannot be said
    if "batch" in given and items > 0 or isinstance(module, nn.PairHead) and items == 1:
        return None
    for mode in (True, False):
        module.train(mode).zero_grad()
        try:
            results = evaluate(module, arguments)
        except Exception as error:
            return f"{type(error).__name__}: {str(error)[:200]}"
        gradients = [one.grad for one in module.parameters() if one.grad is not None]
        if any(one.shape[0] not in (0, items) for one in results) or not all(one.isfinite().all() for one in results + gradients):
            return f"results {[list(one.shape) for one in results]} or gradients that are not finite"
    module.eval()
    return None


def complaints_of_keywords(kind, made, module, given):
    """What is wrong with the errors for unknown keywords, for texts in place of numbers and of flags, True in place of integers, types that no
    parameter has, a wrong eps, and for another `sampling`."""
    kinds = "|".join(one.__name__ for one in kind.__mro__)  # whose constructor it has
    calls = [("unknown_option", TypeError, rf"^({kinds})(\.__init__)?\(\) got an unexpected keyword argument 'unknown_option'",
              lambda: kind(**made, unknown_option=1))]
    calls += [(name, TypeError, rf"(?<!\w){name}(?!\w)", lambda name=name: kind(**made | {name: "some"}))
              for name, value in made.items() if type(value) in (int, float)]
    options = {one.name: one.default for one in inspect.signature(kind.__init__).parameters.values()}
    wrong = [(name, TypeError, other) for name, value in options.items() if type(value) is bool for other in ("no", 2, 0.5)]
    wrong += [(name, TypeError, True) for name, value in made.items() if type(value) is int]
    wrong += [("dtype", TypeError, "float32"), ("dtype", ValueError, torch.int32), ("dtype", ValueError, torch.complex64)]
    wrong += [("eps", ValueError, other) for other in (-1, float("nan"), float("inf")) if "eps" in options]
    wrong += [("eps", TypeError, "a")] if "eps" in options else []
    calls += [(f"{name}={other!r}", error, rf"(?<!\w){name} must ", lambda name=name, other=other: kind(**made | {name: other})) for name, error, other in wrong]
    if "sampling" in inspect.signature(kind.forward).parameters:
        calls += [("sampling", TypeError, "^sampling must be a geosft.nn.SamplingContext or None", lambda other=other: module(**given, sampling=other))
                  for other in (1, "seeded", nn.SamplingContext, {"mode": "seeded"})]
    for name, expected, words, call in calls:
        try:
            call()
        except Exception as error:
            if not isinstance(error, expected) or not re.search(words, str(error)):
                yield f"{name}: {type(error).__name__} {str(error)[:200]}"
        else:
            yield f"{name}: no error"


def missing_cases():
    """Public modules that no case makes."""
    made = {kind for kind, *_ in MODULES.values()}
    public = [(space, name) for space in (nn, *([pyg] if "pyg" in globals() else [])) for name in getattr(space, "__all__", dir(space))]
    kinds = {getattr(space, name) for space, name in public if isinstance(getattr(space, name), type) and not name.startswith("_")}
    return sorted(kind.__name__ for kind in kinds
                  if issubclass(kind, torch.nn.Module) and kind.__module__.startswith("geosft") and kind not in made)


def check(case):
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))  # sizes that no memory holds are errors at once
    calls = []
    if case in MODULES:
        kind, made, given = MODULES[case]
        torch.manual_seed(1)
        module = kind(**made).eval()
        evaluate(module, given)  # the valid call
        calls = [(kind, made), (module, given)]
    else:
        calls = [FUNCTIONS[case]]
    count, failures = 0, []
    if case in MODULES:
        failures += [f"{case}: {wrong}" for wrong in complaints_of_keywords(kind, made, module, given)]
        for items in (0, 1):
            count += 1
            wrong = complaint_of_empty(module, given, items)
            if wrong:
                failures.append(f"{case}: {'an empty item' if items else 'a batch without items'}: {wrong}")
    for function, valid in calls:
        for name, value in valid.items():
            for what, field, other in broken(value):
                count += 1
                place = f"{case}: {name} {what[:80]}"
                wrong = operators_.timed(SECONDS_A_CALL, place, lambda: complaint(function, valid | {name: other}, name, field))
                if wrong:
                    failures.append(f"{place}: {wrong}")
    return operators_.report(case, count, failures)


def is_well_apart(case):
    with tempfile.TemporaryDirectory() as folder:  # a process that crashes leaves its files

        def check_there():
            os.environ["TMPDIR"] = tempfile.tempdir = folder
            return check(case)

        return operators_.is_well_apart(case, SECONDS_A_CASE, check_there)


if __name__ == "__main__":
    torch.set_num_threads(1)
    if missing_cases():
        sys.exit(f"no case for {', '.join(missing_cases())}")
    sys.exit(0 if all([is_well_apart(case) for case in sys.argv[1:] or [*MODULES, *FUNCTIONS]]) else 1)
