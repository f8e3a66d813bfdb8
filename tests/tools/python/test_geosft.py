# SPDX-License-Identifier: Apache-2.0
"""The installed Python package: test_geosft.py FOLDER LIBRARY OTHER_VERSION, with FOLDER in PYTHONPATH."""

import ast
import inspect
import os
import pathlib
import re
import subprocess
import sys
import unittest

import geosft
import torch

FOLDER, LIBRARY, OTHER_VERSION = map(os.path.realpath, sys.argv[1:])
REFERENCE = (pathlib.Path(__file__).resolve().parents[3] / "tools" / "python" / "REFERENCE.md").read_text()
RAGGED = torch.tensor([0, 5, 5, 6, 14])


def run(program):
    return subprocess.run([sys.executable, "-c", "import torch\n" + program], capture_output=True, text=True, timeout=300)


def double(*shape):
    return torch.randn(*shape, dtype=torch.double).requires_grad_()


def pool_of_sample(score, x, u):
    """Through two operators, one of which draws."""
    top, partner, weight, sample_ptr = geosft.sample_pairs(score, 3, RAGGED, seeds=torch.arange(4), noise=True)
    return geosft.softmax_pool(geosft.gather_pairs(x, top, partner, weight), u, sample_ptr)


class Package(unittest.TestCase):
    def test_it_is_the_installed_one(self):
        self.assertEqual(pathlib.Path(geosft.__file__).parent, pathlib.Path(FOLDER) / "geosft")
        self.assertEqual(geosft.__version__, torch.ops.geosft._library()[0])
        self.assertTrue((pathlib.Path(FOLDER) / "geosft" / "py.typed").exists())

    def test_modules_are_imported_when_they_are_asked_for(self):
        done = run("import sys, geosft; print('geosft.export' in sys.modules, geosft.export.onnx.__name__, {'export', 'pyg'} <= set(dir(geosft)), "
                   "hasattr(geosft, 'exports'))")
        self.assertEqual(done.stdout.split(), ["False", "onnx", "True", "False"], done.stderr)
        done = run("import sys; sys.modules['torch_geometric'] = None; import geosft; geosft.pyg")
        self.assertIn("ImportError: geosft.pyg needs PyTorch Geometric: pip install torch_geometric", done.stderr)

    def test_every_operator_is_there_and_described(self):
        registered = [name for name in torch._C._dispatch_get_all_op_names() if name.startswith("geosft::")]
        self.assertEqual({f"geosft::{name}" for name in geosft.__all__}, {name for name in registered if "::_" not in name})
        for name in geosft.__all__:
            function = getattr(geosft, name)
            for word in ["rror", *inspect.signature(function).parameters]:
                with self.subTest(operator=name, word=word):
                    self.assertRegex(inspect.getdoc(function), word if word == "rror" else rf"(?<!\w){word}(?!\w)")
            self.assertNotIn("ptr_on_device", inspect.getdoc(function))  # of C++ alone
            self.assertIn(f"### geosft.{name}\n", REFERENCE)
            self.assertIn(inspect.getdoc(function), REFERENCE)

    def test_stubs_have_the_signatures_of_the_functions(self):
        stubs = ast.parse((pathlib.Path(FOLDER) / "geosft" / "_operators.pyi").read_text())
        stubs = {node.name: node for node in stubs.body if isinstance(node, ast.FunctionDef)}
        self.assertEqual(set(stubs), set(geosft.__all__))
        for name, node in stubs.items():
            parameters = inspect.signature(getattr(geosft, name)).parameters.values()
            self.assertEqual([argument.arg for argument in node.args.args], [one.name for one in parameters])
            self.assertTrue(all(argument.annotation for argument in node.args.args) and node.returns)
            defaults = [one.default for one in parameters if one.default is not inspect.Parameter.empty]
            self.assertEqual([ast.literal_eval(value) for value in node.args.defaults], defaults)

    def test_gradients(self):
        torch.manual_seed(1)
        self.assertTrue(torch.autograd.gradcheck(pool_of_sample, (double(14), double(14, 3), double(3))))
        qkv = [double(5, 2, 3), double(4, 2, 3), double(4, 2, 6), double(4, 2)]
        points = [double(5, 3), double(4, 3), None, None]
        weights = [double(1, 2), double(2), double(1, 2), double(2)]
        self.assertTrue(torch.autograd.gradcheck(geosft.point_attention, (*qkv, *points, *weights)))

    def test_compiled_whole(self):
        inputs = [double(14), double(14, 3), double(3)]
        compiled = torch.compile(pool_of_sample, backend="aot_eager", fullgraph=True)
        out = compiled(*inputs)
        torch.testing.assert_close(out, pool_of_sample(*inputs))
        gradients = torch.autograd.grad(out.sum(), inputs)
        torch.testing.assert_close(gradients, torch.autograd.grad(pool_of_sample(*inputs).sum(), inputs))

    def test_another_pytorch_is_refused_in_one_line(self):
        for version, words in (("2.10.1", "needs PyTorch 2.11 or later"), ("1.13.0+cpu", "needs PyTorch 2.11 or later"), ("3.0.0.dev20270101", "from its sources again")):
            done = run(f"torch.__version__ = {version!r}; import geosft")
            self.assertEqual(done.returncode, 1)
            said = done.stderr.strip().splitlines()[-1]
            self.assertRegex(said, rf"^ImportError: geosft {geosft.__version__} was compiled for PyTorch [0-9]\.[0-9]+, .* PyTorch {re.escape(version)}: .*{words}$")

    def test_offsets_may_be_a_sequence_of_integers(self):
        points = torch.rand(14, 3)
        for call in (lambda ptr: geosft.farthest_point_sampling(points, 3, ptr), lambda ptr: geosft.knn(points, points, 2, ptr, ptr)[0],
                     lambda ptr: geosft.softmax_pool(points, torch.ones(3), ptr), lambda ptr: geosft.sample_pairs(points[:, 0], 3, ptr)[0]):
            self.assertTrue(torch.equal(call(RAGGED.tolist()), call(RAGGED)))
            self.assertTrue(torch.equal(call(tuple(RAGGED.tolist())), call(RAGGED)))
            with self.assertRaisesRegex(TypeError, r"^ptr must be int64 \[B \+ 1\] or a sequence of integers, got 9\.5 at place 1"):
                call([0, 9.5, 14])
            with self.assertRaisesRegex(TypeError, r"^ptr must be .*, got tensor\(9\.5000\) at place 1"):
                call([0, torch.tensor(9.5), 14])
        with self.assertRaisesRegex(TypeError, "^query_ptr must be .* got str"):
            geosft.knn(points, points, 2, [0, 14], "0")
        compiled = torch.compile(lambda x: geosft.softmax_pool(x, torch.ones(3), [0, 5, 14]), backend="aot_eager", fullgraph=True)
        torch.testing.assert_close(compiled(points), geosft.softmax_pool(points, torch.ones(3), [0, 5, 14]))

    def test_arguments_of_other_types_are_named_without_the_schema(self):
        points, array = torch.rand(14, 3), type("ndarray", (), {})()  # NumPy need not be there
        heads = [torch.rand(5, 2, 3), torch.rand(4, 2, 3), torch.rand(4, 2, 3), torch.rand(4, 2)]
        for call, words in (
            (lambda: geosft.knn(array, points, 2), "points must be a tensor, got ndarray: torch.from_numpy makes a tensor of it"),
            (lambda: geosft.knn(points, [[0.0, 0.0, 0.0]], 2), "queries must be a tensor, got list"),
            (lambda: geosft.knn(points, points, 2.0), "k must be an integer, got float"),
            (lambda: geosft.farthest_point_sampling(points, 0.5), "m must be an integer, got float"),
            (lambda: geosft.farthest_point_sampling(points, 3, start=None), "start must be an integer, got NoneType"),
            (lambda: geosft.maxout_attention(*heads, r_mul=array), "r_mul must be a tensor, got ndarray"),
            (lambda: geosft.sample_pairs(points[:, 0], True), "k must be an integer, got bool"),
            (lambda: geosft.sample_pairs(points[:, 0], torch.tensor(2.5)), "k must be an integer, got a tensor of torch.float32 []"),
            (lambda: geosft.sample_pairs(points[:, 0], 2, tau="1"), "tau must be a number, got str"),
            (lambda: geosft.sample_pairs(points[:, 0], 2, tau=True), "tau must be a number, got bool"),
            (lambda: geosft.sample_pairs(points[:, 0], 2, tau=torch.ones(2)), "tau must be a number, got a tensor of torch.float32 [2]"),
            (lambda: geosft.sample_pairs(points[:, 0], 2, noise=1), "noise must be True or False, got 1"),
        ):
            with self.assertRaises(TypeError) as raised:
                call()
            self.assertTrue(str(raised.exception).startswith(words), raised.exception)
        self.assertEqual(geosft.knn(points, points, torch.tensor(2))[0].shape, (14, 2))
        traced = torch.fx.symbolic_trace(lambda score, k, noise: geosft.sample_pairs(score, k, noise=noise)[0])
        self.assertTrue(torch.equal(traced(points[:, 0], 2, False), geosft.sample_pairs(points[:, 0], 2)[0]))
        with torch.device("meta"):
            self.assertEqual(geosft.maxout_attention(*(torch.empty_like(one, device="meta") for one in heads), r_mul=None).shape, (5, 2, 3))

    def test_errors_name_the_argument(self):
        with self.assertRaisesRegex(RuntimeError, "queries"):
            geosft.knn(torch.zeros(4, 3), torch.zeros(4, 2), 1)
        with self.assertRaisesRegex(RuntimeError, "score must be float32, float64, float16 or bfloat16, not Long"):
            geosft.sample_pairs(torch.arange(9), 2)


