# SPDX-License-Identifier: Apache-2.0
"""geosft.nn of the installed package beside the C++ modules: test_nn.py MODULE_OUTPUTS README, the program of
module_outputs.cpp and the package's tutorial."""

import copy
import inspect
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock

import geosft
import geosft.export
import geosft.runs
import torch
import torch._inductor.config
from functorch.compile import make_boxed_func
from geosft import nn
from geosft.nn.message_passing import EdgeIndex, PackedBatchNorm, edge_sum, gated_edge_sum
from torch._dynamo.backends.common import aot_autograd

# Kernels of inductor, one at a time and without vector instructions, which are slow to compile; the graphs are the same.
torch._inductor.config.compile_threads, torch._inductor.config.cpp.vec_isa_ok = 1, False
MODULE_OUTPUTS, README = map(os.path.realpath, sys.argv[1:])
DIM, HEADS = 16, 2
LAYER = dict(num_heads=HEADS, num_samples=5)
POINTS = dict(relative="points", relative_channels=2)
POINTS_LAYER = dict(**LAYER, **POINTS)


def encoding(kind, given):
    if kind == "points":
        return nn.PointEncoding(given["points"], given["normals"])
    if kind == "graph":
        return nn.GraphEncoding(given["rowptr"], given["col"], given["edge_attr"])
    return nn.SequenceEncoding(given["positions"]) if kind == "sequence" else None


def tokens(module, kind="none"):
    return module, lambda given, **more: module(given["x"], encoding(kind, given), given["ptr"], **more)


def attention(kind, channels, **sampler):
    return tokens(nn.SamplingAttention(DIM, **LAYER, relative=kind, relative_channels=channels, **sampler), kind)


def clouds(module, **categories):
    def forward(given, **more):
        named = {name: given[name] for name in categories}
        return module(given["points"], given["normals"], given["ptr"], **named, **more)
    return module, forward


def pooled():
    module = nn.SoftmaxPoolHead(DIM, 3)
    return module, lambda given: module(given["x"], given["ptr"])


def graphs(of="ptr", **options):
    documents = options.get("documents", False)
    module = nn.GraphModel(4, DIM, **LAYER, depth=2, node_vocabulary=[4, 3], node_values=2, edge_vocabulary=[5], edge_values=1,
                           encoding=3, position_channels=4, head_samples=7, **options)

    def forward(given, **more):
        ptr = torch.tensor([0, 11, 22, 30]) if documents else given[of]
        columns = ("node_categories", "document") if documents else ("node_categories",)
        categories = torch.cat([given[name] for name in columns], 1)
        return module(nn.FeaturedGraphs(ptr, given["rowptr"], given["col"], categories, given["node_values"], given["edge_categories"],
                                        given["edge_values"], given["points"], given["node_encoding"],
                                        graph_features=given["graph_features"] if module.graph_features > 0 else None), **more)
    return module, forward


def primal(kind="none", ptr="ptr", **options):
    module = nn.PrimalAttention(DIM, HEADS, **options)
    return module, lambda given, **more: module(given["x"], encoding(kind, given), given[ptr], **more)


# Composed of PyTorch's operations in both languages, but not of the same: equal to rounding.
ROUNDED = {"graph_radial", "graph_radial_gcn", "graph_radial_gates", "composed_points", "composed_chirality", "composed_graph", "composed_sequence", "graph_molecules", "graph_angles", "primal_variance", "primal_average",
           "primal_convolved", "primal_k_means", "primal_window"}
CASES = {
    "graph_softmax_pool": graphs,
    "graph_sample_max": lambda: graphs(head="sample_max"),
    "graph_sum": lambda: graphs(head="sum"),
    "graph_nodes": lambda: graphs(head="nodes"),
    "graph_pairs": lambda: graphs(head="pairs", documents=True, relative=False),
    "graph_added": lambda: graphs(positions="added"),
    "graph_relative": lambda: graphs(positions="relative"),
    "graph_molecules": lambda: graphs(distance_channels=4, distance_range=1.5),
    "graph_angles": lambda: graphs(distance_channels=4, distance_range=1.5, angles=True),
    "graph_alone": lambda: graphs(relative=False),
    "graph_class_token": lambda: graphs(relative=False, head="class_token"),
    "graph_places": lambda: graphs(of="halves", relative=False, head="class_token", head_layers=2, positions="learned", places=15, attention=lambda: nn.PrimalAttention(
        DIM, HEADS, convolution="grid", grid=(3, 5), class_token=True)),
    "graph_learned": lambda: graphs(of="halves", relative=False, positions="learned", places=15),
    "graph_gcn": lambda: graphs(local="gcn", normalization="batch", virtual_node=True, max_degree=1, head="mean"),
    "graph_gine": lambda: graphs(local="gine", attention="none", relative=False, norm_first=True, mlp_ratio=0, jumping_knowledge="concatenate",
                                 head="max", head_layers=3),
    "graph_gated": lambda: graphs(local="gated_gcn", normalization="batch", encoding_channels=5, encoding_layers=2, jumping_knowledge="max",
                                  graph_features=3, graph_counts=1),
    "graph_convolved": lambda: graphs(local="gated_gcn", norm_first=True, normalization="none", residual=False, jumping_knowledge="sum",
                                      virtual_node=True, head="nodes", head_layers=2),
    "composed_points": lambda: attention("points", 2, score="dot"),
    "composed_chirality": lambda: attention("points", 5, probability="softmax"),
    "composed_graph": lambda: attention("graph", 3, probability="softmax"),
    "composed_sequence": lambda: attention("sequence", 4, score="dot", probability="softmax"),
    "primal_window": lambda: primal(mask="window", mask_size=3, pool=[1, 2]),
    "primal_strided": lambda: primal(mask="strided", mask_size=3),
    "primal_block": lambda: primal(mask="block", mask_size=3),
    "primal_nearest": lambda: primal("points", mask="nearest", mask_size=3),
    "primal_neighbours": lambda: primal("graph", mask="neighbours"),
    "primal_line": lambda: primal(convolution="sequence", kernel="linear"),
    "primal_grid": lambda: primal(ptr="halves", convolution="grid", grid=(3, 5)),
    "primal_variance": lambda: primal(variance=True),
    "primal_average": lambda: primal(variance=True, pool=[2, 1]),
    "primal_max": lambda: primal(pool=[2, 1], pooling="max"),
    "primal_convolved": lambda: primal(pool=[2, 1], pooling="convolution"),
    "primal_k_means": lambda: primal(pool=[2, 1], pooling="k_means"),
    "attention": lambda: attention("none", 0),
    "attention_points": lambda: attention("points", 2),
    "attention_graph": lambda: attention("graph", 3),
    "attention_sequence": lambda: attention("sequence", 4),
    "attention_hard": lambda: attention("points", 2, hard=True),
    "attention_gumbel_softmax": lambda: attention("points", 2, weighting="gumbel_softmax", tau=0.5),
    "attention_with_replacement": lambda: attention("points", 2, with_replacement=True),
    "polynomial": lambda: tokens(nn.PolynomialAttention(DIM, HEADS)),
    "polynomial_causal": lambda: tokens(nn.PolynomialAttention(DIM, HEADS, causal=True)),
    "polynomial_scale": lambda: tokens(nn.PolynomialAttention(DIM, HEADS, score_scale="inverse")),
    "polynomial_tolerance": lambda: tokens(nn.PolynomialAttention(DIM, HEADS, tolerance=0.5, max_monomials=20000, or_exact=True)),
    "polynomial_exact": lambda: tokens(nn.PolynomialAttention(DIM, HEADS, tolerance=1e-9, max_monomials=1, or_exact=True)),
    "polynomial_exact_causal": lambda: tokens(
        nn.PolynomialAttention(DIM, HEADS, causal=True, tolerance=1e-9, max_monomials=1, or_exact=True)),
    "primal_bn": lambda: tokens(nn.PrimalAttention(DIM, HEADS, beta=0.5, learn_beta=True)),
    "primal_linear": lambda: tokens(nn.PrimalAttention(DIM, HEADS, kernel="linear")),
    "softmax_pool_head": pooled,
    "encoder_post": lambda: tokens(nn.Encoder(DIM, depth=2, **POINTS_LAYER), "points"),
    "encoder_pre": lambda: tokens(nn.Encoder(DIM, depth=2, norm_first=True, **POINTS_LAYER), "points"),
    "classifier": lambda: clouds(nn.PointClassifier(4, DIM, **LAYER, depth=2, tokens="local", head_samples=7)),
    "classifier_shape_context": lambda: clouds(
        nn.PointClassifier(4, DIM, **LAYER, depth=2, tokens="shape_context", head_samples=7, norm_first=True)),
    "classifier_ppf": lambda: clouds(
        nn.PointClassifier(4, DIM, **LAYER, depth=2, tokens="ppf", head_samples=7, norm_first=True)),
    "classifier_absolute": lambda: clouds(
        nn.PointClassifier(4, DIM, **LAYER, depth=2, tokens="absolute_local", head_samples=7, norm_first=True)),
    "classifier_angles": lambda: clouds(
        nn.PointClassifier(4, DIM, **LAYER, depth=2, tokens="local", relative="angles", head_samples=7, norm_first=True)),
    "classifier_chirality": lambda: clouds(
        nn.PointClassifier(4, DIM, **LAYER, depth=2, relative="angles", chirality=True, head_samples=7)),
    "segmenter": lambda: clouds(nn.PointSegmenter(5, 3, DIM, **LAYER, depth=2, tokens="local"), category=True),
    "graph_radial": lambda: graphs(local="gine", edge_cutoff=0.6, radial_channels=5, atom_references=True, head="sum"),
    "graph_radial_gcn": lambda: graphs(local="gcn", edge_cutoff=0.6, radial_channels=5, atom_references=True, head="sum"),
    "graph_radial_gates": lambda: graphs(local="gated_gcn", edge_cutoff=0.6, radial_channels=5, atom_references=True, head="sum"),
    "graph_sign_net": lambda: graphs(encoding_channels=5, encoding_layers=2, sign_invariant=True),
}


def load(file):
    return torch.load(file, weights_only=False)  # C++ adds the type of its dictionary


