# SPDX-License-Identifier: Apache-2.0
"""Exports of models, compared with the models: torch.export, and ONNX where onnx, onnxscript and onnxruntime are
installed. ONNX files of all models take more than a minute: without GEOSFT_ALL_EXPORTS in the environment there are some."""

import importlib.util
import os
import sys
import tempfile
import unittest
import unittest.mock

import geosft
import torch
from geosft import export, nn
from geosft.nn.packed import PackedLayout

SMALL = dict(dim=16, num_heads=2, num_samples=5, depth=2)
RAGGED = ([0, 1, 1, 4, 44], [0, 40], [0, 20, 23, 44])
WITH_ONNX = all(importlib.util.find_spec(name) for name in ("onnx", "onnxscript", "onnxruntime"))


def clouds(ptr, categories=0):
    generator = torch.Generator().manual_seed(len(ptr))
    points = torch.rand(ptr[-1], 3, generator=generator)
    normals = torch.nn.functional.normalize(torch.randn(ptr[-1], 3, generator=generator), dim=1)
    category = [torch.arange(len(ptr) - 1) % categories] if categories else []
    return [points, normals, *category, torch.tensor(ptr)]


def graphs(model, ptr):
    generator = torch.Generator().manual_seed(len(ptr))
    nodes = ptr[-1]
    item = torch.repeat_interleave(torch.tensor(ptr).diff())
    begin, size = torch.tensor(ptr)[item], torch.tensor(ptr).diff()[item]
    place = torch.arange(nodes) - begin
    source = torch.arange(nodes).repeat(2)
    target = torch.cat((begin + (place + 1) % size, begin + (place + 2) % size))
    kept = torch.rand(2 * nodes, generator=generator) < 0.8  # some nodes have no edges
    edges = torch.stack((source, target))[:, kept]
    made = nn.FeaturedGraphs.from_edges(
        edges, torch.tensor(ptr), node_categories=torch.randint(3, (nodes, 1), generator=generator),
        edge_values=torch.rand(edges.shape[1], 2, generator=generator), edge_categories=torch.randint(4, (edges.shape[1], 1), generator=generator),
        node_encoding=torch.rand(nodes, 3, generator=generator), coordinates=torch.rand(nodes, 3, generator=generator),
        graph_features=torch.rand(len(ptr) - 1, 2, generator=generator))
    return [getattr(made, name) for name in export.input_names(model)]


def graph_model(**options):
    return nn.GraphModel(3, **SMALL | options, node_vocabulary=[3], edge_vocabulary=[4], edge_values=2, encoding=3)


def primal(**options):
    return lambda: nn.PrimalAttention(16, 2, **options)


CLOUDS = dict(head_samples=7, canonical_order=False)
MODELS = {
    "classifier": lambda: nn.PointClassifier(4, **SMALL, **CLOUDS),
    "local": lambda: nn.PointClassifier(4, **SMALL, **CLOUDS, tokens="local", norm_first=True),
    "shape context": lambda: nn.PointClassifier(4, **SMALL, **CLOUDS, tokens="shape_context", norm_first=True),
    "shape context without normals": lambda: nn.PointClassifier(4, **SMALL, **CLOUDS, tokens="shape_context", normals=False),
    "chirality": lambda: nn.PointClassifier(4, **SMALL, **CLOUDS, relative="angles", chirality=True),
    "variants": lambda: nn.PointClassifier(4, **SMALL | {"depth": 1}, **CLOUDS, tokens="absolute", weighting="gumbel_softmax", tau=0.5, hard=True,
                                           score="dot", probability="softmax"),
    "segmenter": lambda: nn.PointSegmenter(5, 2, **SMALL, canonical_order=False, noise=False),
    "graph": graph_model,
    "molecules": lambda: graph_model(depth=1, head="sample_max", distance_channels=3, angles=True, head_samples=4),
    "summed": lambda: graph_model(head="sum", positions="relative"),
    "nodes": lambda: graph_model(head="nodes", positions="added", relative=False),
    "softmax": lambda: graph_model(attention=primal(beta=0.5), relative=False),
    "convolved": lambda: graph_model(local="gine", virtual_node=True, normalization="batch", jumping_knowledge="max", head="mean"),
    "deep": lambda: graph_model(local="gated_gcn", attention="none", relative=False, head="sample_max", head_samples=4, head_layers=2,
                                graph_features=2, max_degree=3, encoding_channels=4),
    "greatest": lambda: graph_model(local="gcn", head="max"),
    "linear": lambda: graph_model(attention=primal(kernel="linear"), relative=False),
}
WRITTEN = ("classifier", "variants", "molecules", "deep", "linear")  # each part of a model in one of them