class Copies(unittest.TestCase):
    USE = """
nearest = torch.ops.geosft.knn(torch.zeros(2, 3), torch.ones(1, 3), 1)[0].item()
print(nearest, torch.ops.geosft._library()[1])"""
    PACKAGED = f"{FOLDER}/geosft/libgeosft_ops.so"

    def test_two_files_of_one_version(self):
        for first, second in ((LIBRARY, self.PACKAGED), (self.PACKAGED, LIBRARY)):
            done = run(f"torch.ops.load_library({first!r}); torch.ops.load_library({second!r}); {self.USE}")
            self.assertEqual((done.returncode, done.stdout.split()), (0, ["0", first]), done.stderr)
            self.assertNotIn("loaded", done.stderr)
        self.assertEqual(run(f"torch.ops.load_library({LIBRARY!r}); import geosft; {self.USE}").returncode, 0)

    def test_another_version_after_the_package(self):
        done = run(f"import geosft; torch.ops.load_library({OTHER_VERSION!r}); {self.USE}")
        self.assertEqual((done.returncode, done.stdout.split()), (0, ["0", self.PACKAGED]), done.stderr)
        self.assertRegex(done.stderr, rf"geosft 99\.1\.0 .* was loaded after geosft {geosft.__version__}")

    def test_another_version_before_the_package(self):
        done = run(f"torch.ops.load_library({OTHER_VERSION!r}); import geosft")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, rf"ImportError: geosft {geosft.__version__} cannot be used: .* 99\.1\.0")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