def part(tensors, prefix):
    return {name[len(prefix):]: tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def evaluated(module, forward, given):
    """The output in evaluation mode, and the gradients of the sum of its squares."""
    module.eval().zero_grad()
    out = forward(given)
    out.square().sum().backward()
    return out.detach(), {name: parameter.grad for name, parameter in module.named_parameters()}


class BesideCpp(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        torch.set_num_threads(1)
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        subprocess.run([MODULE_OUTPUTS, cls.folder.name], check=True)

    def file(self, name):
        return pathlib.Path(self.folder.name) / name

    def compare(self, name, module, forward, cpp):
        out, gradients = evaluated(module, forward, part(cpp, "input."))
        if name in ROUNDED:
            torch.testing.assert_close(out, cpp["output"], rtol=1e-5, atol=1e-5)
        else:
            self.assertTrue(torch.equal(out, cpp["output"]), f"{name}: {(out - cpp['output']).abs().max()}")
        self.assertGreater(float(out.detach().abs().max()), 0)
        expected = part(cpp, "grad.")
        self.assertEqual(set(gradients), set(expected))
        # Composed attention adds in another order: a few roundings of numbers as large as the largest gradient. Under a
        # softmax the gradient of b_add is such a remainder alone, since the exact one is zero. Gates and missing norms make large ones.
        largest = max(float(gradient.abs().max()) for gradient in gradients.values() if gradient is not None)
        atol = max(1e-5, 4 * torch.finfo(torch.float32).eps * largest) if name.startswith("composed_") or name in ("graph_convolved", "graph_gated") else 1e-5
        for parameter, gradient in gradients.items():
            if gradient is None:  # of what the model has no use for, such as a relative encoding without edges
                self.assertEqual(float(expected[parameter].abs().max()), 0)
                continue
            torch.testing.assert_close(gradient, expected[parameter], rtol=1e-5, atol=atol, msg=lambda text: f"{parameter}: {text}")

    def test_weights_of_cpp_give_the_same_bits(self):
        for name, make in CASES.items():
            with self.subTest(case=name):
                cpp = load(self.file(f"{name}.pt"))
                module, forward = make()
                module.load_state_dict(part(cpp, "state."))  # strict: the same keys
                self.compare(name, module, forward, cpp)

    def test_weights_of_python_give_the_same_bits(self):
        torch.manual_seed(2)
        made = {name: make() for name, make in CASES.items()}
        for name, (module, _) in made.items():
            given = part(load(self.file(f"{name}.pt")), "input.")
            tensors = {f"state.{key}": value for key, value in module.state_dict().items()}
            torch.save({**tensors, **{f"input.{key}": value for key, value in given.items()}}, self.file(f"{name}.given.pt"))
        subprocess.run([MODULE_OUTPUTS, self.folder.name, "--given"], check=True)
        for name, (module, forward) in made.items():
            with self.subTest(case=name):
                self.compare(name, module, forward, load(self.file(f"{name}.answer.pt")))

    def test_sinusoids(self):
        given = part(load(self.file("attention.pt")), "input.")
        self.assertTrue(torch.equal(nn.sinusoids(30, 4), given["positions"]))


def dense_clouds(items=3, tokens=12):
    generator = torch.Generator().manual_seed(3)
    points = torch.rand(items, tokens, 3, generator=generator)
    normals = torch.nn.functional.normalize(torch.randn(items, tokens, 3, generator=generator), dim=-1)
    return points, normals


def classifier(depth=2, **options):
    torch.manual_seed(4)
    return nn.PointClassifier(4, DIM, **LAYER, depth=depth, head_samples=7, **options)


class Modules(unittest.TestCase):
    def test_pooled_heads_of_primal_attention(self):
        module = nn.PrimalAttention(DIM, HEADS, pool=[1, 2]).double()
        x = torch.randn(9, DIM, dtype=torch.double)
        q, k, v = (map_(x).view(9, HEADS, -1) for map_ in (module.query, module.key, module.value))
        pairs = torch.arange(9) // 2
        weight = torch.zeros(5, 9, dtype=torch.double).index_put((pairs, torch.arange(9)), torch.tensor(1.0, dtype=torch.double))
        weight = weight / weight.sum(1, keepdim=True)
        heads = []
        for head, pool in enumerate((torch.eye(9, dtype=torch.double), weight)):
            logits = q[:, head] @ (pool @ k[:, head]).T / (DIM // HEADS) ** 0.5
            heads.append(logits.softmax(1) @ (pool @ v[:, head]))
        torch.testing.assert_close(module(x), module.output(torch.cat(heads, 1)))

    def test_dense_and_masked_batches_are_packed_ones(self):
        points, normals = dense_clouds()
        model = classifier().eval()
        packed = model(points.flatten(0, 1), normals.flatten(0, 1), torch.tensor([0, 12, 24, 36]))
        self.assertTrue(torch.equal(model(points, normals), packed))
        self.assertTrue(torch.equal(model(points.flatten(0, 1), normals.flatten(0, 1), [0, 12, 24, 36]), packed))
        mask = torch.arange(12) < torch.tensor([[12], [5], [0]])
        ptr = torch.tensor([0, 12, 17, 17])
        self.assertTrue(torch.equal(model(points, normals, mask=mask), model(points[mask], normals[mask], ptr)))
        layer = nn.TransformerLayer(DIM, **POINTS_LAYER).eval()
        x = torch.randn(3, 12, DIM)
        out = layer(x, nn.PointEncoding(points, normals), mask=mask)
        rows = layer(x[mask], nn.PointEncoding(points[mask], normals[mask]), ptr)
        self.assertTrue(torch.equal(out[mask], rows))
        self.assertEqual(float(out[~mask].detach().abs().max()), 0)

    def test_heads_take_dense_tokens_with_a_mask(self):
        generator = torch.Generator().manual_seed(14)
        x = torch.randn(4, 12, DIM, generator=generator)
        mask = torch.rand(4, 12, generator=generator) < torch.tensor([[1.0], [0.6], [0.0], [0.4]])
        ptr = torch.cat((torch.zeros(1, dtype=torch.int64), mask.sum(1).cumsum(0)))
        padded = x.masked_fill(~mask.unsqueeze(2), float("nan"))  # values of the padding are not used
        features = torch.randn(4, 2, generator=generator)
        pooled_heads = [nn.PooledHead(DIM, 3, pooling) for pooling in ("softmax_pool", "sample_max", "sum", "mean", "max")]
        for head in (nn.SoftmaxPoolHead(DIM, 3), nn.SampleMaxHead(DIM, 3, 5), nn.SumHead(DIM, 3), nn.PairHead(DIM, 3), *pooled_heads):
            with self.subTest(head=str(head)):
                head.eval()
                self.assertTrue(torch.equal(head(padded, mask=mask), head(x[mask], ptr)))
                self.assertTrue(torch.equal(head(x), head(x.flatten(0, 1), [0, 12, 24, 36, 48])))
                self.assertRaisesRegex(ValueError, "mask is for dense x", lambda: head(x[mask], ptr, mask=mask))
                standard = geosft.export.standard(head, max_tokens=12)
                torch.testing.assert_close(standard(x, mask=mask), head(x, mask=mask), rtol=1e-4, atol=1e-4)
        with_features = nn.PooledHead(DIM, 3, graph_features=2)
        self.assertTrue(torch.equal(with_features(x, None, features, mask=mask), with_features(x[mask], ptr, features)))
        head = nn.TokenHead(DIM, 3)
        predictions = head(padded, mask=mask)
        self.assertTrue(torch.equal(predictions[mask], head(x[mask])))
        self.assertTrue((predictions[~mask] == 0).all())
        self.assertRaisesRegex(ValueError, "mask is for dense x", lambda: head(x[mask], mask=mask))
        for head, named in ((nn.SampleMaxHead(DIM, 3, 5), {"mask": mask}), (nn.SoftmaxPoolHead(DIM, 3), {"mask": mask}), (nn.TokenHead(DIM, 3), {"mask": mask})):
            self.compare_compiled(head, ((x,), named))

    def test_farthest_point_order_of_dense_clouds(self):
        points, _ = dense_clouds()
        packed, order = nn.farthest_point_order(points.flatten(0, 1), [0, 12, 24, 36]), nn.farthest_point_order(points)
        self.assertTrue(torch.equal(packed, nn.farthest_point_order(points.flatten(0, 1), torch.tensor([0, 12, 24, 36]))))
        self.assertTrue(torch.equal(points.take_along_dim(order.unsqueeze(2), 1).flatten(0, 1), points.flatten(0, 1)[packed]))
        self.assertEqual(nn.farthest_point_order(points[:0]).shape, (0, 12))
        self.assertRaisesRegex(ValueError, "ptr is for packed points", lambda: nn.farthest_point_order(points, [0, 12, 24, 36]))
        self.assertRaisesRegex(TypeError, "ptr must be int64 .* 0.5 at place 1", lambda: nn.farthest_point_order(points[0], [0, 0.5, 12]))

    def test_samples_of_dense_tokens(self):
        generator = torch.Generator().manual_seed(7)
        x, points = torch.randn(3, 12, DIM, generator=generator), torch.rand(3, 12, 3, generator=generator)
        mask = torch.arange(12) < torch.tensor([[12], [5], [0]])
        for options in ({}, {"with_replacement": True}, {"hard": True}):
            sampler = nn.Sampler(DIM, 5, **options).eval()
            packed = sampler(x.flatten(0, 1), [0, 12, 24, 36])
            pairs = sampler(x)
            self.assertIsNone(pairs.mask)
            self.assertTrue(torch.equal(pairs.top, packed.top))
            self.assertTrue(torch.equal(pairs.sample(points), packed.sample(points.flatten(0, 1)).view(3, 5, 3)))
            self.assertTrue(torch.equal(pairs.sample(points.flatten(0, 1)), packed.sample(points.flatten(0, 1))))
            self.assertEqual(pairs.sample(x[..., 0]).shape, (3, 5))
            some, ragged = sampler(x, mask=mask), sampler(x[mask], torch.tensor([0, 12, 17, 17]))
            self.assertEqual(some.mask.sum(1).tolist(), [5, 5 if "with_replacement" in options else 2, 0])
            self.assertTrue(torch.equal(some.sample(x)[some.mask], ragged.sample(x[mask])))
            self.assertTrue((some.sample(points)[~some.mask] == 0).all())
            some.sample(x).square().sum().backward()
            self.assertGreater(float(sampler.projection.weight.grad.abs().max()), 0)
        self.assertEqual(sampler(x[:0]).sample(x[:0]).shape, (0, 5, DIM))
        self.assertEqual(sampler(x[:, :0]).sample(x[:, :0]).shape, (3, 0, DIM))
        self.assertEqual(sampler(x[:, :1]).sample(points[:, :1]).shape, (3, 1, 3))
        head = nn.SampleMaxHead(DIM, 4, 5).eval()
        self.assertTrue(torch.equal(head(x), head(x.flatten(0, 1), [0, 12, 24, 36])))

        class Sampled(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.sampler = nn.Sampler(DIM, 5)

            def forward(self, x, mask=None):
                return self.sampler(x, mask=mask).sample(x)

        self.compare_compiled(Sampled(), ((x,), {}), ((x[:2, :8],), {}))
        self.compare_compiled(Sampled(), ((x, mask), {}), ((x[:2, :8], mask[:2, :8]), {}))  # strided rows and a strided mask

    def test_samples_of_other_rows_are_refused(self):
        generator = torch.Generator().manual_seed(7)
        x, points = torch.randn(3, 12, DIM, generator=generator), torch.rand(3, 12, 3, generator=generator)
        mask, packed = torch.arange(12) < torch.tensor([[12], [5], [0]]), (x.flatten(0, 1), points.flatten(0, 1))
        for options in ({}, {"hard": True}, {"with_replacement": True}):
            sampler = nn.Sampler(DIM, 5, **options).eval()
            for pairs, wanted in ((sampler(x), r"\[3, 12, \.\.\.\]"), (sampler(x, mask=mask), r"\[3, 12, \.\.\.\]"),
                                  (sampler(packed[0], [0, 12, 24, 36]), r"\[36, \.\.\.\]"), (sampler(x[0]), r"\[12, \.\.\.\]")):
                for other in (x[:, :-1], points[:2], torch.rand(99, 3), torch.rand(7), torch.rand(()), packed[1][:-1]):
                    with self.assertRaisesRegex(ValueError, rf"x must have shape {wanted}, got {re.escape(str(list(other.shape)))}"):
                        pairs.sample(other)
                for other in (None, points.tolist(), nn.PointEncoding(points)):
                    self.assertRaisesRegex(TypeError, "x must be a tensor", lambda other=other: pairs.sample(other))
            self.assertRaisesRegex(ValueError, r"packed rows must have shape \[17, ", lambda: sampler(x, mask=mask).sample(packed[1]))
            self.assertEqual(sampler(x, mask=mask).sample(points[mask]).shape[1:], (3,))

        class Sampled(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.sampler = nn.Sampler(DIM, 5)

            def forward(self, x, rows, ptr=None, mask=None):
                return self.sampler(x, ptr, mask=mask).sample(rows)

        sampled, ptr = Sampled().eval(), torch.tensor([0, 12, 17, 36])
        for given in ((x, points), (*packed, ptr), (x, points, None, mask), (x, points[mask], None, mask)):
            compiled = torch.compile(sampled, backend="aot_eager", fullgraph=True)
            torch.testing.assert_close(compiled(*given), sampled(*given))
            program = torch.export.export(sampled, given)
            torch.testing.assert_close(program.module()(*given), sampled(*given))
            torch._dynamo.reset()
        compiled = torch.compile(sampled, backend="aot_eager", fullgraph=True)
        self.assertRaisesRegex(Exception, "shape", lambda: compiled(*packed, ptr) + compiled(packed[0], packed[1][:30], ptr))
        self.assertRaisesRegex(Exception, "x must have shape", lambda: compiled(x, packed[1], None, mask))

    def compare_compiled(self, module, *calls, **options):
        """The module, compiled in one graph with default settings, gives the values and gradients of itself. `calls` are
        pairs of arguments and keywords: the later ones are of other sizes; `options` those of torch.compile."""
        torch._dynamo.reset()
        compiled = torch.compile(module, fullgraph=True, **{"backend": "aot_eager", **options})
        for arguments, keywords in calls:
            results = []
            for one in (module, compiled):
                torch.manual_seed(5)
                module.zero_grad()
                out = one(*arguments, **keywords)
                out.square().sum().backward()
                results.append((out.detach(), *(each.grad.clone() for each in module.parameters() if each.grad is not None)))
            self.assertEqual(*map(len, results))
            for eager, traced in zip(*results):
                torch.testing.assert_close(traced, eager, rtol=1e-4, atol=1e-4)

    def test_backward_pass_with_a_mask_has_the_sizes_of_the_forward_pass(self):
        """It selects no rows by the mask again, whose number would be one more symbol of the trace."""
        operators = []

        def backward(graph, _):
            operators.extend(str(node.target) for node in graph.graph.nodes if node.op == "call_function")
            return make_boxed_func(graph.forward)

        torch._dynamo.reset()
        backend = aot_autograd(fw_compiler=lambda graph, _: make_boxed_func(graph.forward), bw_compiler=backward)
        compiled = torch.compile(nn.SamplingAttention(DIM, **LAYER).train(), backend=backend, fullgraph=True, dynamic=True)
        compiled(torch.randn(3, 12, DIM), mask=torch.arange(12) < torch.tensor([[12], [5], [0]])).sum().backward()
        self.assertTrue(any("index" in one for one in operators), operators)
        self.assertFalse([one for one in operators if any(sized in one for sized in ("masked_select", "nonzero", "masked_scatter", "_local_scalar_dense", "_rows_where", "_sized"))])

    def test_inductor_trains_with_masks(self):
        """The default backend needs every symbol of a size in the graph that it compiles. The partitioner merges equal operations: masks of
        two layers, and of two heads with the same tokens, are equal, but their sizes must stay apart."""

        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = torch.nn.ModuleList(nn.TransformerLayer(DIM, **LAYER) for _ in range(2))
                self.heads = torch.nn.ModuleList((nn.SampleMaxHead(DIM, 3, 5), nn.SampleMaxHead(DIM, 2, 5)))

            def forward(self, x, padding=None, ptr=None):
                given = {"ptr": ptr} if padding is None else {"mask": ~padding}
                for layer in self.layers:
                    x = layer(x, **given)
                return torch.cat([head(x, **given) for head in self.heads], 1)

        padding = torch.arange(12) >= torch.tensor([[12], [5], [0]])
        calls = ((torch.randn(3, 12, DIM), padding), {}), ((torch.randn(2, 9, DIM), padding[:2, :9].contiguous()), {})
        # The random numbers of PyTorch, as without compilation; and no symbols for options such as eps, which cost a second trace.
        with torch._inductor.config.patch(fallback_random=True), torch._dynamo.config.patch(specialize_float=True):
            self.compare_compiled(Model().train(), *calls, backend="inductor", dynamic=True)
            offsets = torch.tensor([0, 12, 17, 36]), torch.tensor([0, 9, 18])  # tensors that layers and heads share
            calls = (((torch.randn(int(ptr[-1]), DIM),), {"ptr": ptr}) for ptr in offsets)
            self.compare_compiled(Model().train(), *calls, backend="inductor", dynamic=True)

    def test_inductor_trains_with_two_samples_of_equal_offsets(self):
        class Sampled(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.scores = torch.nn.Linear(DIM, 2)

            def forward(self, x, ptr):
                pairs = [geosft.sample_pairs(score, 3, ptr)[:3] for score in self.scores(x).unbind(1)]
                return torch.cat([geosft.gather_pairs(x, *pair) * scale for scale, pair in enumerate(pairs, 1)])

        calls = (((torch.randn(int(ptr[-1]), DIM), ptr), {}) for ptr in (torch.tensor([0, 12, 17, 36]), torch.tensor([0, 9, 18])))
        self.compare_compiled(Sampled(), *calls, backend="inductor", dynamic=True)

    def test_molecules_of_16_bits(self):
        edges = torch.tensor([[0, 1, 1, 2, 3, 4], [1, 0, 2, 1, 4, 3]])
        coordinates = torch.rand(5, 3, generator=torch.Generator().manual_seed(7)).mul(1024).round() / 1024  # float32 holds them when moved
        graphs = nn.FeaturedGraphs.from_edges(edges, [0, 3, 5], node_categories=torch.tensor([[0], [1], [0], [1], [1]]), coordinates=coordinates)
        moved = graphs._replace(coordinates=coordinates + 100)
        for dtype in (torch.float16, torch.bfloat16):
            torch.manual_seed(7)
            model = nn.GraphModel(2, DIM, **LAYER, node_vocabulary=[2], distance_channels=3, angles=True).eval()
            expected = model(graphs).detach()
            found = model.to(dtype)(graphs).detach()
            torch.testing.assert_close(found.float(), expected, rtol=0.1, atol=0.1)
            self.assertTrue(torch.equal(model(moved).detach(), found))

    def test_gradients_in_points_and_coordinates(self):
        points, normals = (one[:2, :8].double() for one in dense_clouds())
        for options in ({"tokens": "radial"}, {"tokens": "ppf", "normals": False}, {"tokens": "shape_context"}):
            model = classifier(**options).double().eval()
            given = (points, normals)[: 1 + model.normals]
            with self.subTest(**options):
                self.assertTrue(torch.autograd.gradcheck(
                    lambda *clouds: model(*clouds).sum(), [one.clone().requires_grad_() for one in given], eps=1e-7, atol=1e-6))
        ring = torch.tensor([[0, 1, 2, 3, 4, 5], [1, 2, 0, 4, 5, 3]])
        molecules = nn.FeaturedGraphs.from_edges(ring, [0, 3, 6], node_categories=torch.arange(6).view(6, 1) % 2,
                                                 coordinates=points.flatten(0, 1)[:6])
        for local in ("gcn", "gine", "gated_gcn"):
            energy = nn.GraphModel(1, DIM, **LAYER, depth=2, node_vocabulary=[2], local=local, edge_cutoff=0.9, radial_channels=4,
                                   distance_channels=3, head="sum").double().eval()
            with self.subTest(local=local):
                self.assertTrue(torch.autograd.gradcheck(
                    lambda moved: energy(molecules._replace(coordinates=moved)), (molecules.coordinates.clone().requires_grad_(),), atol=1e-6))

    def test_gradients_of_tokens_in_other_modes(self):
        points, normals = (one[0].double() for one in dense_clouds())
        near = torch.arange(1, 13).view(12, 1) % 12
        for call in (lambda moved: torch.ops.geosft._point_tokens(moved, normals, None, "local"),
                     lambda moved: torch.ops.geosft._point_pair_features(moved, normals, near),
                     lambda moved: nn.message_passing.edge_sum(moved.detach(), nn.EdgeIndex.of(torch.arange(13), near.flatten(), 12), None, moved[:, 0])):
            for transform in (torch.func.jvp, torch.autograd.forward_ad):
                with self.subTest(transform=transform), self.assertRaisesRegex((NotImplementedError, RuntimeError), "forward|jvp"):
                    if transform is torch.func.jvp:
                        torch.func.jvp(call, (points,), (points,))
                    else:
                        with transform.dual_level():
                            call(transform.make_dual(points, points))
        columns = points.t().contiguous().t()  # strided
        backward = torch.ops.geosft._point_tokens_backward.default
        torch.library.opcheck(backward, (torch.rand(12, 19, dtype=torch.double), columns, normals, None, "local"))
        backward = torch.ops.geosft._point_pair_features_backward.default
        torch.library.opcheck(backward, (torch.rand(12, 1, 7, dtype=torch.double), columns, None, near, None))

    def test_compiled_gradients_in_points(self):
        points, normals = dense_clouds()
        for tokens_ in ("local", "ppf"):
            model = classifier(depth=1, tokens=tokens_).eval()
            compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
            found = []
            for one in (model, compiled):
                moved = points.clone().requires_grad_()
                one(moved, normals).square().sum().backward()
                found.append(moved.grad)
            with self.subTest(tokens=tokens_):
                torch.testing.assert_close(found[1], found[0])

    def test_shapes_on_the_meta_device(self):
        layer = nn.TransformerLayer(DIM, **LAYER, device="meta")
        self.assertEqual(layer(torch.empty(2, 10, DIM, device="meta")).shape, (2, 10, DIM))

    def test_operators_with_sizes_of_values(self):
        ops = torch.ops.geosft
        mask, number = torch.tensor([True, False, True, True]), torch.tensor(3)
        self.assertEqual(ops._rows_where(mask, 0).tolist(), [0, 2, 3])
        self.assertEqual(ops._sized(number, 0).shape, (3, 0))
        self.assertEqual((ops._rows_where(mask[:0], 0).shape, ops._sized(number * 0, 0).shape), ((0,), (0, 0)))
        for operator, given in ((ops._rows_where, mask), (ops._sized, number)):
            torch.library.opcheck(operator.default, (given, 0))

    def test_compiled_whole_without_flags(self):
        points, normals = dense_clouds()
        flat = (points.flatten(0, 1), normals.flatten(0, 1))
        mask = torch.arange(12) < torch.tensor([[12], [5], [0]])
        ragged, other = torch.tensor([0, 2, 3, 36]), torch.tensor([0, 5, 30])
        dense, packed, smaller = ((points, normals), {}), ((*flat, ragged), {}), ((flat[0][:30], flat[1][:30], other), {})
        calls = {"radial": [[dense, packed, smaller], [((points, normals), {"mask": mask})], [((*flat, [0, 12, 24, 36]), {}), ((*flat, [0, 2, 3, 36]), {})]],
                 "local": [[packed]], "shape_context": [[packed]], "ppf": [[dense], [packed]], "absolute_local": [[packed]]}
        for tokens_, groups in calls.items():
            for place, group in enumerate(groups):
                for mode in (True, False) if tokens_ != "absolute_local" else (False,):
                    with self.subTest(training=mode, tokens=tokens_, group=place):
                        depth = 2 if tokens_ == "radial" and "mask" not in group[0][1] else 1  # layers are traced alike, whatever the tokens are
                        self.compare_compiled(classifier(depth, tokens=tokens_).train(mode), *group)
        segmenter = nn.PointSegmenter(5, 3, DIM, **LAYER, depth=1).eval()
        self.compare_compiled(segmenter, ((*flat, ragged), {"category": torch.tensor([0, 2, 1])}))

    def test_compiled_graph_models(self):
        """With a tensor as ptr, and with integers."""
        edges = torch.tensor([[0, 1, 1, 2, 3, 4, 4, 0], [1, 0, 2, 1, 4, 3, 3, 2]])
        graphs = nn.FeaturedGraphs.from_edges(edges, [0, 3, 5], node_categories=torch.tensor([[0], [1], [0], [1], [1]]),
                                              edge_categories=torch.arange(8).unsqueeze(1) % 3, coordinates=torch.rand(5, 3))
        self.assertIsInstance(graphs.ptr, torch.Tensor)
        for options in ({}, {"head": "sum"}, {"local": "gine", "virtual_node": True, "head": "mean"}, {"local": "gated_gcn", "normalization": "batch"},
                        {"local": "gcn", "jumping_knowledge": "max"}, {"head": "nodes", "positions": "relative"}, {"score": "dot", "probability": "softmax"},
                        {"distance_channels": 3}, {"distance_channels": 3, "angles": True}, {"head": "class_token", "relative": False}, {"local": "gine", "edge_cutoff": 0.6, "radial_channels": 4}):
            with self.subTest(**options):
                torch.manual_seed(12)
                depth = 2 if not options or options.keys() & {"virtual_node", "jumping_knowledge"} else 1  # these join layers
                model = nn.GraphModel(3, DIM, **LAYER, depth=depth, node_vocabulary=[2], edge_vocabulary=[3], **options)
                for _ in range(40 if "normalization" in options else 0):
                    model(graphs)  # running statistics of these graphs
                self.compare_compiled(model.eval(), ((graphs,), {}))
        self.compare_compiled(model, ((graphs._replace(ptr=[0, 3, 5]),), {}))

    def test_compiled_modules_with_offsets_in_a_tensor(self):
        ptr, whole = torch.tensor([0, 2, 3, 36]), torch.tensor([0, 12, 24, 36])
        points, normals = (one.flatten(0, 1) for one in dense_clouds())
        generator = torch.Generator().manual_seed(6)
        x, clouds_ = torch.randn(36, DIM, generator=generator), nn.PointEncoding(points, normals)
        dense = (torch.randn(3, 12, DIM, generator=generator), nn.PointEncoding(points.view(3, 12, 3), normals.view(3, 12, 3)))
        mask = {"mask": torch.arange(12) < torch.tensor([[12], [5], [0]])}
        ring = torch.arange(36)
        graph = nn.GraphEncoding(torch.arange(37), ring + torch.where(ring % 12 == 11, -11, 1), torch.rand(36, 2, generator=generator))
        sequence = nn.SequenceEncoding(torch.randn(36, 4, generator=generator))

        class Sampled(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.sampler = nn.Sampler(DIM, 5)

            def forward(self, x, ptr):
                return self.sampler(x, ptr).sample(x)

        attentions = [(options, (x, clouds_, ptr)) for options in (
            {**POINTS, "hard": True}, {**POINTS, "with_replacement": True}, {**POINTS, "weighting": "gumbel_softmax"}, {**POINTS, "probability": "softmax"})]
        attentions += [({}, (x, None, ptr)), ({"relative": "graph", "relative_channels": 2}, (x, graph, whole)),
                       ({"relative": "sequence", "relative_channels": 4}, (x, sequence, ptr))]
        cases = [(nn.SamplingAttention(DIM, **LAYER, **options), given, {}) for options, given in attentions]
        cases += [(nn.TransformerLayer(DIM, **POINTS_LAYER), dense, mask), (nn.Encoder(DIM, depth=2, virtual_node=True, **POINTS_LAYER), (x, clouds_, ptr), {}),
                  (Sampled(), (x, ptr), {}), (nn.PolynomialAttention(DIM, HEADS), (x, None, ptr), {})]
        cases += [(nn.PrimalAttention(DIM, HEADS, **options), (x, encoding_, offsets), {}) for options, encoding_, offsets in (
            ({"beta": 0.5, "pool": [1, 2]}, None, ptr), ({"pool": [1, 2], "pooling": "max"}, None, ptr), ({"pool": [1, 2], "pooling": "convolution"}, None, ptr),
            ({"variance": True}, None, ptr), ({"mask": "window", "mask_size": 3, "pool": [1, 2]}, None, ptr), ({"mask": "strided", "mask_size": 0}, None, ptr),
            ({"mask": "block", "mask_size": 3}, None, ptr), ({"mask": "nearest", "mask_size": 3}, clouds_, ptr), ({"mask": "neighbours"}, graph, whole),
            ({"convolution": "sequence", "pool": [2, 1]}, None, ptr), ({"convolution": "grid", "grid": (3, 4)}, None, whole))]
        cases += [(head(DIM, 3), (x, ptr), {}) for head in (nn.SoftmaxPoolHead, nn.SumHead, nn.PooledHead, nn.SampleMaxHead)]
        cases += [(nn.PairHead(DIM, 3), (x, torch.tensor([0, 12, 36])), {}), (nn.TokenHead(DIM, 3), (x,), {}), (nn.PackedBatchNorm(DIM), (x,), {})]
        for module, given, keywords in cases:
            with self.subTest(module=str(module)):
                self.compare_compiled(module, (given, keywords))
        self.assertRaisesRegex(Exception, "ptr must be a sequence.*k_means", lambda: self.compare_compiled(
            nn.PrimalAttention(DIM, HEADS, pool=[1, 2], pooling="k_means"), ((x, None, ptr), {})))
        torch._dynamo.reset()
        gridded = torch.compile(nn.PrimalAttention(DIM, HEADS, convolution="grid", grid=(3, 4)), backend="aot_eager", fullgraph=True)
        self.assertRaisesRegex(RuntimeError, "ptr must have items of 3 x 4 tokens", lambda: gridded(x, None, ptr))

    def test_graph_models_know_no_order_of_nodes_and_standardise(self):
        torch.manual_seed(13)
        edges, size = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]]), 4
        values = torch.rand(size, 2) * 5 + 7
        model = nn.GraphModel(1, DIM, num_heads=2, num_samples=50, depth=2, node_values=2, head="sum", noise=False).double().eval()
        targets = torch.tensor([[3.0], [5.0], [float("nan")]])
        graphs = nn.FeaturedGraphs.from_edges(edges, [0, size], node_values=values.double())
        model.standardize(nn.FeaturedGraphs.from_list([graphs] * 3), targets)
        torch.testing.assert_close(model.node_mean, values.double().mean(0))
        torch.testing.assert_close(model.node_deviation, values.double().std(0, correction=0))
        self.assertEqual((float(model.target_mean), float(model.target_deviation)), (4.0, 1.0))
        order = torch.tensor([2, 0, 3, 1])
        there = nn.FeaturedGraphs.from_edges(order.argsort()[edges], [0, size], node_values=values.double()[order])
        greedy = nn.SamplingContext.greedy()
        expected = model(graphs, sampling=greedy)
        torch.testing.assert_close(model(there, sampling=greedy), expected)
        for unit in (1e-15, 1e20):  # of the values
            other = nn.FeaturedGraphs.from_edges(edges, [0, size], node_values=values.double() * unit)
            model.standardize(nn.FeaturedGraphs.from_list([other] * 3), targets * unit)
            torch.testing.assert_close(model(other, sampling=greedy), expected)
            torch.testing.assert_close(model.target_deviation / unit, torch.ones(1, dtype=torch.double))
        constant = nn.FeaturedGraphs.from_edges(edges, [0, size], node_values=torch.full((size, 2), 0.1).double())
        model.standardize(constant, torch.tensor([[1.7e9]]))
        self.assertEqual(model.node_deviation.tolist(), [1, 1])
        self.assertEqual(float(model.target_deviation), 1)

    def test_sums_over_edges(self):
        """The kernels beside their composition, values and gradients."""
        col = torch.tensor([1, 2, 0, 0, 3, 3, 1])
        index = EdgeIndex.of(torch.tensor([0, 2, 3, 3, 7]), col, 4)
        double = dict(dtype=torch.double, requires_grad=True)
        query, key, value, edge = torch.randn(4, 3, **double), torch.randn(4, 3, **double), torch.randn(4, 3, **double), torch.randn(7, 3, **double)
        scale = torch.rand(7, dtype=torch.double)
        functions = (lambda x, e: edge_sum(x, index, e, scale, True), lambda x, e: edge_sum(x, index, None, scale),
                     lambda x, e: torch.cat(gated_edge_sum(query, x, value, e, index)), lambda x, e: torch.cat(gated_edge_sum(x, key, x, edge, index)))
        for function in functions:
            self.assertTrue(torch.autograd.gradcheck(function, (key, edge)))
            eager = function(key, edge)
            with unittest.mock.patch("torch.compiler.is_compiling", lambda: True):
                torch.testing.assert_close(function(key, edge), eager)

    def test_batch_normalisation_is_that_of_pytorch(self):
        ours, theirs = PackedBatchNorm(3), torch.nn.BatchNorm1d(3)
        for _ in range(3):
            x = torch.randn(9, 3) * 2 + 1
            torch.testing.assert_close(ours(x), theirs(x), rtol=1e-5, atol=1e-5)
        for name in ("running_mean", "running_var"):
            torch.testing.assert_close(getattr(ours, name), getattr(theirs, name))
        torch.testing.assert_close(ours.eval()(x), theirs.eval()(x))
        rare = ours(torch.full((1, 3), 1e6))
        torch.testing.assert_close(rare, (ours.bias + ours.weight * PackedBatchNorm.MAX_NORMALIZED)[None])
        ours.train()(torch.full((2, 3), torch.nan))
        self.assertTrue(ours.running_mean.isfinite().all())

    def test_flipped_signs(self):
        model = nn.GraphModel(2, DIM, **LAYER, encoding=3, signed_encoding=True)
        graphs = nn.FeaturedGraphs.from_edges(torch.zeros(2, 0, dtype=torch.int64), [0, 4, 6], node_encoding=torch.rand(6, 3) + 1)
        seen = [model._signed(graphs, nn.SamplingContext.random(torch.Generator().manual_seed(seed))) for seed in range(9)]
        for one in seen:
            self.assertTrue(torch.equal(one.abs(), graphs.node_encoding))
            signs = one.sign()
            self.assertTrue((signs[:4] == signs[0]).all() and (signs[4:] == signs[4]).all())
        self.assertGreater(len({tuple(one.sign().flatten().tolist()) for one in seen}), 5)
        self.assertTrue(torch.equal(model._signed(graphs, nn.SamplingContext.seeded()), graphs.node_encoding))

    def test_composed_attention_is_the_fused_one(self):
        torch.manual_seed(14)
        x, ptr, points = torch.randn(12, DIM), torch.tensor([0, 7, 7, 8, 12]), torch.rand(12, 3)
        node = torch.arange(12)
        begin = torch.tensor([0] * 7 + [7] + [8] * 4)
        size = torch.tensor([7] * 7 + [1] + [4] * 4)
        col = torch.stack((begin + (node - begin + 1) % size, begin + (node - begin + 2) % size), 1).flatten()
        graph = nn.GraphEncoding(torch.arange(13) * 2, col, torch.rand(24, 3))
        of_points = nn.PointEncoding(points, torch.nn.functional.normalize(torch.randn(12, 3), dim=1))
        encodings = [("none", 0, None), *(("points", channels, of_points) for channels in (2, 4, 5)), ("graph", 3, graph),
                     ("sequence", 4, nn.SequenceEncoding(torch.rand(12, 4)))]
        for kind, channels, relative in encodings:
            with self.subTest(relative=kind, channels=channels):
                module = nn.SamplingAttention(DIM, **LAYER, relative=kind, relative_channels=channels).eval()
                layout = nn.packed.PackedLayout.of_ptr(ptr, 12)
                pairs = module.sampler(x, layout)
                projected = module._project(x, pairs)
                shares = module._probabilities(projected, relative, pairs, layout)
                mixed = nn.composed.composed_attention(shares, projected[2], nn.composed.padded_keys(pairs, layout))
                torch.testing.assert_close(module.output(mixed.reshape(12, DIM)), module(x, relative, ptr), rtol=1e-4, atol=1e-5)

    def test_recorded_attention(self):
        module = nn.TransformerLayer(DIM, **POINTS_LAYER).eval()
        x, relative = torch.randn(12, DIM), nn.PointEncoding(*(one[0] for one in dense_clouds()))
        mixed = []
        handle = module.attention.register_forward_hook(lambda attention, given, out: mixed.append(out))
        with nn.record_attention(module) as layers:
            module(x, relative)
        handle.remove()
        module(x, relative)
        ((shares, pairs),) = layers
        self.assertEqual(shares.shape, (12, 5, HEADS))
        self.assertTrue((shares >= 0).all() and (shares.sum(1) <= 1).all())
        values = module.attention.value(pairs.sample(x)).view(5, HEADS, -1)
        expected = module.attention.output(torch.einsum("nkh,khc->nhc", shares, values).reshape(12, DIM))
        torch.testing.assert_close(mixed[0], expected, rtol=1e-4, atol=1e-5)

    def test_each_layer_has_its_own_attention(self):
        encoder = nn.Encoder(DIM, depth=2, attention=lambda: nn.PrimalAttention(DIM, HEADS, mask="block", mask_size=4))
        self.assertIsNot(encoder.layers[0].attention, encoder.layers[1].attention)
        x = torch.randn(2, 8, DIM)
        flat = encoder(x.flatten(0, 1), None, [0, 8, 16])
        torch.testing.assert_close(encoder(x).flatten(0, 1), flat)
        changed = x.clone()
        changed[:, 4:] += 1  # another block
        torch.testing.assert_close(encoder(changed)[:, :4], encoder(x)[:, :4])

    def test_copies_files_and_types(self):
        points, normals = dense_clouds()
        model = classifier().eval()
        expected = model(points, normals)
        self.assertTrue(torch.equal(copy.deepcopy(model)(points, normals), expected))
        file = io.BytesIO()
        torch.save(model, file)
        file.seek(0)
        self.assertTrue(torch.equal(torch.load(file, weights_only=False)(points, normals), expected))
        wide = copy.deepcopy(model).to(torch.double)
        torch.testing.assert_close(wide(points.double(), normals.double()).float(), expected, rtol=1e-3, atol=1e-3)
        self.assertEqual(classifier(dtype=torch.double).embed.weight.dtype, torch.double)
        with torch.autocast("cpu", torch.bfloat16):
            torch.testing.assert_close(model(points, normals).float(), expected, rtol=0.2, atol=0.2)

    def test_autocast_takes_tokens_and_encodings_of_any_type(self):
        # As behind a torch.nn.Linear, whose result is of the half type while coordinates stay float32.
        x, points = torch.randn(2, 12, DIM), torch.randn(2, 12, 3)
        rowptr, col = torch.arange(13), torch.arange(12).roll(1)
        flat, edges = x[0], torch.randn(12, 1)
        sequence = nn.sinusoids(12, 8).expand(2, -1, -1).contiguous()
        primal = dict(kernel="softmax", beta=0.5)
        cases = {
            "points": (nn.TransformerLayer(DIM, relative="points", relative_channels=1), x, lambda kind: (nn.PointEncoding(points.to(kind)),)),
            "graph": (nn.TransformerLayer(DIM, relative="graph", relative_channels=1), flat, lambda kind: (nn.GraphEncoding(rowptr, col, edges.to(kind)),)),
            "sequence": (nn.Encoder(DIM, depth=2, relative="sequence", relative_channels=8), x, lambda kind: (nn.SequenceEncoding(sequence.to(kind)),)),
            "attention": (nn.SamplingAttention(DIM, relative="points", relative_channels=1), x, lambda kind: (nn.PointEncoding(points.to(kind)),)),
            "primal": (nn.PrimalAttention(DIM, **primal), x, lambda kind: ()),
            "primal, learned": (nn.PrimalAttention(DIM, learn_beta=True, kernel="linear"), x, lambda kind: ()),
            "head": (nn.SoftmaxPoolHead(DIM, 3), x, lambda kind: ()),
        }
        for name, (module, tokens, encoding) in cases.items():
            module.eval()
            expected = module(tokens, *encoding(torch.float32)).detach()
            for half in (torch.bfloat16, torch.float16):
                for of_tokens in (torch.float32, half):
                    for of_encoding in (torch.float32, half, torch.float64):
                        with self.subTest(name=name, half=half, of_tokens=of_tokens, of_encoding=of_encoding):
                            given = tokens.to(of_tokens).clone().requires_grad_(True)
                            with torch.autocast("cpu", half):
                                found = module(given, *encoding(of_encoding))
                            self.assertEqual(found.shape, expected.shape)
                            # Rounding of the scores changes samples: what is compared is the scale alone.
                            self.assertLess((found.detach().float() - expected).norm(), expected.norm())
                            found.float().square().sum().backward()
                            self.assertTrue(given.grad.isfinite().all() and given.grad.abs().sum() > 0)
            with self.subTest(name=name, without="autocast"), self.assertRaisesRegex((ValueError, RuntimeError), "dtype"):
                module(tokens.double(), *encoding(torch.float32))
        model = nn.PointClassifier(3, DIM, normals=False).eval()
        expected = model(points)
        for kind in (torch.bfloat16, torch.float16, torch.float64):
            with self.subTest(kind=kind), torch.autocast("cpu", torch.bfloat16):
                self.assertEqual(model(points.to(kind)).shape, expected.shape)
        sampler = nn.Sampler(DIM, 4)
        with torch.autocast("cpu", torch.bfloat16):
            pairs = sampler(x.bfloat16())
            self.assertEqual(pairs.sample(points).dtype, torch.float32)
            self.assertEqual(pairs.sample(x.bfloat16()).dtype, torch.bfloat16)

    def test_a_step_with_gradients_that_overflow_is_skipped(self):
        layer, x = nn.TransformerLayer(DIM, **LAYER), torch.randn(3, 12, DIM)
        scaler, optimizer = torch.amp.GradScaler("cpu", init_scale=2.0**126), torch.optim.SGD(layer.parameters(), 1e-2)
        before = [one.detach().clone() for one in layer.parameters()]
        scaler.scale(1e3 * layer(x).square().sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        self.assertEqual(scaler.get_scale(), 2.0**125)
        self.assertTrue(all(map(torch.equal, before, layer.parameters())))
        self.assertTrue(layer(x).isfinite().all())

    def test_checkpointed_gradients(self):
        points, normals = dense_clouds()
        layer = nn.TransformerLayer(DIM, **POINTS_LAYER, dropout=0.1)
        x = torch.randn(3, 12, DIM)
        gradients = []
        for checkpointed in (False, True):
            torch.manual_seed(6)
            layer.zero_grad()
            relative = nn.PointEncoding(points, normals)
            out = torch.utils.checkpoint.checkpoint(layer, x, relative, use_reentrant=False) if checkpointed else layer(x, relative)
            out.square().sum().backward()
            gradients.append([parameter.grad.clone() for parameter in layer.parameters()])
        for plain, checkpointed in zip(*gradients):
            self.assertTrue(torch.equal(plain, checkpointed))

    def test_data_parallel(self):
        points, normals = dense_clouds()
        kinds = [dict(score=score, probability=probability) for score in ("maxout", "dot") for probability in ("leaky_relu", "softmax")]
        with tempfile.TemporaryDirectory() as folder:
            torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/store", rank=0, world_size=1)
            try:
                for options in (*kinds, {"hard": True}, {"weighting": "gumbel_softmax"}, {"with_replacement": True}, {"tokens": "ppf"}):
                    with self.subTest(**options):
                        model = classifier(**options).eval()
                        parallel = torch.nn.parallel.DistributedDataParallel(model)
                        self.assertTrue(torch.equal(parallel(points, normals), model(points, normals)))
                        for _ in range(2):  # the second forward pass asks for the gradients of the first backward pass
                            parallel(points, normals).square().sum().backward()
                        self.assertTrue(all(one.grad is not None for one in model.parameters() if one.requires_grad))
                        frozen = {name for name, one in model.named_parameters() if not one.requires_grad}
                        leaks = {f"layers.{layer}.attention.leak.{part_}" for layer in range(2) for part_ in ("weight", "bias")}
                        self.assertEqual({name.removeprefix("encoder.") for name in frozen}, leaks if options.get("probability") == "softmax" else set())
            finally:
                torch.distributed.destroy_process_group()

    def test_random_numbers(self):
        points, normals = dense_clouds()
        model = classifier().train()
        passes = [model(points, normals, sampling=nn.SamplingContext.random(torch.Generator().manual_seed(seed))) for seed in (1, 1, 2)]
        self.assertTrue(torch.equal(passes[0], passes[1]))
        self.assertFalse(torch.equal(passes[0], passes[2]))
        model.eval()
        votes = [model(points, normals, sampling=nn.SamplingContext.seeded(vote)) for vote in (0, 1)]
        self.assertTrue(torch.equal(votes[0], model(points, normals)))
        self.assertFalse(torch.equal(*votes))
        greedy = [model(points, normals, sampling=nn.SamplingContext.greedy()) for _ in range(2)]
        self.assertTrue(torch.equal(*greedy))

    def test_predictions_do_not_depend_on_the_pose(self):
        points, normals = (one.double() for one in dense_clouds())
        rotation = torch.linalg.qr(torch.randn(3, 3, dtype=torch.double, generator=torch.Generator().manual_seed(7)))[0]
        for tokens_ in ("local", "ppf"):
            model = classifier(tokens=tokens_).double().eval()
            torch.testing.assert_close(model(points @ rotation + 5, normals @ rotation), model(points, normals))

    def test_it_learns(self):
        """Balls and shells of two kinds are told apart after a few steps."""
        generator = torch.Generator().manual_seed(8)
        label = torch.arange(32) % 2
        points = torch.nn.functional.normalize(torch.randn(32, 48, 3, generator=generator), dim=-1)
        radius = torch.rand(32, 48, 1, generator=generator) ** (1 / 3)
        points = torch.where((label == 1)[:, None, None], points * radius, points)
        torch.manual_seed(9)
        model = nn.PointClassifier(2, DIM, num_heads=2, num_samples=8, depth=2, normals=False, head_samples=16)
        optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
        for _ in range(60):
            loss = torch.nn.functional.cross_entropy(model(points), label)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        self.assertEqual(int((model.eval()(points).argmax(1) == label).sum()), 32)


class BadInput(unittest.TestCase):
    def refuses(self, call, *words, error=(ValueError, TypeError, RuntimeError)):
        with self.assertRaises(error) as raised:
            call()
        for word in words:
            self.assertIn(word, str(raised.exception))

    def test_errors_on_arrays_name_the_argument_and_the_function_that_makes_a_tensor(self):
        array = type("ndarray", (), {"shape": (9, 16), "dim": lambda self: 2})()  # NumPy need not be there
        x, points = torch.rand(9, 16), nn.TransformerLayer(16, 2, 3, relative="points", relative_channels=1)
        for name, call in (("x", lambda: nn.TransformerLayer(16, 2, 3)(array)), ("x", lambda: nn.Sampler(16, 3)(x).sample(array)),
                           ("coordinates", lambda: points(x, nn.PointEncoding(array))), ("points", lambda: nn.farthest_point_order(array)),
                           ("mask", lambda: nn.SoftmaxPoolHead(16, 2)(x[None], mask=array)),
                           ("squared_distance", lambda: nn.distance_features(array, 3, 1.0)),
                           ("rowptr", lambda: nn.EdgeIndex.of(array, torch.zeros(0, dtype=torch.int64), 8))):
            with self.subTest(name=name):
                self.refuses(call, name, "got ndarray: torch.from_numpy makes a tensor of it")

    def test_constructors_name_the_argument(self):
        self.refuses(lambda: nn.SamplingAttention(16, 3), "num_heads", "16", "3")
        self.refuses(lambda: nn.SamplingAttention(16, 0), "num_heads")
        self.refuses(lambda: nn.SamplingAttention(16, 2, relative="point"), "relative", "points", "graph", "sequence")
        self.refuses(lambda: nn.SamplingAttention(16, 2, relative="points"), "relative_channels")
        self.refuses(lambda: nn.SamplingAttention(16, 2, relative="points", relative_channels=3), "relative_channels")
        for kind, options in ((nn.SamplingAttention, {}), (nn.TransformerLayer, {}), (nn.Encoder, {"depth": 2})):
            self.refuses(lambda: kind(16, 2, relative_channels=2, **options), "relative_channels must be 0 without a relative encoding", "got 2", error=ValueError)
        self.refuses(lambda: nn.PointClassifier(4, relative="angle"), "relative", "paper", "angles")
        self.refuses(lambda: nn.PointClassifier(4, relative="angles", normals=False), "relative", "normals")
        self.refuses(lambda: nn.PointSegmenter(4, chirality=True), "chirality", "angles")
        self.refuses(lambda: nn.SamplingAttention(16, 2, score_dropout=1.0), "score_dropout")
        self.refuses(lambda: nn.SamplingAttention(16, 2, score="cosine"), "score", "maxout", "dot")
        self.refuses(lambda: nn.SamplingAttention(16, 2, probability="relu"), "probability", "leaky_relu", "softmax")
        self.refuses(lambda: nn.Sampler(16, 0), "num_samples")
        self.refuses(lambda: nn.TransformerLayer(16, 2, with_replacement=True, noise=False), "noise must be True with with_replacement", "greedy", error=ValueError)
        self.refuses(lambda: nn.Sampler(16, tau=0.0), "tau")
        self.refuses(lambda: nn.Sampler(16, weighting="softmax"), "weighting")
        self.refuses(lambda: nn.PolynomialAttention(16, 2, -1), "degree")
        self.refuses(lambda: nn.PolynomialAttention(16, 2, tolerance=-0.1), "tolerance", "-0.1")
        self.refuses(lambda: nn.PolynomialAttention(16, 2, tolerance=0.1, max_monomials=0), "max_monomials", "0")
        self.refuses(lambda: nn.PolynomialAttention(16, 2, tolerance=0.01, max_monomials=1)(torch.rand(3, 16)), "max_monomials 1")
        self.refuses(lambda: nn.PrimalAttention(16, 2, kernel="cosine"), "kernel")
        self.refuses(lambda: nn.PrimalAttention(16, 2, pool=[1]), "pool")
        self.refuses(lambda: nn.PrimalAttention(16, 2, mask="band"), "mask", "window")
        self.refuses(lambda: nn.PrimalAttention(16, 2, mask="block", mask_size=0), "mask_size", "0")
        self.refuses(lambda: nn.PrimalAttention(16, 2, mask="window", kernel="linear"), "mask", "linear")
        self.refuses(lambda: nn.PrimalAttention(16, 2, mask="window", pool=[1, 2], pooling="k_means"), "pooling", "k_means")
        self.refuses(lambda: nn.PrimalAttention(16, 2, pooling="median"), "pooling", "average")
        self.refuses(lambda: nn.PrimalAttention(16, 2, convolution="grid"), "grid")
        self.refuses(lambda: nn.PrimalAttention(16, 2, convolution="grid", grid=(2, 2), pool=[1, 2]), "pool", "grid")
        self.refuses(lambda: nn.PrimalAttention(16, 2, convolution="line"), "convolution", "sequence")
        self.refuses(lambda: nn.PrimalAttention(16, 2, convolution="sequence", convolution_size=0), "convolution_size")
        self.refuses(lambda: nn.PrimalAttention(16, 2, variance=True, beta=0.5), "beta", "variance")
        self.refuses(lambda: nn.PrimalAttention(16, 2, share_beta=True), "share_beta")
        self.refuses(lambda: nn.PrimalAttention.options_of("cosine", 2), "name", "softmax")
        self.refuses(lambda: nn.Encoder(16, 2, depth=0), "depth")
        self.refuses(lambda: nn.TransformerLayer(16, 2, attention=nn.PrimalAttention(16, 2), relative="points"), "relative")
        for given, found in ((nn.PrimalAttention, "got <class 'geosft.nn.primal.PrimalAttention'>"), (lambda: "softmax", "got one that makes str")):
            self.refuses(lambda: nn.TransformerLayer(16, 2, attention=given), "attention must be a", "that makes", found, error=TypeError)
        self.refuses(lambda: nn.PointClassifier(1), "num_classes")
        self.refuses(lambda: nn.PointClassifier(3, tokens="global"), "tokens", "absolute_local")
        self.refuses(lambda: nn.PointSegmenter(1), "num_parts")
        self.refuses(lambda: nn.GraphModel(0), "out_features", "0")
        self.refuses(lambda: nn.GraphModel(2, head="median"), "head", "softmax_pool")
        self.refuses(lambda: nn.GraphModel(2, head="pairs"), "head", "documents")
        self.refuses(lambda: nn.GraphModel(2, positions="learnt"), "positions", "relative")
        self.refuses(lambda: nn.GraphModel(2, positions="learned"), "places", "0")
        self.refuses(lambda: nn.GraphModel(2, head="class_token"), "head", "class_token", "edges")
        self.refuses(lambda: nn.GraphModel(2, node_values=-1), "node_values")
        self.refuses(lambda: nn.distance_features(torch.ones(2), 0, 1.0), "channels")
        self.refuses(lambda: nn.distance_features(torch.ones(2), 2, 0.0), "range")
        self.refuses(lambda: nn.SamplingContext("other"), "mode")
        self.refuses(lambda: nn.SamplingContext.seeded(-1), "vote")

    def test_inputs_name_the_argument(self):
        points, normals = dense_clouds()
        x = torch.randn(3, 12, DIM)
        attention_ = nn.SamplingAttention(DIM, **POINTS_LAYER)
        relative = nn.PointEncoding(points, normals)
        self.refuses(lambda: attention_(x[..., 1:], relative), "x", "16", "15")
        self.refuses(lambda: attention_(x[0, 0], relative), "x", "16")
        self.refuses(lambda: attention_(x), "relative", "PointEncoding")
        self.refuses(lambda: attention_(x, nn.PointEncoding(points)), "normals must be given", "relative_channels=2")
        alone = nn.SamplingAttention(DIM, **LAYER, relative="points", relative_channels=1)
        self.refuses(lambda: alone(x, relative), "normals must be None", "relative_channels=1")
        self.refuses(lambda: attention_(x, relative, [0, 12]), "ptr")
        plain = nn.SamplingAttention(DIM, **LAYER)
        for offsets, found in (([0, 9.7, 36], "9.7 at place 1"), ([0.0, 36.0], "0.0 at place 0"), ([0, True, 36], "True at place 1"), ("0", "got str"), (36, "got int")):
            self.refuses(lambda: plain(x.flatten(0, 1), None, offsets), "ptr must be int64 [B + 1] or a sequence of integers", found, error=TypeError)
        mask, packed = torch.ones(3, 12, dtype=torch.bool), x.flatten(0, 1)
        for module in (attention_, nn.SamplingAttention(DIM, **LAYER), nn.TransformerLayer(DIM, **LAYER), nn.Encoder(DIM, **LAYER), nn.PolynomialAttention(DIM, HEADS)):
            self.refuses(lambda: module(x, mask), "relative must be", "got Tensor: give a mask by its name, mask=", error=TypeError)
            self.refuses(lambda: module(packed, torch.tensor([0, 12, 36])), "relative must be", "by their name, ptr=", error=TypeError)
            self.refuses(lambda: module(packed, [0, 12, 36]), "relative must be", "by their name, ptr=", error=TypeError)
            self.refuses(lambda: module([[0.0] * DIM]), "relative" if module is attention_ else "x must be a tensor, got list", error=TypeError)
        for module in (nn.Sampler(DIM), nn.SoftmaxPoolHead(DIM, 2), nn.SampleMaxHead(DIM, 2)):
            self.refuses(lambda: module(x, mask), "ptr must be int64", "by its name, mask=", error=TypeError)
        self.refuses(lambda: attention_(x, relative, mask=torch.ones(3, 11, dtype=torch.bool)), "mask", "[3, 12]")
        self.refuses(lambda: attention_(x, relative, mask=torch.ones(3, 12)), "mask", "bool")
        self.refuses(lambda: attention_(x[0], nn.PointEncoding(points[0], normals[0]), mask=torch.ones(3, 12)), "mask")
        self.refuses(lambda: attention_(x[0], nn.PointEncoding(points[0], normals[0]), torch.tensor([0, 13])), "ptr")
        self.refuses(lambda: attention_(x[0], nn.PointEncoding(points[0], normals[0]), torch.tensor([0.0, 12.0])), "ptr")
        self.refuses(lambda: classifier()(points), "normals")
        self.refuses(lambda: classifier()(points, normals[:2]), "normals")
        self.refuses(lambda: classifier()(points[..., :2], normals[..., :2]), "points", "3")
        self.refuses(lambda: classifier()(points[..., :2], normals), "points must have shape [N, 3] or [B, N, 3], got [3, 12, 2]")
        self.refuses(lambda: classifier()(torch.cat((points, normals), 2)), "points", "give coordinates and normals apart")
        self.refuses(lambda: classifier()(points.flatten(0, 1), [0, 12, 36]), "normals", "ptr=")
        self.refuses(lambda: classifier()(points.flatten(0, 1), torch.tensor([0, 12, 36])), "normals", "ptr=")
        segmenter = nn.PointSegmenter(5, 3, DIM, **LAYER)
        self.refuses(lambda: segmenter(points, normals), "category must be given exactly", "got none")
        self.refuses(lambda: segmenter(points, normals, category=torch.tensor([0, 1, 3])), "category must lie in [0, 3)", "from 0 to 3")
        without = nn.PointSegmenter(5, 0, DIM, **LAYER)
        self.refuses(lambda: without(points, normals, category=torch.tensor([0, 1, 2])), "category must be given exactly", "num_categories")
        self.refuses(lambda: segmenter(points, normals, category=torch.tensor([0, 1])), "category", "[3]")

    def test_numbers_that_are_not_finite_name_the_argument(self):
        points, normals = dense_clouds()
        x = torch.randn(3, 12, DIM)
        x[1, 4, 2], x[2, 0] = float("nan"), float("inf")
        mask = torch.ones(3, 12, dtype=torch.bool)
        mask[2, 0] = False
        ragged = mask.clone()
        ragged[0, ::2] = False
        for module in (nn.Sampler(DIM, 5), nn.SamplingAttention(DIM, **LAYER), nn.TransformerLayer(DIM, **LAYER), nn.Encoder(DIM, **LAYER, depth=2)):
            for mode in (True, False):
                module.train(mode)
                self.refuses(lambda: module(x), "x, the tokens, must be finite", "2 of 36 rows", "row 16, which is [item, token] [1, 4]", error=ValueError)
                self.refuses(lambda: module(x, mask=mask), "x, the tokens", "1 of 35 rows", "row 16 of x[mask], which is [item, token] [1, 4]", error=ValueError)
                self.refuses(lambda: module(x, mask=ragged), "x, the tokens", "1 of 29 rows", "row 10 of x[mask], which is [item, token] [1, 4]", error=ValueError)
        encoder = nn.Encoder(DIM, **LAYER, depth=2)
        torch.nn.init.constant_(encoder.layers[0].attention.query.weight, float("nan"))
        self.refuses(lambda: encoder(torch.ones(9, DIM)), "x, the tokens, must be finite", "one of its parameters is not", error=ValueError)
        sampler = nn.Sampler(DIM, 5)
        torch.nn.init.constant_(sampler.projection.weight, float("inf"))
        self.refuses(lambda: sampler(torch.ones(9, DIM)), "scores x W_S + b_S", "tokens x are finite", "weights of the sampler", error=ValueError)
        for name, place in (("points", 0), ("normals", 1)):
            given = [points.clone(), normals.clone()]
            given[place][1, 3, 2] = float("nan")
            for mode in (True, False):
                for model in (classifier().train(mode), nn.PointSegmenter(5, 0, DIM, **LAYER).train(mode)):
                    self.refuses(lambda: model(*given), f"{name} must be finite", "1 of 36 rows", "row 15", error=ValueError)
            field = ("coordinates", "normals")[place]
            for module in (nn.SamplingAttention(DIM, **POINTS_LAYER), nn.TransformerLayer(DIM, **POINTS_LAYER), nn.Encoder(DIM, **POINTS_LAYER)):
                encoded, flat_ = nn.PointEncoding(*given), nn.PointEncoding(*(one.flatten(0, 1) for one in given))
                whole = torch.ones(3, 12, DIM)
                self.refuses(lambda: module(whole, encoded), f"{field} must be finite", "row 15, which is [item, token] [1, 3]", error=ValueError)
                self.refuses(lambda: module(whole, encoded, mask=ragged), f"{field} must be finite", "row 9 of x[mask]", "[1, 3]", error=ValueError)
                self.refuses(lambda: module(whole.flatten(0, 1), flat_, [0, 12, 36]), f"{field} must be finite", "first of them row 15", error=ValueError)

    def test_clouds_whose_squares_overflow_are_refused(self):
        for model in (classifier(), nn.PointSegmenter(5, 0, DIM, **LAYER)):
            points, normals = torch.rand(3, 12, 3), torch.nn.functional.normalize(torch.rand(3, 12, 3), dim=2)
            limit = torch.finfo(torch.float32).max ** 0.25
            self.assertTrue(model(points / points.max() * (0.999 * limit), normals).isfinite().all())
            for scale in (1.001 * limit, 1e15, 1e20):
                self.refuses(lambda: model(points / points.max() * scale, normals), "points must be at most 4.3e+09 in size", "unit ball", error=ValueError)
            double = model.double()
            self.assertTrue(double(points.double() / points.max() * 1e77, normals.double()).isfinite().all())
            self.refuses(lambda: double(points.double() * 1e78, normals.double()), "points must be at most 1.2e+77", error=ValueError)

    def test_encodings_have_a_row_per_token(self):
        x, series = torch.rand(2, 9, 16), nn.TransformerLayer(16, 2, 3, relative="sequence", relative_channels=4)
        self.refuses(lambda: series(x, nn.SequenceEncoding(torch.rand(9, 4))),
                     "positions must begin with the shape [2, 9] of x", "got [9, 4]: positions.expand(2, -1, -1)", error=ValueError)
        clouds = nn.TransformerLayer(16, 2, 3, relative="points", relative_channels=1)
        self.refuses(lambda: clouds(x, nn.PointEncoding(torch.rand(18, 3))), "coordinates must begin", "got [18, 3]", error=ValueError)

    def test_edges_stay_in_their_graph(self):
        edges = torch.tensor([[0, 1, 3, 4], [1, 0, 4, 3]])
        graphs = nn.FeaturedGraphs.from_edges(edges, [0, 3, 5], node_categories=torch.zeros(5, 1, dtype=torch.int64))
        model = nn.GraphModel(1, 16, 2, 3, depth=1, node_vocabulary=[1], local="gcn")
        model(graphs)
        apart = graphs._replace(col=torch.where(graphs.col == 0, 4, graphs.col))
        self.refuses(lambda: model(apart), "rowptr and col must join nodes of the same graph", "edge 1, [1, 4], joins graphs 0 and 1", error=ValueError)

    def test_schemas_have_all_keys(self):
        self.refuses(lambda: geosft.read_graphs(["CCO"], {"node_values": 0}), "schema must have node_vocabulary, edge_vocabulary, edge_values, coordinates",
                     error=ValueError)

    def test_graphs_name_the_argument(self):
        edges, ptr = torch.tensor([[0, 1, 3], [1, 0, 4]]), torch.tensor([0, 3, 5])
        self.refuses(lambda: nn.FeaturedGraphs.from_edges(edges + 1, ptr), "edge_index", "4")
        self.refuses(lambda: nn.FeaturedGraphs.from_edges(edges, ptr, x=torch.rand(5, 2)), "x is no field", "node_values", error=TypeError)
        self.refuses(lambda: nn.FeaturedGraphs.from_edges(edges, ptr, edge_attr=torch.rand(3, 2)), "edge_attr is no field", "edge_values", error=TypeError)
        self.refuses(lambda: nn.FeaturedGraphs.from_edges(edges[:, :2], torch.tensor([0, 0, 0, 1, 1])), "looks like the item of each row", error=ValueError)
        self.refuses(lambda: nn.FeaturedGraphs.from_edges(edges.T, ptr), "edge_index", "[3, 2]")
        between = torch.tensor([[0, 1, 2], [1, 3, 4]])
        self.refuses(lambda: nn.FeaturedGraphs.from_edges(between, [0, 3, 3, 5]), "edge_index must join", "edge 1, [1, 3], joins graphs 0 and 2", error=ValueError)
        self.refuses(lambda: nn.FeaturedGraphs.from_edges(edges, ptr.float()), "ptr", "int64")
        self.refuses(lambda: nn.FeaturedGraphs.from_edges(edges, ptr, edge_values=torch.ones(2, 1)), "edge_values must have shape [3, columns]", "[2, 1]")
        batch = torch.tensor([0, 0, 0, 1, 1])
        for nodes in ({}, {"node_values": torch.rand(5, 2)}):
            self.refuses(lambda: nn.FeaturedGraphs.from_edges(edges, batch, **nodes), "ptr must be the offsets of the graphs", "looks like the item of each row", "bincount")
        for name, rows, shape in (("node_values", torch.rand(4, 2), "[5, columns]"), ("node_categories", torch.zeros(5, dtype=torch.int64), "[5, columns]"),
                                  ("coordinates", torch.rand(5, 2), "[5, 3]"), ("graph_features", torch.rand(5, 1), "[2, columns]"),
                                  ("edge_values", torch.rand(3), "[3, columns]"), ("weight", torch.rand(3, 1), "[3]")):
            self.refuses(lambda: nn.FeaturedGraphs.from_edges(edges, ptr, **{name: rows}), f"{name} must have shape {shape}", error=ValueError)
        for name, rows in (("node_categories", torch.rand(5, 1)), ("edge_categories", torch.ones(3, 1, dtype=torch.bool))):
            self.refuses(lambda: nn.FeaturedGraphs.from_edges(edges, ptr, **{name: rows}), f"{name} must be integers, got {rows.dtype}", error=ValueError)
        graphs = nn.FeaturedGraphs.from_edges(edges, ptr, node_categories=torch.tensor([[0], [1], [2], [1], [0]]), edge_values=torch.rand(3, 1),
                                              node_values=torch.rand(5, 2), coordinates=torch.rand(5, 3))
        model = nn.GraphModel(2, DIM, **LAYER, node_vocabulary=[3], node_values=2, edge_values=1, distance_channels=3)
        self.assertEqual(model(graphs).shape, (2, 2))
        self.refuses(lambda: model((edges, ptr)), "graphs", "FeaturedGraphs")
        self.refuses(lambda: model(types.SimpleNamespace(edge_index=edges)), "graphs must be FeaturedGraphs", "geosft.pyg.from_data", error=TypeError)
        self.refuses(lambda: model(graphs._replace(edge_values=torch.rand(3))), "edge_values must have shape [3, 1], got [3]", error=ValueError)
        for name, place in (("node_values", "row 4"), ("coordinates", "row 4"), ("edge_values", "row 2")):
            rows = getattr(graphs, name).clone()
            rows[-1, 0] = float("nan")
            self.refuses(lambda: model(graphs._replace(**{name: rows})), f"{name} must be finite", f"in 1 of {len(rows)} rows", place, error=ValueError)
        for name in ("node_vocabulary", "edge_vocabulary"):
            self.refuses(lambda: nn.GraphModel(2, DIM, **LAYER, **{name: 3}), f"{name} must be a sequence, such as [3], got int", error=TypeError)
        for options in ({"pool": 2}, {"convolution": "grid", "grid": 3}):
            self.refuses(lambda: nn.PrimalAttention(DIM, HEADS, **options), f"{list(options)[-1]} must be a sequence", error=TypeError)
        for given, words in (((graphs._replace(node_values=torch.rand(5, 3)),), ("node_values must have 2 columns",)),
                             ((graphs._replace(node_values=None),), ("node_values must have 2 columns", "got 0")),
                             ((graphs, torch.rand(2)), ("targets must be real numbers of shape [2, 2], got torch.float32 [2]",)),
                             ((graphs, torch.rand(5, 2)), ("targets", "[2, 2]", "[5, 2]")), ((graphs, [[1.0, 2.0]]), ("targets must be a",)), ((graphs, torch.full((2, 2), float("inf"))), ("targets must be finite",)),
                             (((edges, ptr),), ("graphs must be FeaturedGraphs",))):
            self.refuses(lambda: model.standardize(*given), *words, error=(ValueError, TypeError))
        self.refuses(lambda: nn.FeaturedGraphs.from_edges(edges, ptr, node_values=[[0.5]] * 5), "node_values must be a tensor or None, got list", error=TypeError)
        self.assertEqual(nn.FeaturedGraphs.from_edges(edges[:, :0], [0]).rowptr.tolist(), [0])
        self.refuses(lambda: nn.Sampler(DIM, 3)(torch.rand(5, DIM), batch), "ptr must rise from 0 to the number of rows, 5", "looks like the item of each row")
        self.assertEqual(nn.GraphModel(2, DIM, 2, node_vocabulary=[3], node_values=2, edge_values=1, attention=None)(graphs).shape, (2, 2))
        sizes = "looks like the sizes of the items: their offsets are [0, 3, 5]"
        with self.assertRaisesRegex(ValueError, r"ptr must rise from 0 to the number of nodes, got \[3, 5\]$"):  # the first 0 is missing
            nn.FeaturedGraphs.from_edges(edges, [3, 5])
        self.refuses(lambda: nn.FeaturedGraphs.from_edges(edges, [3, 2], node_values=torch.rand(5, 2)), "ptr must rise from 0", sizes)
        self.refuses(lambda: nn.Sampler(DIM, 3)(torch.rand(5, DIM), torch.tensor([3, 2])), "ptr must rise from 0 to the number of rows, 5", sizes)
        self.refuses(lambda: nn.Sampler(DIM, 3)(torch.rand(5, DIM), [3, 1]), "got [3, 1]")
        of_categories = nn.GraphModel(2, DIM, **LAYER, node_vocabulary=[3])
        hot = graphs._replace(node_categories=None, node_values=torch.eye(3)[[0, 1, 2, 1, 0]])
        self.refuses(lambda: of_categories(hot), "node_categories must have 1 columns", "got 0: node_values are numbers", "rows.argmax(1, keepdim=True)")
        of_numbers = nn.GraphModel(2, DIM, **LAYER, node_values=1)
        self.refuses(lambda: of_numbers(graphs._replace(node_values=None)), "node_categories must have 0 columns", "got 1: node_categories are integers",
                     "integers too, go into node_values")
        for name in ("node_categories", "node_values", "edge_values", "coordinates"):
            self.refuses(lambda: model(graphs._replace(**{name: None})), name, "0")
            self.refuses(lambda: model(graphs._replace(**{name: getattr(graphs, name)[:-1]})), name, "rows")
        self.refuses(lambda: model(graphs._replace(node_categories=graphs.node_categories + 1)), "node_categories", "[3]")
        self.refuses(lambda: model(graphs._replace(node_categories=graphs.node_categories - 1)), "node_categories", "-1")
        self.refuses(lambda: model(graphs._replace(node_categories=graphs.node_categories.float())), "node_categories", "integers")
        self.refuses(lambda: model(graphs._replace(ptr=torch.tensor([0, 4]))), "ptr")
        self.refuses(lambda: nn.PrimalAttention(DIM, HEADS, mask="nearest")(torch.rand(5, DIM)), "relative", "coordinates")
        self.refuses(lambda: nn.PrimalAttention(DIM, HEADS, mask="neighbours")(torch.rand(5, DIM)), "relative", "GraphEncoding")
        grid = nn.PrimalAttention(DIM, HEADS, convolution="grid", grid=(2, 3))
        self.refuses(lambda: grid(torch.rand(5, DIM)), "ptr", "2 x 3", "5")

    def test_a_list_of_graphs_becomes_one_batch(self):
        edges = torch.tensor([[0, 1, 3, 4, 2], [1, 0, 4, 3, 2]])
        fields = {"node_values": torch.rand(5, 2), "graph_features": torch.rand(2, 3)}
        of_edges = {"edge_categories": torch.arange(5).view(5, 1), "weight": torch.rand(5)}
        two = nn.FeaturedGraphs.from_edges(edges, [0, 3, 5], **of_edges, **fields)
        one = nn.FeaturedGraphs.from_edges(edges[:, :2], [0, 2], edge_categories=torch.ones(2, 1).long(), weight=torch.rand(2), node_values=torch.rand(2, 2),
                                           graph_features=torch.rand(1, 3))._replace(ptr=[0, 2])
        empty = nn.FeaturedGraphs.from_edges(edges[:, :0], [0, 0], edge_categories=torch.ones(0, 1).long(), weight=torch.rand(0), node_values=torch.rand(0, 2),
                                             graph_features=torch.rand(1, 3))
        for parts in ([two], [two, one], [one, empty, two], (one, two, one, two)):
            begins = torch.tensor([0] + [len(part.rowptr) - 1 for part in parts]).cumsum(0).tolist()
            source = [torch.repeat_interleave(torch.arange(len(part.rowptr) - 1), part.rowptr.diff()) + begin for part, begin in zip(parts, begins)]
            index = torch.stack((torch.cat(source), torch.cat([part.col + begin for part, begin in zip(parts, begins)])))
            ptr = [0, *(offset + begin for part, begin in zip(parts, begins) for offset in torch.as_tensor(part.ptr)[1:].tolist())]
            joined = {name: torch.cat([getattr(part, name) for part in parts]) for name in (*fields, *of_edges)}
            expected = nn.FeaturedGraphs.from_edges(index, ptr, **joined)
            for name, found, wanted in zip(expected._fields, nn.FeaturedGraphs.from_list(parts), expected):
                self.assertTrue(found is wanted is None or torch.equal(found, wanted), name)
        loader = torch.utils.data.DataLoader([one, two, one], batch_size=2, collate_fn=nn.FeaturedGraphs.from_list)
        self.assertEqual([batch.ptr.tolist() for batch in loader], [[0, 2, 5, 7], [0, 2]])
        model = nn.GraphModel(2, DIM, **LAYER, node_values=2, edge_vocabulary=[5], graph_features=3).eval()
        torch.testing.assert_close(model(nn.FeaturedGraphs.from_list([one, two])), torch.cat((model(one), model(two))))
        from_list = nn.FeaturedGraphs.from_list
        self.refuses(lambda: from_list([]), "graphs must be at least one FeaturedGraphs, got an empty sequence", error=ValueError)
        self.refuses(lambda: from_list(None), "graphs must be a sequence of FeaturedGraphs, got NoneType", error=TypeError)
        self.refuses(lambda: from_list(one), "graphs must be a sequence of FeaturedGraphs, got FeaturedGraphs", error=TypeError)
        self.refuses(lambda: from_list([one, (two, 3)]), "got one of tuple", error=TypeError)
        for field, value, words in (
            ("weight", None, "got none, torch.float32 rows of shape [] on cpu"), ("node_values", torch.rand(5, 3), "rows of shape [2] on cpu, torch.float32 rows of shape [3]"),
            ("node_values", torch.rand(5, 2).double(), "torch.float64 rows"), ("node_values", torch.rand(4, 2), "must have shape [5, columns]"),
            ("weight", torch.rand(4), "a row for each of the 5 edges"), ("graph_features", torch.rand(1, 3), "must have shape [2, columns]"),
            ("ptr", torch.tensor([0, 3]), "number of rows, 5"), ("rowptr", two.rowptr.tolist(), "got list"), ("col", two.col + 3, "must lie in [0, 5)"),
            ("edge_categories", [[1]], "must be a dense tensor of rows, got list"), ("rowptr", two.rowptr[:-1], "rise from 0 to the number of edges, 5"),
        ):
            self.refuses(lambda: from_list([one, two._replace(**{field: value})]), f"{field} must", words, error=(ValueError, TypeError))

    def test_empty_batches(self):
        for mode in (True, False):
            model = classifier().train(mode)
            self.refuses(lambda: model(torch.zeros(2, 3), torch.zeros(2, 3), torch.tensor([0])), "ptr", "an item for the 2 rows")
            for logits in (
                model(torch.zeros(0, 3), torch.zeros(0, 3), torch.tensor([0])), model(torch.zeros(0, 3), torch.zeros(0, 3), [0]),
                model(torch.zeros(0, 5, 3), torch.zeros(0, 5, 3)),
                model(torch.zeros(0, 5, 3), torch.zeros(0, 5, 3), mask=torch.ones(0, 5, dtype=torch.bool)),
            ):
                self.assertEqual(logits.shape, (0, 4))
                model.zero_grad()
                logits.sum().backward()
                self.assertTrue(all((one.grad == 0).all() for one in model.parameters() if one.grad is not None))
            self.assertEqual(model(torch.zeros(0, 3), torch.zeros(0, 3), torch.tensor([0, 0])).shape, (1, 4))
            self.assertTrue(model(torch.zeros(1, 1, 3), torch.zeros(1, 1, 3)).isfinite().all())
            nothing = nn.FeaturedGraphs.from_edges(torch.zeros(2, 0, dtype=torch.int64), torch.tensor([0, 0, 1]))
            for head in ("softmax_pool", "sample_max", "sum", "nodes", "class_token"):
                for options in ({}, {"score": "dot"}, {"attention": lambda: nn.PrimalAttention(DIM, HEADS, mask="window", mask_size=2)}):
                    graph_model = nn.GraphModel(3, DIM, **LAYER, head=head, **options, relative=head != "class_token").train(mode)
                    out = graph_model(nothing)
                    self.assertEqual(out.shape, (1 if head == "nodes" else 2, 3))
                    self.assertTrue(out.isfinite().all())


class Times(unittest.TestCase):
    def test_compiled_and_eager_times_are_printed(self):
        script = pathlib.Path(README).parents[1] / "bench" / "compile_times.py"
        done = subprocess.run([sys.executable, "-W", "ignore", script, "--rounds=1", "--backend=aot_eager"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = re.findall(r"^(\w+), (forward|forward and backward): eager [\d.]+, compiled [\d.]+, ratio [\d.]+$", done.stdout, re.MULTILINE)
        self.assertEqual([name for name, _ in found], ["layer", "layer", "classifier", "classifier"])


class Tutorial(unittest.TestCase):
    def test_the_code_of_the_tutorial_runs(self):
        code = re.findall(r"^```python\n(.*?)^```", pathlib.Path(README).read_text(), re.DOTALL | re.MULTILINE)
        self.assertGreater(len(code), 2)
        with tempfile.TemporaryDirectory() as folder:
            path = [os.environ[name] for name in ("PYTHONPATH", "GEOSFT_TEST_PACKAGES") if name in os.environ]
            done = subprocess.run([sys.executable, "-c", "\n".join(code)], cwd=folder, capture_output=True, text=True,
                                  env={**os.environ, "PYTHONPATH": os.pathsep.join(path)})
        self.assertEqual(done.returncode, 0, done.stderr)
        if os.path.isdir(os.environ.get("GEOSFT_TEST_PACKAGES", "")):  # with PyTorch Geometric
            self.assertNotIn("left out", done.stdout)


class Public(unittest.TestCase):
    def test_everything_public_is_described(self):
        """Docstrings name every argument; those of methods that compute have shapes."""
        self.assertIs(geosft.nn, nn)
        described = [getattr(nn, name) for name in nn.__all__] + [getattr(geosft.runs, name) for name in (
            "read_cloud", "read_graphs", "read_sequences", "load", "from_pretrained", "TrainedClassifier", "TrainedSegmenter", "TrainedGraphModel")]
        for one in described + [geosft.export.standard, geosft.export.exported, geosft.export.package, geosft.export.onnx]:
            with self.subTest(name=one.__name__):
                self.assertGreater(len(one.__doc__), 20)
                if not isinstance(one, type):
                    self.check_arguments(one, one.__doc__)
                    continue
                if one.__module__ != "geosft.runs" and "__init__" in vars(one):
                    self.check_arguments(one.__init__, one.__doc__)
                for name, method in vars(one).items():
                    method = getattr(method, "__func__", method)
                    if inspect.isfunction(method) and not name.startswith("_"):
                        self.check_arguments(method, method.__doc__ or "")
                    if name == "forward":
                        self.assertRegex(method.__doc__ + one.__doc__, r"\[[NBn.]")

    def check_arguments(self, function, text):
        for name, one in inspect.signature(function).parameters.items():
            if name != "self" and one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL):
                self.assertRegex(text, rf"\b{name}\b", f"{function.__qualname__} says nothing of {name}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