class Masked(torch.nn.Module):
    """A model of one's own with dense tokens and a mask."""

    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerLayer(16, 2, 5, relative="points", relative_channels=1)

    def forward(self, x, points, mask):
        return self.layer(x, nn.PointEncoding(points), mask=mask)


class Packed(torch.nn.Module):
    """A model of one's own with packed tokens, whose samplers share random numbers; in vote 0 one layer has its own."""

    def __init__(self, vote=0):
        super().__init__()
        self.vote = vote
        self.attention, self.encoder = nn.SamplingAttention(16, 2, 5), nn.Encoder(16, 2, 5, depth=1)
        self.alone, self.head = nn.TransformerLayer(16, 2, 3), nn.SampleMaxHead(16, 3, 4)

    def forward(self, x, ptr):
        sampling = nn.SamplingContext.seeded(self.vote)
        x = self.attention(x, None, ptr, sampling=sampling)
        x = self.encoder(x, None, ptr, sampling=sampling)
        x = self.alone(x, None, ptr, sampling=None if self.vote == 0 else sampling)
        return self.head(x, ptr, sampling=sampling)


def masks(tokens, *counts):
    return torch.arange(tokens) < torch.tensor(counts).unsqueeze(1)


# Models of one's own: the module, shapes of its inputs to export it with, and others to run it with.
OWN = {
    "sequential": (lambda: torch.nn.Sequential(torch.nn.Linear(4, 16), nn.TransformerLayer(16, 2, 5), torch.nn.ReLU(), nn.SamplingAttention(16, 2, 5)),
                   (2, 20), [(3, 40), (1, 11), (4, 2), (1, 1)], lambda items, tokens: (torch.randn(items, tokens, 4),)),
    "one item": (lambda: nn.TransformerLayer(16, 2, 5, norm_first=True), 20, [33, 2, 1], lambda tokens: (torch.randn(tokens, 16),)),
    "packed": (Packed, [0, 12, 20], RAGGED, lambda *ptr: (torch.randn(ptr[-1], 16), torch.tensor(ptr))),
    "masked": (Masked, (20, 20, 7), [(40, 40, 0, 9), (10, 4), (3, 1, 2)],
               lambda tokens, *counts: (torch.randn(len(counts), tokens, 16), torch.rand(len(counts), tokens, 3), masks(tokens, *counts))),
}


def own(name):
    """The module, inputs to export it with, and those to run it with."""
    torch.manual_seed(2)
    make, example, others, inputs_of = OWN[name]
    return make().eval(), *(([inputs_of(*(one if isinstance(one, (tuple, list)) else [one])) for one in ones]) for ones in ([example], others))


def made(name):
    torch.manual_seed(1)
    return MODELS[name]().eval()


def inputs(model, ptr):
    if isinstance(model, nn.GraphModel):
        return graphs(model, ptr)
    given = clouds(ptr, getattr(model, "num_categories", 0))
    return given if model.normals else [given[0], *given[2:]]


def output(model, given, **options):
    """Of the model itself."""
    named = dict(zip(export.input_names(model), given))
    with torch.no_grad():
        if isinstance(model, nn.GraphModel):
            return model(nn.FeaturedGraphs(**named), **options)
        more = {"category": named["category"]} if "category" in named else {}
        return model(named["points"], named.get("normals"), named["ptr"], **more, **options)


