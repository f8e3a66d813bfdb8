# SPDX-License-Identifier: Apache-2.0
"""Trained models in Python beside the tools that trained them: test_runs.py CLASSIFY LIBRARY SEGMENT LIBRARY GRAPH
LIBRARY SEQUENCE, geosft-classify, geosft-segment and geosft-graph, each with the library that serves its models, and
geosft-sequence, whose models that of graphs serves."""

import importlib.util
import io
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import warnings

import geosft
import geosft.export
import torch
from geosft import checkpoints, nn, runs

CLASSIFY, CLASSIFY_LIBRARY, SEGMENT, SEGMENT_LIBRARY, GRAPH, GRAPH_LIBRARY, SEQUENCE = map(os.path.realpath, sys.argv[1:])
SMALL = ("--dim=16", "--num-heads=2", "--depth=2", "--epochs=2")


def run(*command, code=0):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != code:
        raise RuntimeError(f"{command}: {done.stderr}")
    return done.stdout


def write(file, lines):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join([*map(str, lines), ""]))


def write_box(file, sides):
    corners = [[(corner >> axis & 1) * sides[axis] for axis in range(3)] for corner in range(8)]
    faces = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    rows = [" ".join(map(str, corner)) for corner in corners] + ["4 " + " ".join(map(str, face)) for face in faces]
    write(file, ["OFF", "8 6 0", *rows])


def arrays(*tensors):
    """The same numbers as NumPy arrays: contiguous, of another order, with gaps, backwards, of the other byte order, and read-only."""
    import numpy
    plain = [one.numpy().copy() for one in tensors]
    for one in plain:
        one.setflags(write=False)
    yield plain
    yield [numpy.asfortranarray(one) for one in plain]
    yield [numpy.repeat(one, 2, 0)[::2] for one in plain]
    yield [numpy.ascontiguousarray(one[::-1])[::-1] for one in plain]
    yield [one.astype(one.dtype.newbyteorder()) for one in plain]


WITH_NUMPY = importlib.util.find_spec("numpy")
WITH_PYG = importlib.util.find_spec("torch_geometric")


class InFolder(unittest.TestCase):
    """Tests that share a folder of data and RUNs."""

    @classmethod
    def setUpClass(cls):
        torch.set_num_threads(1)
        torch.manual_seed(1)
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.data, cls.run_ = cls.folder / "data", cls.folder / "run"
        cls.train()

    def close(self, found, expected):
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