class Exports(unittest.TestCase):
    def setUp(self):
        torch.set_num_threads(1)

    def close(self, found, expected):
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)

    def test_standard_operators_give_the_outputs_of_the_model(self):
        for name in MODELS:
            model = made(name)
            for vote in (0, 3, None):
                alike = export.standard(model, max_tokens=64, vote=vote)
                context = nn.SamplingContext.greedy if vote is None else lambda: nn.SamplingContext.seeded(vote)
                for ptr in RAGGED:
                    with self.subTest(model=name, vote=vote, ptr=ptr):
                        given = inputs(model, ptr)
                        self.close(output(alike, given), output(model, given, sampling=context()))

    def test_shape_contexts_of_more_points_than_references(self):
        ptr = torch.tensor([0, 300, 300, 340])
        points = 0.5 * torch.randn(340, 3, dtype=torch.float64)
        normals = torch.nn.functional.normalize(torch.randn(340, 3, dtype=torch.float64), dim=1)
        layout = PackedLayout.of_ptr(ptr, 340)
        for given in (normals, None):
            found = export._standard_point_tokens(points, given, layout, "shape_context")
            torch.testing.assert_close(found, torch.ops.geosft._point_tokens(points, given, ptr, "shape_context"), rtol=1e-9, atol=1e-9)

    def test_programs_of_any_size(self):
        for name in ("classifier", "graph", "convolved", "deep", "greatest"):
            model = made(name)
            program = export.exported(model).module()
            for ptr in RAGGED:
                given = inputs(model, ptr)
                with self.subTest(model=name, ptr=ptr), torch.no_grad():
                    self.close(program(*given), output(model, given))

    @unittest.skipUnless(WITH_ONNX, "onnx, onnxscript and onnxruntime are not installed")
    def test_onnx(self):
        import onnx
        import onnxruntime
        for name in MODELS if "GEOSFT_ALL_EXPORTS" in os.environ else WRITTEN:
            model = made(name)
            with tempfile.TemporaryDirectory() as folder:
                file = f"{folder}/model.onnx"
                export.onnx(model, file, max_tokens=64)
                domains = {node.domain for node in onnx.load(file).graph.node}
                session = onnxruntime.InferenceSession(file)
            self.assertEqual(domains, {""})  # standard operators alone
            for ptr in RAGGED:
                given = inputs(model, ptr)
                with self.subTest(model=name, ptr=ptr):
                    (found,) = session.run(None, {one: tensor.numpy() for one, tensor in zip(export.input_names(model), given)})
                    self.close(torch.from_numpy(found), output(model, given))

    def test_standard_operators_in_a_module_of_ones_own(self):
        for name in OWN:
            module, _, others = own(name)
            for vote in (0, None) if name != "packed" else (0,):
                alike = export.standard(module, max_tokens=64, vote=vote)
                self.assertFalse(any(isinstance(one, nn.SamplingAttention) and one.sampler is not None for one in alike.modules()))
                for given in others:
                    with self.subTest(module=name, vote=vote, shapes=[list(one.shape) for one in given]), torch.no_grad():
                        if vote == 0:
                            self.close(alike(*given), module(*given))
                        else:
                            self.assertEqual(alike(*given).shape, module(*given).shape)
        chosen, x, ptr = Packed(vote=2).eval(), torch.randn(20, 16), torch.tensor([0, 12, 20])
        with self.assertRaisesRegex(export.CannotExport, r"sampling: .*seeded\(2\).*vote=0"):
            export.standard(chosen, max_tokens=64)(x, ptr)
        with torch.no_grad():
            self.close(export.standard(chosen, max_tokens=64, vote=2)(x, ptr), chosen(x, ptr))
        large = torch.randn(3, 65, 16)
        mask = torch.arange(65) < torch.tensor([[64], [65], [3]])
        for call in (lambda given: given(large), lambda given: given(large, mask=mask), lambda given: given(large.flatten(0, 1), None, [0, 64, 129, 195])):
            for module in (nn.TransformerLayer(16, 2, 5), nn.SamplingAttention(16, 2, 5)):
                with self.assertRaisesRegex(ValueError, "max_tokens is 64, but an item has 6[56] tokens: export with max_tokens=6[56] or more"):
                    call(export.standard(module, max_tokens=64))
                self.assertEqual(call(export.standard(module, max_tokens=66)).shape[-1], 16)
                self.assertEqual(call(export.standard(module, max_tokens=64, vote=None)).shape[-1], 16)  # no tables
        shared = nn.TransformerLayer(16, 2, 5)
        twice = torch.nn.Sequential(shared, shared).eval()
        alike, x = export.standard(twice, max_tokens=30), torch.randn(2, 30, 16)
        self.assertIs(alike[0], alike[1])
        with torch.no_grad():
            self.close(alike(x), twice(x))

    @unittest.skipUnless(WITH_ONNX, "onnx, onnxscript and onnxruntime are not installed")
    def test_onnx_of_a_module_of_ones_own(self):
        import onnx
        import onnxruntime
        for name in OWN if "GEOSFT_ALL_EXPORTS" in os.environ else ("sequential", "packed", "masked"):
            module, (example,), others = own(name)
            with tempfile.TemporaryDirectory() as folder:
                file = f"{folder}/own.onnx"
                export.onnx(module, file, example, max_tokens=64)
                graph = onnx.load(file).graph
                self.assertEqual({node.domain for node in graph.node}, {""})
                self.assertEqual([one.name for one in graph.output], ["output"])
                sizes = [size for one in graph.input for size in one.type.tensor_type.shape.dim]
                self.assertFalse([size.dim_param for size in sizes if size.dim_param.isdecimal()])
                if name != "masked":
                    self.assertEqual(graph.input[0].type.tensor_type.shape.dim[-1].dim_value, example[0].shape[-1])
                session = onnxruntime.InferenceSession(file)
            for given in others:
                with self.subTest(module=name, shapes=[list(one.shape) for one in given]), torch.no_grad():
                    (found,) = session.run(None, {into.name: one.numpy() for into, one in zip(session.get_inputs(), given)})
                    self.close(torch.from_numpy(found), module(*given))

    def test_what_cannot_be_expressed_of_a_module_of_ones_own(self):
        class Sampled(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.sampler = nn.Sampler(16, 5)

            def forward(self, x):
                return self.sampler(x).sample(x)

        class Near(torch.nn.Module):
            def forward(self, x):
                return geosft.knn(x, x, 2)[1]

        x = torch.randn(20, 16)
        for words, module in (("Sampler outside of", Sampled()), ("PolynomialAttention.*monomials", torch.nn.Sequential(nn.PolynomialAttention(16, 2))),
                              ("mask of PrimalAttention", torch.nn.Sequential(nn.PrimalAttention(16, 2, mask="window"))),
                              ("with_replacement", torch.nn.Sequential(nn.SamplingAttention(16, 2, with_replacement=True)))):
            with self.assertRaisesRegex(export.CannotExport, words):
                export.onnx(module, "never.onnx", (x,), max_tokens=20)
        with unittest.mock.patch("geosft.export._require_onnx"), self.assertRaisesRegex(export.CannotExport, "the operator geosft.knn"):
            export.onnx(Near(), "never.onnx", (torch.randn(9, 3),), max_tokens=20)
        layer = nn.TransformerLayer(16, 2, 5)
        for error, words, call in ((TypeError, "args must be a tuple", lambda: export.onnx(layer, "never.onnx", x, max_tokens=20)),
                                   (TypeError, "args must be given", lambda: export.onnx(layer, "never.onnx", max_tokens=20)),
                                   (ValueError, "max_tokens is 19", lambda: export.onnx(layer.eval(), "never.onnx", (x[None],), max_tokens=19)),
                                   (TypeError, "max_tokens must be given", lambda: export.onnx(layer, "never.onnx", (x,))),
                                   (TypeError, "model must be a torch.nn.Module", lambda: export.standard("layer", max_tokens=20))):
            with self.assertRaisesRegex(error, words):
                call()

    def test_programs_of_a_module_of_ones_own(self):
        """torch.export itself, with geosft's operators."""
        for name in ("sequential", "packed"):
            module, (example,), others = own(name)
            shapes = tuple({0: torch.export.Dim.AUTO, **({1: torch.export.Dim.AUTO} if one.dim() == 3 else {})} for one in example)
            program = torch.export.export(module, example, dynamic_shapes=shapes, strict=False).module()
            for given in others[:1]:
                with self.subTest(module=name), torch.no_grad():
                    self.close(program(*given), module(*given))

    def test_one_item_with_other_inputs_than_tokens(self):
        for model in (nn.PointSegmenter(5, 2, **SMALL), graph_model(graph_features=2, head="sample_max", head_samples=4)):
            program = export.exported(model.eval()).module()
            for ptr in ([0, 40], [0, 1], [0, 2, 44]):
                given = inputs(model, ptr)
                with self.subTest(model=type(model).__name__, ptr=ptr), torch.no_grad():
                    self.close(program(*given), output(model, given))

    @unittest.skipUnless("furniture" in geosft.pretrained_names(), "the package has no trained model")
    def test_a_trained_classifier(self):
        model = geosft.from_pretrained("furniture")
        generator = torch.Generator().manual_seed(5)
        points = 30 * torch.rand(300, 3, generator=generator) + 7
        normals = torch.nn.functional.normalize(points - points.mean(0), dim=1)
        given = export.inputs(model, points, normals)
        self.assertEqual(list(given), export.input_names(model))
        self.assertEqual(given["points"].shape, (256, 3))
        with torch.no_grad():
            expected = model(*model.prepare(points, normals))
            self.close(export.exported(model).module()(*given.values()), expected)
            alike = export.standard(model, canonical_order=False)
            self.close(alike(given["points"], given["normals"], given["ptr"]), expected)
        if not WITH_ONNX:
            return
        import onnxruntime
        with tempfile.TemporaryDirectory() as folder:
            export.onnx(model, f"{folder}/furniture.onnx", canonical_order=False)
            session = onnxruntime.InferenceSession(f"{folder}/furniture.onnx")
        (found,) = session.run(None, {name: one.numpy() for name, one in given.items()})
        self.close(torch.from_numpy(found), expected)

    def test_files_that_cannot_be_written_are_named_before_the_work(self):
        model, layer, x = made("graph"), nn.TransformerLayer(16, 2, 5), torch.randn(2, 20, 16)
        begun = unittest.mock.patch("torch.export.export", side_effect=AssertionError("the work has begun"))
        with tempfile.TemporaryDirectory() as folder, begun, unittest.mock.patch("geosft.export._require_onnx"):
            os.mkdir(f"{folder}/made.onnx")
            for ending, write in ((".onnx", lambda file: export.onnx(model, file, max_tokens=64)), (".pt2", lambda file: export.package(model, file)),
                                  (".onnx", lambda file: export.onnx(layer, file, (x,), max_tokens=64))):
                with self.assertRaisesRegex(ValueError, rf"file must end with \{ending}, got 'q\.txt'"):
                    write(f"{folder}/q.txt")
                with self.assertRaisesRegex(FileNotFoundError, rf"absent/q\{ending}: there is no folder '{folder}/absent'"):
                    write(f"{folder}/absent/q{ending}")
                with self.assertRaisesRegex(AssertionError, "the work has begun"):
                    write(f"{folder}/q{ending}")
            with self.assertRaisesRegex(IsADirectoryError, "made.onnx is a folder"):
                export.onnx(model, f"{folder}/made.onnx", max_tokens=64)
        with begun, unittest.mock.patch("importlib.util.find_spec", return_value=None), self.assertRaisesRegex(ImportError, "pip install onnx onnxscript"):
            export.onnx(layer, "never.onnx", (x,), max_tokens=64)

    def test_what_cannot_be_expressed_is_said(self):
        canonical = nn.PointClassifier(4, **SMALL)
        replaced = nn.PointClassifier(4, **SMALL, canonical_order=False, with_replacement=True)
        for words, model in (("canonical_order.*farthest-point", canonical), ("with_replacement.*noise", replaced),
                             ("ppf.*one operator", nn.PointClassifier(4, **SMALL, **CLOUDS, tokens="ppf")),
                             ("PolynomialAttention.*monomials", graph_model(attention=lambda: nn.PolynomialAttention(16, 2))),
                             ("mask of PrimalAttention", graph_model(attention=primal(mask="window")))):
            with self.assertRaisesRegex(export.CannotExport, words):
                export.standard(model, max_tokens=10)
        ordered = export.standard(canonical, max_tokens=50, canonical_order=False)
        points, normals, ptr = clouds([0, 20, 44])
        order = nn.farthest_point_order(points, ptr)
        with torch.no_grad():
            self.close(ordered(points[order], normals[order], ptr), canonical.eval()(points, normals, ptr))
        with self.assertRaisesRegex(export.CannotExport, "canonical_order=False.*geosft.export.inputs"):
            export.standard(canonical, max_tokens=10)
        with self.assertRaisesRegex(TypeError, "max_tokens must be given"):
            export.standard(canonical, canonical_order=False)
        with self.assertRaisesRegex(ValueError, "normals must be of the shape of points"):
            export.inputs(canonical, points[:20])
        with self.assertRaisesRegex(TypeError, "model"):
            export.exported(torch.nn.Linear(2, 2))
        tolerant = graph_model(attention=lambda: nn.PolynomialAttention(16, 2, tolerance=0.1))
        with self.assertRaisesRegex(export.CannotExport, "tolerance of PolynomialAttention.*values of the tokens"):
            export.exported(tolerant)
        radial = nn.GraphModel(2, 16, 2, 4, local="gine", edge_cutoff=1.0)
        for write in (export.exported, lambda model: export.standard(model, max_tokens=10)):
            with self.assertRaisesRegex(export.CannotExport, "edge_cutoff.*coordinates"):
                write(radial)
        with self.assertRaisesRegex(ValueError, "file.*'model.so'"):
            export.package(made("graph"), "model.so")
        with self.assertRaisesRegex(ValueError, "max_tokens"):
            export.standard(made("graph"), max_tokens=0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