class Classifiers(InFolder):
    @classmethod
    def train(cls):
        for part_, count in (("train", 6), ("test", 2)):
            for label, flat in (("cube", 1.0), ("slab", 0.1)):
                for i in range(count):
                    write_box(cls.data / label / part_ / f"{label}_{i}.off", (1.0, 1.0 + 0.1 * i, flat))
        run(CLASSIFY, "train", f"--data={cls.data}", f"--out={cls.run_}", *SMALL, "--num-samples=8", "--points=64", "--tokens=local", "--head-num-samples=16",
            "--drop-token-rate=0.6", "--head-dropout=0.1", "--batch-size=4", "--norm=pre", "--votes=3", "--tau=0.7", "--points-per-mesh=100")
        torch.classes.load_library(CLASSIFY_LIBRARY)

    def test_predictions_are_those_of_the_tool(self):
        served = torch.classes.geosft.Classifier(str(self.run_))
        model = geosft.load(self.run_)
        self.assertFalse(model.training)
        self.assertEqual(model.class_names, ["cube", "slab"])
        self.assertEqual(model.config["clouds"]["points"], 64)
        generator = torch.Generator().manual_seed(11)
        for count, scale, shift in ((64, 1, 0), (64, 100, 1000), (90, 1, 0), (300, 1, 0), (20, 1, 0)):
            with self.subTest(points=count, scale=scale):
                points = torch.rand(count, 3, generator=generator) * scale + shift
                normals = torch.nn.functional.normalize(torch.randn(count, 3, generator=generator), dim=1)
                expected = served.predict(points, normals)
                self.close(model.predict(points, normals), expected)
                self.assertNotEqual(float(expected[0]), float(expected[1]))
                normals[::3] = 0
                self.close(model.predict(points, normals), served.predict(points, normals))
                self.close(model.predict(points), served.predict(points, None))

    def test_prepared_clouds_are_what_predict_sees(self):
        model = geosft.load(self.run_)
        generator = torch.Generator().manual_seed(13)
        for count in (20, 300):
            points = 50 * torch.rand(count, 3, generator=generator) + 100
            normals = torch.nn.functional.normalize(torch.randn(count, 3, generator=generator), dim=1)
            seen = [model.prepare(points, normals, vote=vote) for vote in range(3)]
            self.assertEqual(seen[0][0].shape, (min(count, 64), 3))
            with torch.no_grad():
                votes = [model(*one, sampling=nn.SamplingContext.seeded(vote))[0] for vote, one in enumerate(seen)]
            self.assertTrue(torch.equal(torch.stack(votes).mean(0).softmax(0), model.predict(points, normals)))
            self.assertTrue(torch.equal(model.prepare(points, normals)[0], seen[0][0]))
        for name, bad in (("points", dict(points=points[0])), ("normals", dict(normals=normals[1:])), ("vote", dict(vote=-1))):
            with self.assertRaisesRegex(ValueError, name):
                model.prepare(**{"points": points, "normals": normals, **bad})

    def test_kernel_regressions(self):
        place = self.folder / "kernel"
        run(CLASSIFY, "train", f"--data={self.data}", f"--out={place}", *SMALL, "--num-samples=8", "--points=64", "--head-num-samples=16", "--batch-size=4",
            "--points-per-mesh=100", "--kernel-ridge")
        model, served = geosft.load(place), torch.classes.geosft.Classifier(str(place))
        self.assertEqual(model.kernel.weight, 0.6)
        generator = torch.Generator().manual_seed(17)
        points = torch.rand(90, 3, generator=generator) * 10 + 5
        normals = torch.nn.functional.normalize(torch.randn(90, 3, generator=generator), dim=1)
        self.close(model.predict(points, normals), served.predict(points, normals))
        with self.assertWarnsRegex(UserWarning, "one network, without the kernel ridge regression of its run") as said:
            alone = geosft.load(place / "best.ckpt")
        self.assertEqual(said.filename, __file__)
        self.assertIsNone(alone.kernel)
        for dtype in (torch.int64, torch.float16):
            few = points.to(dtype)
            self.close(model.predict(few, normals), model.predict(few.double(), normals.double()))
        with self.assertWarnsRegex(UserWarning, "the kernel regression of the model is left out"):
            geosft.export.standard(model, canonical_order=False)
        with self.assertWarnsRegex(UserWarning, "the kernel regression of the model is left out") as said:
            geosft.export.exported(model)
        self.assertEqual(said.filename, __file__)
        self.assertGreater(float((model.predict(points, normals) - alone.predict(points, normals)).abs().max()), 1e-3)
        model.save(self.folder / "kernel_again")
        self.assertTrue(torch.equal(geosft.load(self.folder / "kernel_again").predict(points, normals), model.predict(points, normals)))
        (self.folder / "kernel_again" / "kernel.ckpt").unlink()
        with self.assertWarnsRegex(UserWarning, "kernel.ckpt is missing"):
            geosft.load(self.folder / "kernel_again")
        with self.assertRaisesRegex(ValueError, "kernel regression"):
            model.save_safetensors(self.folder / "kernel.safetensors")
        # As earlier versions: of the first three parts of the histograms, and with averages of probabilities.
        state = model.kernel.state
        state["counts"] = state["counts"][:, :3 * int(state["bits"])].contiguous()
        del state["average_logits"]
        model.save(self.folder / "kernel_earlier")
        earlier, served = geosft.load(self.folder / "kernel_earlier"), torch.classes.geosft.Classifier(str(self.folder / "kernel_earlier"))
        histogram = torch.ops.geosft._pair_histogram(points.double(), normals.double())[:3 * int(state["bits"])]
        expected = 0.4 * alone.predict(points, normals) + 0.6 * earlier.kernel.predict(histogram[None])[0].softmax(0)
        self.close(earlier.predict(points, normals), expected.float())
        self.close(earlier.predict(points, normals), served.predict(points, normals))
        model.set_classes(["a", "b", "c"])
        self.assertIsNone(model.kernel)
        model.save(self.folder / "kernel_earlier")  # over a run with a regression
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertIsNone(geosft.load(self.folder / "kernel_earlier").kernel)
        self.assertEqual(model.predict(points, normals).shape, (3,))

    @unittest.skipUnless(WITH_NUMPY, "NumPy is not installed")
    def test_arrays_give_the_bits_of_tensors(self):
        import numpy
        model = geosft.load(self.run_)
        generator = torch.Generator().manual_seed(15)
        points = 50 * torch.rand(90, 3, generator=generator, dtype=torch.double) + 100
        normals = torch.nn.functional.normalize(torch.randn(90, 3, generator=generator, dtype=torch.double), dim=1)
        for dtype in (torch.float32, torch.float64):
            given = (points.to(dtype), normals.to(dtype))
            for some in arrays(*given):
                self.assertTrue(torch.equal(model.predict(*some), model.predict(*given)))
                self.assertTrue(torch.equal(model.predict(some[0]), model.predict(given[0])))
                self.assertTrue(torch.equal(model.predict(some[0], given[1]), model.predict(*given)))
                for found, expected in zip(model.prepare(*some, vote=1), model.prepare(*given, vote=1)):
                    self.assertTrue(torch.equal(found, expected))
                found, expected = (geosft.export.inputs(model, *one) for one in (some, given))
                self.assertTrue(all(torch.equal(found[name], expected[name]) for name in expected))
        plain = points.numpy()
        for bad in (plain.astype(numpy.float16), plain.astype(numpy.int64), plain.astype(complex), plain.astype(object), plain > 0,
                    numpy.ma.array(plain), plain.tolist(), "points"):
            with self.assertRaisesRegex(TypeError, "^points must be "):
                model.predict(bad)
            with self.assertRaisesRegex(TypeError, "^normals must be "):
                model.prepare(plain, bad)
        for name, bad in (("points", dict(points=plain[0])), ("points", dict(points=plain * numpy.nan)), ("normals", dict(normals=plain[1:]))):
            with self.assertRaisesRegex(ValueError, f"^{name} must "):
                model.predict(**{"points": plain, "normals": None, **bad})

    def test_estimated_normals_are_said_once(self):
        points = torch.rand(30, 3, generator=torch.Generator().manual_seed(14))
        cloud = self.folder / "bare.xyz"
        write(cloud, [" ".join(map(str, row)) for row in points.tolist()])
        some = torch.ones(30, 3)
        some[:4] = 0
        for call, words in ((lambda model: model.predict(points), "normals are missing: they are estimated"),
                            (lambda model: model.prepare(points, some), "normals of 4 of 30 points are missing or not finite"),
                            (lambda model: model.predict(points, torch.zeros(30, 3)), "normals are missing: they are estimated"),
                            (lambda model: model.predict_file(cloud), "normals are missing: they are estimated")):
            model = geosft.load(self.run_)
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                model.predict(points, torch.ones(30, 3))
                self.assertEqual([one for one in said if "normals" in str(one.message)], [])
                for _ in range(2):
                    call(model)
            found = [one for one in said if words in str(one.message)]
            self.assertEqual([os.path.basename(one.filename) for one in found], [os.path.basename(__file__)])

    def test_normals_that_are_all_zero_are_none(self):
        model, points = geosft.load(self.run_), torch.rand(30, 3, generator=torch.Generator().manual_seed(15))
        self.assertIn('normal_orientation = "outward"', model.texts["config"])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.assertTrue(torch.equal(model.predict(points, torch.zeros(30, 3)), model.predict(points)))

    def test_farthest_points_are_those_of_the_tool(self):
        model = geosft.load(self.run_)
        self.assertIn('point_sampling = "random"', model.texts["config"])
        model.texts = {**model.texts, "config": model.texts["config"].replace('point_sampling = "random"', 'point_sampling = "fps"')}
        model.save(self.folder / "farthest")
        model, served = geosft.load(self.folder / "farthest"), torch.classes.geosft.Classifier(str(self.folder / "farthest"))
        points = torch.rand(90, 3, generator=torch.Generator().manual_seed(12))
        self.close(model.predict(points, points), served.predict(points, points))
        self.assertNotEqual(float(model.predict(points, points)[0]), float(geosft.load(self.run_).predict(points, points)[0]))

    def test_a_model_of_estimated_normals_alone_takes_no_others(self):
        model = geosft.load(self.run_)
        points = torch.rand(90, 3, generator=torch.Generator().manual_seed(13))
        normals = torch.nn.functional.normalize(torch.randn(90, 3, generator=torch.Generator().manual_seed(14)), dim=1)
        estimated = model.predict(points)
        self.assertNotEqual(float(model.predict(points, normals)[0]), float(estimated[0]))
        self.assertIn("estimated_normals = 0.0", model.texts["config"])
        model.texts = {**model.texts, "config": model.texts["config"].replace("estimated_normals = 0.0", "estimated_normals = 1.0")}
        model.save(self.folder / "bare")
        self.close(geosft.load(self.folder / "bare").predict(points, normals), estimated)
        self.close(torch.classes.geosft.Classifier(str(self.folder / "bare")).predict(points, normals), estimated)

    def test_predictions_of_files_are_those_of_the_tool(self):
        model = geosft.load(self.run_)
        file = self.data / "slab" / "test" / "slab_0.off"
        prediction = json.loads(run(CLASSIFY, "predict", self.run_, file, "--json"))
        found = model.predict_file(file)
        self.assertEqual(model.class_names[int(found.argmax())], prediction["class"])
        self.close(found.max(), torch.tensor(prediction["probability"]))
        points, normals = geosft.read_cloud(file, 50)
        self.assertEqual((points.shape, normals.shape), ((50, 3), (50, 3)))
        cloud = self.folder / "cloud.xyz"
        write(cloud, ["0 0 0", "1 0 0", "0 1 0", "0 0 1"])
        points, normals = geosft.read_cloud(cloud)
        self.assertEqual(points.tolist(), [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
        self.assertIsNone(normals)
        self.close(model.predict_file(cloud), torch.classes.geosft.Classifier(str(self.run_)).predict(points, None))
        with self.assertRaisesRegex(RuntimeError, "^columns: expected names with x, y and z among them"):
            geosft.read_cloud(cloud, columns="x,y")
        with self.assertRaisesRegex(RuntimeError, "^columns: expected nx, ny and nz, or none of them"):
            geosft.read_cloud(cloud, columns="x,y,z,nx,ny,n")
        with self.assertRaisesRegex(TypeError, "columns must be a text"):
            geosft.read_cloud(cloud, columns=["x", "y", "z"])
        with self.assertRaisesRegex(RuntimeError, "config.toml"):
            geosft.read_cloud(self.run_ / "config.toml")
        with self.assertRaisesRegex(FileNotFoundError, "none.off: there is nothing"):
            model.predict_file(self.folder / "none.off")

    def test_a_run_that_was_written_is_read_by_the_tool(self):
        model = geosft.load(self.run_)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter += 0.01 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1))
        written = self.folder / "written"
        model.texts = {**model.texts, "chosen_score": "accuracy 90.0 %"}  # of a training with a validation split
        model.save(written)
        model.save(written)  # over a RUN of its own
        self.assertEqual(set(geosft.load(self.run_).texts) - set(geosft.load(written).texts), {"epoch", "chosen_by"})
        self.assertNotIn("chosen_score", geosft.load(written).texts)
        points = torch.rand(64, 3, generator=torch.Generator().manual_seed(2))
        expected = model.predict(points)
        self.close(torch.classes.geosft.Classifier(str(written)).predict(points, None), expected)
        self.assertTrue(torch.equal(geosft.load(written).predict(points), expected))
        for place in (self.run_, written):
            found = json.loads(run(CLASSIFY, "eval", place, f"--data={self.data}", "--json"))
            self.assertEqual(found["count"], 4)
        file = self.folder / "weights.safetensors"
        model.save_safetensors(file)
        self.assertTrue(torch.equal(geosft.load(file).predict(points), expected))
        link = self.folder / "link.safetensors"
        link.symlink_to("linked.safetensors")
        model.save_safetensors(link)
        self.assertEqual((link.is_symlink(), (self.folder / "linked.safetensors").read_bytes()), (True, file.read_bytes()))
        os.mkfifo(self.folder / "pipe")
        reader = os.open(self.folder / "pipe", os.O_RDONLY | os.O_NONBLOCK)
        checkpoints.write_atomically(self.folder / "pipe", b"text")
        self.assertEqual((os.read(reader, 9), (self.folder / "pipe").is_fifo()), (b"text", True))
        os.close(reader)
        if importlib.util.find_spec("safetensors"):
            import safetensors.torch
            weights = safetensors.torch.load_file(file)
            for name, tensor in model.state_dict().items():
                self.assertTrue(torch.equal(weights[f"model.{name}"], tensor), name)
        with self.assertRaisesRegex(ValueError, "not empty"):
            model.save(self.data)
        before = (self.run_ / "best.ckpt").read_bytes()
        with self.assertRaisesRegex(ValueError, "holds the run of a training, with last.ckpt"):
            model.save(self.run_)
        self.assertEqual((self.run_ / "best.ckpt").read_bytes(), before)
        with self.assertRaisesRegex(ValueError, r"file must end with \.safetensors, got 'x\.bin'"):
            model.save_safetensors(self.folder / "x.bin")
        for write_ in (lambda file: model.save_safetensors(file), lambda file: checkpoints.write_atomically(file, b"")):
            with self.assertRaisesRegex(FileNotFoundError, "absent/x.safetensors: there is no folder '.*absent'$"):
                write_(self.folder / "absent" / "x.safetensors")

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "matplotlib is not installed")
    def test_the_example_draws_attention(self):
        example = pathlib.Path(__file__).resolve().parents[3] / "tools" / "examples" / "9_draw_attention.py"
        picture = self.folder / "attention.png"
        run(sys.executable, example, self.run_, self.data / "slab" / "test" / "slab_0.off", picture)
        self.assertTrue(picture.read_bytes().startswith(b"\x89PNG"))

    def test_clouds_of_little_form_are_warned_of(self):
        model, generator = geosft.load(self.run_), torch.Generator().manual_seed(6)
        trained = model.config["clouds"]["points"]
        line, cloud = torch.rand(trained, 1, generator=generator), torch.rand(300, 3, generator=generator)
        few = max(1, trained // 16 - 1)
        for points, words in ((torch.rand(few, 3, generator=generator), f"the cloud: {few} points? only, where the model sees {trained} of each shape"),
                              (torch.ones(trained, 3), f"the cloud: all of its {trained} points are equal"),
                              (line * torch.tensor([1.0, 2.0, 3.0]) + 5, f"the cloud: all of its {trained} points lie on one line"),
                              (torch.cat((cloud, torch.zeros(20, 3))), "the cloud: 20 of its 320 points are at one place, .0, 0, 0.: leave them out"),
                              (torch.cat((cloud, torch.full((1, 3), 50.0))), "the cloud: 1 of its 301 points lies apart from the others")):
            with self.assertWarnsRegex(UserWarning, words) as said:
                model.predict(points)
            self.assertEqual(said.filename, __file__)
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message="the cloud: ")
            model.predict(torch.rand(trained // 16 + 1, 3, generator=generator))

    def test_normals_that_point_inward_are_warned_of(self):
        model, generator = geosft.load(self.run_), torch.Generator().manual_seed(6)
        outward = torch.nn.functional.normalize(torch.randn(500, 3, generator=generator), dim=1)
        with self.assertWarnsRegex(UserWarning, "the cloud: its normals point inward on the whole, 100 % of them") as said:
            model.predict(outward, -3 * outward)
        self.assertEqual(said.filename, __file__)
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message="the cloud: ")
            model.predict(outward, outward)

    def test_other_classes(self):
        model = geosft.load(self.run_)
        with self.assertRaisesRegex(ValueError, "names"):
            model.set_classes(["one", "one"])
        with self.assertRaisesRegex(ValueError, "names must be a sequence of at least 2 names, got 'abc'"):
            model.set_classes("abc")
        with self.assertRaisesRegex(ValueError, "names must be a sequence of at least 2 names, got 3"):
            model.set_classes(3)
        model.head.linear = torch.nn.Linear(model.head.linear.in_features, 5)
        with self.assertRaisesRegex(ValueError, "the model must be that of its configuration: head.linear.bias has \\[5\\] where that has \\[2\\].*set_classes"):
            model.save(self.folder / "five")
        self.assertFalse((self.folder / "five").exists())
        model.set_classes(["flat", "long", "round"])
        model.save(self.folder / "three")
        found = json.loads(run(CLASSIFY, "predict", self.folder / "three", self.data / "cube" / "test" / "cube_0.off", "--json", "--top=3"))
        self.assertEqual({name for name, _ in found["top"]}, {"flat", "long", "round"})

    def test_copies(self):
        model, points = geosft.load(self.run_), torch.rand(64, 3)
        file = io.BytesIO()
        torch.save(model, file)
        file.seek(0)
        self.assertTrue(torch.equal(torch.load(file, weights_only=False).predict(points), model.predict(points)))

    def test_damaged_and_foreign_files_are_refused_by_name(self):
        content = bytearray((self.run_ / "best.ckpt").read_bytes())
        content[len(content) // 2] ^= 1
        for name in ("damaged.ckpt", "damaged.safetensors"):
            for bad in (bytes(content), bytes(content[:1000]), b"PK\x03\x04", b""):
                (self.folder / name).write_bytes(bad)
                with self.assertRaisesRegex(ValueError, name):
                    geosft.load(self.folder / name)
        with self.assertRaisesRegex(FileNotFoundError, "nothing"):
            geosft.load(self.folder / "nothing")
        tensors, texts = checkpoints.load_checkpoint(self.run_ / "best.ckpt")
        texts["kind"] = "geosft-other"
        checkpoints.save_checkpoint(self.folder / "other.ckpt", tensors, texts)
        with self.assertRaisesRegex(ValueError, "other.ckpt.*geosft-other"):
            geosft.load(self.folder / "other.ckpt")

    def test_samples_with_replacement_have_noise_whatever_the_run_says(self):
        tensors, texts = checkpoints.load_checkpoint(self.run_ / "best.ckpt")
        points, found = torch.rand(64, 3, generator=torch.Generator().manual_seed(4)), []
        for noise in ("true", "false"):
            config = texts["config"].replace("with_replacement = false", "with_replacement = true").replace("noise = true", f"noise = {noise}")
            self.assertIn(f"noise = {noise}", config)
            checkpoints.save_checkpoint(self.folder / f"{noise}.ckpt", tensors, {**texts, "config": config})
            found.append(geosft.load(self.folder / f"{noise}.ckpt").predict(points))
        self.assertTrue(torch.equal(*found))
        self.assertFalse(torch.equal(found[0], geosft.load(self.run_).predict(points)))

    def test_bad_clouds_are_refused_by_name(self):
        model = geosft.load(self.run_)
        for points in (torch.zeros(0, 3), torch.zeros(4, 2), torch.full((4, 3), float("nan"))):
            with self.assertRaisesRegex(ValueError, "points"):
                model.predict(points, points)
        with self.assertRaisesRegex(ValueError, "normals"):
            model.predict(torch.zeros(4, 3), torch.zeros(3, 3))
        far = torch.rand(40, 3, generator=torch.Generator().manual_seed(3)).double() * 1e200
        with self.assertRaisesRegex(ValueError, r"points must have coordinates within 1e\+18 of those of the first point, got .*e\+199: use another unit"):
            model.predict(far)

    def test_pretrained_models_by_name(self):
        zoo, former = self.folder / "zoo", runs._ZOO
        geosft.load(self.run_).save(zoo / "boxes")
        runs._ZOO = (self.folder / "absent", zoo)
        try:
            self.assertEqual(geosft.pretrained_names(), ["boxes"])
            self.assertEqual(geosft.from_pretrained("boxes").class_names, ["cube", "slab"])
            with self.assertRaisesRegex(ValueError, "boxes.*'balls'"):
                geosft.from_pretrained("balls")
        finally:
            runs._ZOO = former
        for name in geosft.pretrained_names():  # what this build has
            self.assertFalse(geosft.from_pretrained(name).training)


class Segmenters(InFolder):
    @classmethod
    def train(cls):
        for shape in (1, 2, 3, 4):
            rows = [f"0.{j} 0.{j * shape % 7} {j % 2} 0 0 1 {j % 2}.000000" for j in range(9)]
            write(cls.data / "02691156" / f"{shape}.txt", rows)
        write(cls.data / "synsetoffset2category.txt", ["Airplane\t02691156"])
        for name, shapes in (("train", (1, 2)), ("val", (3,)), ("test", (4,))):
            write(cls.data / "train_test_split" / f"shuffled_{name}_file_list.json", [json.dumps([f"shape_data/02691156/{i}" for i in shapes])])
        run(SEGMENT, "train", f"--data={cls.data}", f"--out={cls.run_}", *SMALL, "--num-samples=8", "--points=9", "--votes=2",
            "--evaluation-batch=2")
        torch.classes.load_library(SEGMENT_LIBRARY)

    def test_normals_that_do_not_fit_are_warned_of(self):
        model, generator = geosft.load(self.run_), torch.Generator().manual_seed(6)
        outward = torch.nn.functional.normalize(torch.randn(500, 3, generator=generator), dim=1)
        with self.assertWarnsRegex(UserWarning, "the cloud: its normals do not fit its points: half of them are at least"):
            model.predict(outward, outward.flip(0), "Airplane")

    def test_normals_of_the_faces_of_a_mesh_are_not_checked_for_a_misfit(self):
        """As by the tool: a sphere of small faces that stand upright on it, so that their normals are tangents."""
        model, generator = geosft.load(self.run_), torch.Generator().manual_seed(7)
        place, other = torch.nn.functional.normalize(torch.randn(2, 4000, 3, generator=generator), dim=2)
        side = torch.nn.functional.normalize(torch.linalg.cross(place, other), dim=1)
        corners = torch.stack((place, place + 1e-3 * side, place + 1e-3 * place), 1).reshape(-1, 3)
        mesh = self.folder / "upright.obj"
        write(mesh, [*(f"v {x} {y} {z}" for x, y, z in corners.tolist()), *(f"f {i} {i + 1} {i + 2}" for i in range(1, len(corners), 3))])
        said = subprocess.run([SEGMENT, "predict", self.run_, mesh, "--category=Airplane"], capture_output=True, text=True, check=True).stderr
        self.assertNotIn("normals", said)
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message="the cloud: its normals")
            model.predict_file(mesh, "Airplane")
        points, normals = geosft.read_cloud(mesh)
        with self.assertWarnsRegex(UserWarning, "the cloud: its normals do not fit its points") as found:
            model.predict(points, normals, "Airplane")
        self.assertEqual(found.filename, __file__)

    def test_predictions_are_those_of_the_tool(self):
        served = torch.classes.geosft.Segmenter(str(self.run_))
        model = geosft.load(self.run_)
        self.assertEqual(model.part_names, served.part_names())
        points = torch.rand(30, 3, generator=torch.Generator().manual_seed(1)) * 7 + 3
        self.close(model.predict(points, None, "Airplane"), served.predict(points, None, "Airplane"))
        with torch.no_grad():
            votes = [model(*model.prepare(points), category=torch.tensor([model.class_names.index("Airplane")]), sampling=sampling)
                     for _, sampling in model._votes()]
        logits = torch.stack(votes).mean(0)
        allowed = torch.tensor(model.part_classes) == model.class_names.index("Airplane")
        self.assertTrue(torch.equal(logits.masked_fill(~allowed, -1e30).softmax(1), model.predict(points, None, "Airplane")))
        with self.assertRaisesRegex(ValueError, "category.*Airplane"):
            model.predict(points, None, "Boat")
        written = self.folder / "written"
        model.save(written)
        self.close(torch.classes.geosft.Segmenter(str(written)).predict(points, None, "Airplane"), model.predict(points, None, "Airplane"))
        self.assertEqual(model.config["clouds"]["block"], 512)
        large = torch.rand(1300, 3, generator=torch.Generator().manual_seed(2)) * 7 + 3  # three blocks, two at once
        expected = served.predict(large, None, "Airplane")
        self.close(model.predict(large, None, "Airplane"), expected)
        with self.assertRaisesRegex(ValueError, r"points must be at most 512, .*predict\(\) divides"):
            model.prepare(large)
        cloud = self.folder / "cloud.xyz"
        write(cloud, [" ".join(map(str, row)) for row in points.tolist()])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found, labels = model.predict_file(cloud, "Airplane")
        self.close(found.float(), points)
        self.assertTrue(torch.equal(labels, served.predict_file(str(cloud), "Airplane")[1]))


class Graphs(InFolder):
    OPTIONS = {
        "edges": ("--encoding=rwpe", "--encoding-columns=4", "--num-samples=3", "--votes=2"),
        "laplacian": ("--encoding=lappe", "--encoding-columns=3", "--norm=pre", "--head=sample_max", "--head-num-samples=4"),
        "signs": ("--encoding=lappe", "--encoding-columns=3", "--encoding-channels=4", "--encoding-layers=2", "--encoding-signs=invariant"),
        "estimate": ("--encoding=rwpe", "--encoding-columns=3", "--encoding-walks=20", "--head=sum"),
        "dot": ("--score=dot", "--probability=softmax", "--positions=added"),
        "sparse": ("--attention=sparse_bn", "--mask=neighbours"),
        "strided": ("--attention=sparse_sh", "--mask=strided", "--positions=added"),
        "linear": ("--attention=linear_bn_sh", "--learn-beta"),
        "line": ("--attention=conv1d",),
        "polynomial": ("--attention=polynomial", "--degree=3"),
        "causal": ("--attention=polynomial", "--degree=2", "--causal", "--score-scale=inverse"),
        "features": ("--fingerprint=wl0,wl2", "--fingerprint-bits=32", "--statistics", "--kernel-ridge", "--head-features", "--head-layers=2"),
        "partly": ("--fingerprint=wl0,wl1", "--fingerprint-bits=32", "--statistics", "--kernel-ridge", "--head-features", "--no-head-fingerprints", "--head-layers=2"),
        "unseen": ("--fingerprint=wl0,wl1", "--fingerprint-bits=32", "--statistics", "--kernel-ridge", "--no-head-features"),
        "gcn": ("--local=gcn", "--virtual-node", "--max-degree=1", "--normalization=batch", "--head=mean"),
        "gine": ("--local=gine", "--attention=none", "--norm=pre", "--mlp-ratio=0", "--jumping-knowledge=concatenate", "--head=max",
                 "--head-layers=2"),
        "gatedgcn": ("--local=gatedgcn", "--encoding=rwpe", "--encoding-columns=4", "--encoding-channels=3", "--encoding-layers=2",
                     "--jumping-knowledge=sum", "--normalization=batch", "--head-layers=3"),
    }

    @classmethod
    def train(cls):
        generator = torch.Generator().manual_seed(1)
        edges, cls.graphs, begin = [], [], 0
        for graph in range(12):
            size = 4 + graph % 4
            links = size if graph % 2 else size - 1  # a ring or a path
            ring = [(begin + i, begin + (i + 1) % size) for i in range(links)]
            edges += [pair for a, b in ring for pair in ((a, b), (b, a))]
            begin += size
            cls.graphs.append(size)
        cls.edges = torch.tensor(edges).T
        cls.ptr = torch.tensor([0, *cls.graphs]).cumsum(0)
        cls.nodes = torch.randint(3, (begin,), generator=generator)
        cls.bonds = torch.randint(2, (len(edges),), generator=generator)
        cls.nodes[:3], cls.bonds[:2] = torch.arange(3), torch.arange(2)
        write(cls.data / "G_A.txt", [f"{a + 1}, {b + 1}" for a, b in edges])
        write(cls.data / "G_graph_indicator.txt", [graph + 1 for graph, size in enumerate(cls.graphs) for _ in range(size)])
        write(cls.data / "G_graph_labels.txt", [graph % 2 for graph in range(12)])
        write(cls.data / "G_node_labels.txt", cls.nodes.tolist())
        write(cls.data / "G_edge_labels.txt", cls.bonds.tolist())
        for name, options in cls.OPTIONS.items():
            small = [option for option in SMALL if "--attention=none" not in options or "heads" not in option]
            run(GRAPH, "train", f"--data={cls.data}", f"--out={cls.folder / name}", "--folds=3", *small, *options)
        torch.classes.load_library(GRAPH_LIBRARY)

    def test_predictions_are_those_of_the_tool(self):
        order = torch.randperm(self.edges.shape[1], generator=torch.Generator().manual_seed(2))
        given = nn.FeaturedGraphs.from_edges(self.edges[:, order], self.ptr, node_categories=self.nodes[:, None],
                                             edge_categories=self.bonds[order, None])
        for name in self.OPTIONS:
            with self.subTest(run=name):
                place = self.folder / name
                served = torch.classes.geosft.GraphPredictor(str(place))
                model = geosft.load(place)
                self.assertEqual((model.task, model.output_names), (served.task(), served.output_names()))
                expected = served.predict_data(str(self.data))
                self.assertGreater(float((expected[0] - expected[1]).abs().max()), 0)
                self.close(model.predict(given), expected)
                prepared = model.prepare(given)
                self.assertEqual(prepared.node_encoding is not None, model.encoding > 0)
                self.assertTrue(torch.equal(model.predict(prepared), model.predict(given)))
                model.save(self.folder / f"{name}_written")
                again = torch.classes.geosft.GraphPredictor(str(self.folder / f"{name}_written"))
                self.assertTrue(torch.equal(again.predict_data(str(self.data)), expected))

    def test_missing_features_are_computed_of_fields_of_other_kinds(self):
        graphs = nn.FeaturedGraphs.from_edges(self.edges, self.ptr, node_categories=self.nodes[:, None], edge_categories=self.bonds[:, None])
        for name, seen in (("features", True), ("unseen", False)):
            model = geosft.load(self.folder / name)
            expected = model.predict(graphs)
            self.assertEqual(model.prepare(graphs).graph_features is not None, seen)
            strided = graphs._replace(rowptr=torch.stack([graphs.rowptr] * 2, 1)[:, 0], col=torch.stack([graphs.col] * 2, 1)[:, 0])
            for other in (strided, graphs._replace(node_categories=graphs.node_categories.int(), edge_categories=graphs.edge_categories.int()),
                          graphs._replace(node_categories=graphs.node_categories.byte()), graphs._replace(ptr=graphs.ptr.tolist())):
                self.assertTrue(torch.equal(model.predict(other), expected))

    @unittest.skipUnless(WITH_NUMPY, "NumPy is not installed")
    def test_arrays_give_the_bits_of_tensors(self):
        model = geosft.load(self.folder / "gatedgcn")
        weight = torch.ones(self.edges.shape[1])
        given = (self.edges, self.ptr, self.nodes[:, None], self.bonds[:, None], weight)

        def made(edges, ptr, nodes, bonds, weight):
            return nn.FeaturedGraphs.from_edges(edges, ptr, node_categories=nodes, edge_categories=bonds, weight=weight)

        graphs = made(*given)
        expected = model.predict(graphs)
        for some in arrays(*given):
            self.assertTrue(torch.equal(model.predict(made(*some)), expected))
        for some in arrays(*(one for one in graphs if one is not None)):
            fields = iter(some)
            both = nn.FeaturedGraphs(*(None if one is None else next(fields) for one in graphs))
            self.assertTrue(torch.equal(model.predict(both), expected))
            self.assertTrue(torch.equal(model.prepare(both).node_encoding, model.prepare(graphs).node_encoding))
        bad = self.nodes[:, None].numpy().astype("int8")
        for call in (lambda: made(*given[:2], bad, *given[3:]), lambda: model.predict(graphs._replace(node_categories=bad))):
            with self.assertRaisesRegex(TypeError, "^node_categories must be an array of int64, int32, float32 or float64, got int8"):
                call()
        with self.assertRaisesRegex(ValueError, "^edge_index must be int64"):
            made(self.edges.numpy().astype("int32"), *given[1:])

    def test_predictions_of_files_are_those_of_the_tool(self):
        for name in ("edges", "gatedgcn"):
            model = geosft.load(self.folder / name)
            lines = run(GRAPH, "predict", self.folder / name, self.data, "--json", "--top=2").splitlines()
            expected = [[dict(json.loads(line)["top"])[label] for label in model.output_names] for line in lines]
            self.close(model.predict_file(self.data).double(), torch.tensor(expected, dtype=torch.double))
        with self.assertRaisesRegex(FileNotFoundError, "nowhere"):
            model.predict_file(self.folder / "nowhere")
        with self.assertRaisesRegex(TypeError, "got a tuple"):
            model.predict(model.read(self.data))
        with self.assertRaisesRegex(TypeError, "source"):
            model.predict_file([])

    def test_ensembles(self):
        place = self.folder / "ensemble"
        run(GRAPH, "train", f"--data={self.data}", f"--out={place}", "--folds=3", *SMALL, "--ensemble=3")
        model = geosft.load(place)
        self.assertEqual(len(model.more_models), 2)
        graphs = nn.FeaturedGraphs.from_edges(self.edges, self.ptr, node_categories=self.nodes[:, None], edge_categories=self.bonds[:, None])
        expected = torch.classes.geosft.GraphPredictor(str(place)).predict_data(str(self.data))
        self.close(model.predict(graphs), expected)
        for part, said in (("best.ckpt", f"one network, without the 2 other networks and kernel ridge regression of its run: load {place}"),
                           ("model_1", f"one network of an ensemble: load {place}"), ("model_1/best.ckpt", f"one network of an ensemble: load {place}")):
            with self.assertWarnsRegex(UserWarning, said):
                self.assertEqual(geosft.load(place / part).more_models, ())
        shutil.copytree(place, self.folder / "bare")
        (self.folder / "bare" / "kernel.ckpt").unlink()
        with self.assertWarnsRegex(UserWarning, "kernel.ckpt is missing"):
            geosft.load(self.folder / "bare")
        with self.assertRaisesRegex(ValueError, "model must be one network"):
            geosft.export.standard(model)  # which max_tokens would not change
        model.save(self.folder / "ensemble_written")
        self.close(torch.classes.geosft.GraphPredictor(str(self.folder / "ensemble_written")).predict_data(str(self.data)), expected)

    def test_evaluations_of_a_run_that_was_written(self):
        geosft.load(self.folder / "edges").save(self.folder / "again")
        first, second = (json.loads(run(GRAPH, "eval", self.folder / name, "--json")) for name in ("edges", "again"))
        self.assertEqual(first["metrics"], second["metrics"])

    def test_bad_graphs_are_refused_by_name(self):
        model = geosft.load(self.folder / "edges")
        graphs = nn.FeaturedGraphs.from_edges(self.edges, self.ptr, node_categories=self.nodes[:, None], edge_categories=self.bonds[:, None])
        for name, value in (("node_categories", None), ("node_categories", self.nodes[:, None] + 1), ("edge_categories", self.bonds[:-1, None]),
                            ("node_categories", self.nodes[:, None].float())):
            with self.assertRaisesRegex(ValueError, name):
                model.predict(graphs._replace(**{name: value}))
        for ptr in (torch.tensor([0, 3]), torch.tensor([0, 1000])):
            with self.assertRaisesRegex(RuntimeError, "ptr"):
                model.predict(graphs._replace(ptr=ptr))


class Molecules(InFolder):
    """A table of SMILES: graphs and features of whole molecules, of a build with RDKit."""

    SMILES = ("CCO", "CCN", "CCCO", "CCCN", "CC(C)O", "CC(C)N", "c1ccccc1O", "c1ccccc1N", "OCCO", "NCCN", "CCCCO", "CCCCN")

    @classmethod
    def train(cls):
        table = cls.folder / "molecules.csv"
        write(table, ["smiles,oxygen,weight", *(f"{one},{int('O' in one)},{len(one)}" for one in cls.SMILES)])
        options = ("--head=sum", "--fingerprint=ecfp4", "--fingerprint-bits=32", "--descriptors", "--label-columns=weight", "--head-layers=2",
                   "--local=gine", "--normalization=batch")
        try:
            run(GRAPH, "train", "--preset=paper", f"--data={table}", f"--out={cls.run_}", "--split=folds", "--folds=3", *SMALL, "--num-samples=3",
                *options)
        except RuntimeError as error:
            if "without RDKit" in str(error):
                raise unittest.SkipTest("the tools were built without RDKit") from None
            raise
        torch.classes.load_library(GRAPH_LIBRARY)

    def test_predictions_are_those_of_the_tool(self):
        model = geosft.load(self.run_)
        self.assertGreater(model.graph_features, 32)
        file = self.folder / "some.csv"
        write(file, ["smiles", *self.SMILES[:5], "not a molecule"])
        rows = [json.loads(line) for line in run(GRAPH, "predict", self.run_, file, "--json", code=1).splitlines()]
        lines = [row for row in rows if "error" not in row]
        self.assertEqual(len(rows), 6)
        expected = torch.tensor([[line["values"][name] for name in model.output_names] for line in lines], dtype=torch.double)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            found = model.predict_file(file)
            names = model.read(file)[1]
        self.assertTrue(any("not a molecule" in str(one.message) or "line" in str(one.message) for one in said))
        self.assertEqual(found.shape, (5, 1))
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
        self.assertEqual([name.split()[0] for name in names], list(self.SMILES[:5]))
        torch.testing.assert_close(model.predict_file(list(self.SMILES[:5])), found)

    def test_chiral_tags(self):
        model = geosft.load(self.run_)
        spellings = ["C[C@H](N)C(=O)O", "N[C@@H](C)C(=O)O", "C[C@@H](N)C(=O)O"]
        one, same, mirrored = (model.read([smiles])[0].node_categories[:, 1].sum() for smiles in spellings)
        self.assertEqual(same, one)
        self.assertNotEqual(mirrored, one)
        one, same = (geosft.read_graphs([smiles], model.schema, chiral_tags="written")[0].node_categories[:, 1].sum() for smiles in spellings[:2])
        self.assertNotEqual(same, one)
        with self.assertRaisesRegex(RuntimeError, "chiral_tags must be written or canonical"):
            geosft.read_graphs(["C"], model.schema, chiral_tags="clockwise")

    @unittest.skipUnless(WITH_PYG, "no PyTorch Geometric")
    def test_chiral_tags_of_ogb_are_replaced(self):
        from torch_geometric.data import Data
        model = geosft.load(self.run_)
        smiles = "N[C@@H](C)C(=O)O"
        as_written = geosft.read_graphs([smiles], model.schema, chiral_tags="written")[0]
        expected = model.read([smiles])[0]
        self.assertFalse(torch.equal(as_written.node_categories, expected.node_categories))
        atoms = len(as_written.node_categories)
        edges = torch.stack((torch.repeat_interleave(torch.arange(atoms), as_written.rowptr.diff()), as_written.col))
        for categories in (as_written.node_categories, expected.node_categories):
            data = Data(x=categories, edge_index=edges, edge_attr=as_written.edge_categories, ptr=as_written.ptr, smiles=[smiles])
            self.assertTrue(torch.equal(model._with_chiral_tags(geosft.pyg.from_data(data), [smiles]).node_categories, expected.node_categories))

    @unittest.skipUnless(WITH_PYG, "no PyTorch Geometric")
    def test_atoms_in_another_coding_are_refused(self):
        from torch_geometric.data import Data
        model = geosft.load(self.run_)
        read = model.read(["CCO", "CCN"])[0]
        edges = torch.stack((torch.repeat_interleave(torch.arange(6), read.rowptr.diff()), read.col))
        data = Data(x=read.node_categories, edge_index=edges, edge_attr=read.edge_categories, ptr=read.ptr)
        data.smiles = ["CCO", "CCN"]
        with self.assertRaisesRegex(ValueError, "graph_features"):  # atoms are as they should be
            model.predict(data)
        data.x = data.x + torch.tensor([1, 0, 0, 0, 0, 0, 0, 0, 0])  # atoms by their number, as from_smiles has them
        with self.assertRaisesRegex(ValueError, "OGB's coding"):
            model.predict(data)
        data.smiles = ["CCO", "no molecule"]  # which tells nothing
        with self.assertRaisesRegex(ValueError, "graph_features"):
            model.predict(data)
        del data.smiles
        with self.assertRaisesRegex(ValueError, "graph_features"):
            model.predict(data)

    def test_kernel_regressions(self):
        for column, seen in (("weight", ()), ("oxygen", ("--random-forest",)), ("oxygen", ("--no-head-features",))):
            unseen = "--no-head-features" in seen
            place = self.folder / f"kernel_{column}{'_unseen' * unseen}"
            run(GRAPH, "train", f"--data={self.folder / 'molecules.csv'}", f"--out={place}", "--split=folds", "--folds=3", *SMALL, "--head=sum",
                "--fingerprint=ecfp2,torsion", "--fingerprint-bits=16", "--descriptors", "--kernel-ridge", f"--label-columns={column}",
                "--head-layers=2", "--num-samples=3", *seen)
            model = geosft.load(place)
            self.assertIsNotNone(model.kernel)
            self.assertEqual(model.graph_features > 0, not unseen)
            self.assertEqual("forest.roots" in model.kernel.state, "--random-forest" in seen)
            key = "values" if column == "weight" else "probabilities"
            file = self.folder / "all.csv"
            write(file, ["smiles", *self.SMILES])
            lines = [json.loads(line)[key][column] for line in run(GRAPH, "predict", place, file, "--json").splitlines()]
            torch.testing.assert_close(model.predict_file(file).flatten().double(), torch.tensor(lines, dtype=torch.double), rtol=1e-4, atol=1e-4)
            graphs = model.read(file)[0]
            self.assertEqual(model(model.prepare(graphs)).shape, (len(self.SMILES), 1))
            self.assertEqual(model.prepare(graphs).graph_features is None, unseen)
            for bad in (None, graphs.graph_features[:1], graphs.graph_features[:, 1:]):
                with self.assertRaisesRegex(ValueError, "graph_features"):
                    model.predict(graphs._replace(graph_features=bad))
            again = self.folder / f"{place.name}_again"
            model.save(again)
            torch.testing.assert_close(geosft.load(again).predict_file(file), model.predict_file(file))
            others = "(kernel ridge regression and )?random forest" if "--random-forest" in seen else "kernel ridge regression"
            with self.assertWarnsRegex(UserWarning, f"one network, without the {others} of its run"):
                alone = geosft.load(place / "best.ckpt").predict_file(file)
            self.assertFalse(torch.equal(alone, model.predict_file(file)))
            if column == "weight":
                continue
            del model.kernel.state["average_logits"]  # as earlier versions: with averages of probabilities
            model.save(again)
            earlier = geosft.load(again)
            found, weight, more = earlier.predict_file(file), earlier.kernel.weight, earlier.kernel.predict(graphs.graph_features)
            torch.testing.assert_close(found, ((1 - weight) * alone + weight * more.sigmoid()).float())
            lines = [json.loads(line)[key][column] for line in run(GRAPH, "predict", again, file, "--json").splitlines()]
            torch.testing.assert_close(found.flatten().double(), torch.tensor(lines, dtype=torch.double), rtol=1e-4, atol=1e-4)
            self.assertFalse(torch.equal(found, model.predict_file(file)))


class Energies(InFolder):
    """Molecules with coordinates: messages within a cutoff, and references of atoms."""

    @classmethod
    def train(cls):
        generator, energies = torch.Generator().manual_seed(1), []
        for i in range(12):
            atoms = "OHHCHN"[:3 + i % 4]
            places = torch.randn(len(atoms), 3, generator=generator) * 1.2
            write(cls.data / "xyz" / f"{i:04}.xyz", [len(atoms), i, *(f"{atom} {x} {y} {z}" for atom, (x, y, z) in zip(atoms, places.tolist()))])
            energies.append(f"{i:04}.xyz {-10.0 * len(atoms) - float(places.norm())}")
        write(cls.data / "hof_qm7.txt", energies)
        for local in ("gine", "gcn"):
            run(GRAPH, "train", "--preset=paper", f"--data={cls.data}", f"--out={cls.folder / local}", "--attention=none", f"--local={local}",
                "--edge-cutoff=2.5",
                "--radial-channels=6", "--atom-references", "--head=sum", "--dim=16", "--depth=2", "--epochs=2", "--split=folds", "--folds=3",
                "--validation-fraction=0.25", "--norm=pre")
        torch.classes.load_library(GRAPH_LIBRARY)

    def test_predictions_are_those_of_the_tool(self):
        file = self.data / "xyz" / "0005.xyz"
        for local in ("gine", "gcn"):
            with self.subTest(local=local):
                model = geosft.load(self.folder / local)
                self.assertGreater(float(model.target_reference.abs().max()), 0)
                values = json.loads(run(GRAPH, "predict", self.folder / local, file, "--json"))["values"]
                expected = torch.tensor([[values[name] for name in model.output_names]], dtype=torch.double)
                torch.testing.assert_close(model.predict_file(file), expected, rtol=1e-5, atol=1e-4)
                model.save(self.folder / f"{local}_written")
                again = json.loads(run(GRAPH, "predict", self.folder / f"{local}_written", file, "--json"))["values"]
                self.assertEqual(values, again)

    def test_a_file_of_several_molecules_has_a_row_for_each(self):
        files, both = [self.data / "xyz" / f"{i:04}.xyz" for i in (2, 5)], self.folder / "both.xyz"
        both.write_text("".join(file.read_text() for file in files))
        model = geosft.load(self.folder / "gine")
        self.assertEqual(model.read(both)[1], ["both.xyz:0", "both.xyz:1"])
        torch.testing.assert_close(model.predict_file(both), torch.cat([model.predict_file(file) for file in files]), rtol=1e-5, atol=1e-4)

    def test_forces_are_the_slopes_of_energies(self):
        """Along bonds, whose lengths are features of edges, and by attention that sees distances and angles."""
        atoms, generator = "COHHHH", torch.Generator().manual_seed(3)
        places = torch.tensor([[0.0, 0, 0], [1.4, 0, 0], [-0.4, 1, 0], [-0.4, -0.5, 0.9], [-0.4, -0.5, -0.9], [1.7, 0.9, 0]], dtype=torch.float64)
        direction = torch.randn(6, 3, dtype=torch.float64, generator=generator)
        file = self.folder / "methanol.xyz"

        def read(model, step):
            moved = places + step * direction
            write(file, [len(atoms), "", *(f"{atom} {x} {y} {z}" for atom, (x, y, z) in zip(atoms, moved.tolist()))])
            return model.prepare(model.read(file)[0])

        for options in (["--attention=none", "--local=gcn", "--mlp-ratio=0"], ["--attention=none", "--local=gine"],
                        ["--attention=sampling", "--distance-channels=4", "--angles", "--num-heads=2", "--num-samples=4"]):
            with self.subTest(options=options):
                out = self.folder / "_".join(options).replace("-", "").replace("=", "")
                run(GRAPH, "train", "--preset=paper", f"--data={self.data}", f"--out={out}", *options, "--head=sum", "--dim=16", "--depth=2", "--epochs=2",
                    "--split=folds", "--folds=3", "--norm=pre")
                model = geosft.load(out).double().eval()
                graphs = read(model, 0.0)
                coordinates = graphs.coordinates.double().requires_grad_()
                slope, = torch.autograd.grad(model(graphs._replace(coordinates=coordinates)).sum(), coordinates)
                with torch.no_grad():
                    difference = (model(read(model, 1e-3)) - model(read(model, -1e-3))).sum() / 2e-3
                self.assertGreater(abs(difference), 1e-2)
                torch.testing.assert_close((slope * direction).sum(), difference, rtol=0.1, atol=1e-3)  # kinks lie between the steps
                self.assertRaisesRegex(TypeError, "graphs must be FeaturedGraphs", lambda: model("methanol.xyz"))

    def test_elements_that_training_lacks_are_told(self):
        file = self.folder / "chlorine.xyz"
        write(file, ["2", "", "H 0 0 0", "Cl 1.27 0 0"])
        with self.assertWarnsRegex(UserWarning, "no atom of the atomic number 17: "):
            geosft.load(self.folder / "gine").predict_file(file)

    def test_references_are_those_that_a_training_fits(self):
        model = geosft.load(self.folder / "gine")
        graphs = [model.read(self.data / "xyz" / f"{i:04}.xyz")[0] for i in range(4)]
        counts = torch.stack([torch.bincount(one.node_categories[:, 0], minlength=model.node_vocabulary[0]) for one in graphs]).double()
        joined = nn.FeaturedGraphs(torch.cat([torch.zeros(1, dtype=torch.int64), counts.sum(1).long().cumsum(0)]), 
                                   torch.zeros(int(counts.sum()) + 1, dtype=torch.int64), torch.zeros(0, dtype=torch.int64),
                                   torch.cat([one.node_categories for one in graphs]), edge_values=torch.zeros(0, model.edge_values),
                                   coordinates=torch.cat([one.coordinates for one in graphs]))
        targets = counts @ torch.arange(model.node_vocabulary[0], dtype=torch.double).unsqueeze(1) + 0.01 * torch.randn(
            4, 1, dtype=torch.double, generator=torch.Generator().manual_seed(2))
        model.standardize(joined, targets)
        fitted = counts @ (model.target_reference.double() * model.target_deviation.double()) + model.target_mean.double()
        torch.testing.assert_close(fitted, targets, rtol=1e-3, atol=0.05)


def wave(i, dimensions, steps):
    """A slow or fast wave, by the parity of i: [dimensions][steps], with a value that is missing."""
    rows = [[f"{math.sin((2.0 if i % 2 else 0.5) * t + i + 1.5 * d):.4f}" for t in range(steps)] for d in range(dimensions)]
    rows[0][i % steps] = "?"
    return rows


def write_series(file, first, count, dimensions, shortest):
    lines = [":".join([*(",".join(row) for row in wave(i, dimensions, shortest + i % 4)), ("slow", "fast")[i % 2]]) for i in range(first, first + count)]
    write(file, ["@problemName W", "@timeStamps false", "@missing true", f"@dimensions {dimensions}", "@equalLength false",
                 "@classLabel true slow fast", "@data", *lines])


def write_images(folder, name, count):
    """Pictures of 4 x 6 pixels, dark or bright, in MNIST's form."""
    pixels = bytes((7 * i * j + 120 * (i % 2)) % 256 for i in range(count) for j in range(24))
    (folder / f"{name}-images-idx3-ubyte").write_bytes(b"".join(n.to_bytes(4, "big") for n in (2051, count, 4, 6)) + pixels)
    (folder / f"{name}-labels-idx1-ubyte").write_bytes(b"".join(n.to_bytes(4, "big") for n in (2049, count)) + bytes(i % 2 for i in range(count)))


class Sequences(InFolder):
    # Name of a run: its data, and options.
    RUNS = {
        "added": ("waves", ("--attention=softmax", "--positions=added")),
        "relative": ("waves", ("--positions=relative", "--num-samples=4", "--votes=2")),
        "patches": ("waves", ("--attention=bn_sh", "--patch-size=2", "--max-length=5")),
        "tolerance": ("waves", ("--attention=polynomial", "--tolerance=0.5", "--or-exact")),
        "one": ("line", ("--attention=conv1d",)),
        "texts": ("texts", ("--attention=linear_bn", "--max-length=9", "--positions=added")),
        "images": ("images", ("--attention=conv2d", "--patch-size=2")),
        "tokens": ("images", ("--attention=conv2d", "--patch-size=2", "--head=class_token", "--positions=learned")),
    }

    @classmethod
    def train(cls):
        for name, dimensions in (("waves", 2), ("line", 1)):
            write_series(cls.data / name / "W_TRAIN.ts", 0, 10, dimensions, 6)
            write_series(cls.data / name / "W_TEST.ts", 10, 5, dimensions, 6)
        for split, count in (("train", 6), ("test", 3)):
            for i in range(count):
                write(cls.data / "texts" / split / ("odd", "even")[i % 2] / f"{i}.txt", [f"{i}{i * i} defgh" * (1 + i % 2) + "x" * i])
            (cls.data / "images").mkdir(exist_ok=True)
            write_images(cls.data / "images", "t10k" if split == "test" else split, count)
        for name, (data, options) in cls.RUNS.items():
            run(SEQUENCE, "train", f"--data={cls.data / data}", f"--out={cls.folder / name}", *SMALL, "--batch-size=4", "--validation-fraction=0.25",
                *options)
        torch.classes.load_library(GRAPH_LIBRARY)

    def probabilities(self, model, *arguments):
        """What geosft-sequence predicts, by class."""
        lines = run(SEQUENCE, "predict", *arguments, "--json", f"--top={len(model.output_names)}").splitlines()
        rows = [[dict(json.loads(line)["top"])[label] for label in model.output_names] for line in lines]
        return torch.tensor(rows, dtype=torch.double)

    def test_predictions_of_datasets_are_those_of_the_tool(self):
        for name, (data, _) in self.RUNS.items():
            with self.subTest(run=name):
                model = geosft.load(self.folder / name)
                expected = torch.classes.geosft.GraphPredictor(str(self.folder / name)).predict_data(str(self.data / data))
                self.assertGreater(float((expected[0] - expected[1]).abs().max()), 0)
                found = model.predict_file(self.data / data)
                self.close(found, expected)
                self.close(found.double(), self.probabilities(model, self.folder / name))

    def test_predictions_of_files_are_those_of_the_tool(self):
        series = self.data / "waves" / "W_TEST.ts"
        for name in ("added", "relative", "patches", "tolerance"):
            with self.subTest(run=name):
                model = geosft.load(self.folder / name)
                self.close(model.predict_file(series).double(), self.probabilities(model, self.folder / name, series))
        model = geosft.load(self.folder / "one")
        table, weka = self.folder / "new.tsv", self.folder / "new.arff"
        rows = [[1.0, -0.5, 0.25 * i, 2.0, -1.0, 0.5] for i in range(3)]
        write(table, ["\t".join(map(str, [1, *row])) for row in rows])
        write(weka, ["@relation new", *(f"@attribute t{t} numeric" for t in range(6)), "@attribute class {a,b}", "@data",
                     *(",".join(map(str, [*row, "a"])) for row in rows)])
        for file in (table, weka):
            self.close(model.predict_file(file).double(), self.probabilities(model, self.folder / "one", file))
        self.assertTrue(torch.equal(model.predict_file(table), model.predict_file(weka)))

    def test_a_run_that_was_written_is_read_by_the_tool(self):
        model = geosft.load(self.folder / "tolerance")
        model.save(self.folder / "written")
        series = self.data / "waves" / "W_TEST.ts"
        self.close(model.predict_file(series).double(), self.probabilities(model, self.folder / "written", series))

    def test_other_sequences_are_refused_by_name(self):
        model, images = geosft.load(self.folder / "added"), geosft.load(self.folder / "images")
        with self.assertRaisesRegex(ValueError, "source.*node_values 2.*node_values 1"):
            model.predict_file(self.data / "line" / "W_TEST.ts")
        with self.assertRaisesRegex(ValueError, "source.*grid_height 2"):
            images.predict_file(self.data / "line" / "W_TEST.ts")
        with self.assertRaisesRegex(FileNotFoundError, "none.ts"):
            model.predict_file(self.folder / "none.ts")
        table = self.folder / "table.csv"
        table.write_text("a,b\n1,2\n")
        for source in (self.folder, table):
            with self.assertRaisesRegex(RuntimeError, str(source)):
                model.predict_file(source)
        with self.assertRaisesRegex(TypeError, "source"):
            model.predict_file(["CCO"])
        with self.assertRaisesRegex(ValueError, "patch_size"):
            geosft.read_sequences(self.data / "waves", {}, patch_size=0)
        with self.assertRaisesRegex(RuntimeError, "patch_size 3"):
            geosft.read_sequences(self.data / "images", {}, patch_size=3)
        graphs = geosft.read_sequences(self.data / "waves" / "W_TEST.ts", {})
        self.assertEqual((len(graphs.ptr), graphs.node_values.shape[1], graphs.node_categories), (6, 2, None))


class Files(unittest.TestCase):
    def test_tensors_and_texts_come_back(self):
        tensors = {"a": torch.randn(3, 4), "b.~c d": torch.zeros(0, 3), "number": torch.tensor(3), "half": torch.randn(5).half(),
                   "flags": torch.tensor([True, False]), "strided": torch.randn(4, 6)[:, ::2]}
        texts = {"kind": "é\n", "empty": ""}
        with tempfile.TemporaryDirectory() as folder:
            for save, load in ((checkpoints.save_checkpoint, checkpoints.load_checkpoint),
                               (checkpoints.save_safetensors, checkpoints.load_safetensors)):
                save(f"{folder}/file", tensors, texts)
                found, said = load(f"{folder}/file")
                self.assertEqual((set(found), said), (set(tensors), texts))
                for name, tensor in tensors.items():
                    self.assertEqual((found[name].dtype, found[name].shape), (tensor.dtype, tensor.shape))
                    self.assertTrue(torch.equal(found[name], tensor))
                with self.assertRaisesRegex(ValueError, "odd"):
                    save(f"{folder}/file", {"odd": torch.eye(2).to_sparse()}, {})
            self.assertEqual(os.listdir(folder), ["file"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
