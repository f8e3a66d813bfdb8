# SPDX-License-Identifier: Apache-2.0
"""A classifier and a model of graphs, compiled from Python, run by a program without Python: run_packages.py FOLDER
PROGRAM compares what PROGRAM (tools/examples/11_run_a_package.cpp) prints with the models, for items of several sizes."""

import pathlib
import subprocess
import sys

import geosft
import torch
from geosft import export, nn

FOLDER, PROGRAM = map(pathlib.Path, sys.argv[1:])
SMALL = dict(dim=16, num_heads=2, num_samples=5, depth=2)
SIZES = ([40, 50], [1, 0, 3, 17], [300])


def clouds(sizes):
    points = torch.rand(sum(sizes), 3)
    return {"points": points, "normals": torch.nn.functional.normalize(points - 0.5, dim=1)}


def rings(sizes):
    begin = torch.tensor(sizes).cumsum(0) - torch.tensor(sizes)
    ends = [torch.stack((torch.arange(n), (torch.arange(n) + 1) % n)) + b for n, b in zip(sizes, begin.tolist()) if n > 0]
    edges = torch.cat([torch.cat((one, one.flip(0)), 1) for one in ends], 1)
    nodes = sum(sizes)
    graphs = nn.FeaturedGraphs.from_edges(
        edges, torch.tensor([0, *sizes]).cumsum(0), node_categories=torch.randint(3, (nodes, 1)),
        edge_categories=torch.randint(4, (edges.shape[1], 1)), edge_values=torch.rand(edges.shape[1], 2))
    return graphs._replace(node_encoding=geosft.random_walk_pe(graphs.rowptr, graphs.col, 3))._asdict()


def run(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=300)


torch.manual_seed(1)
torch.set_num_threads(1)
models = {"classifier": (nn.PointClassifier(4, **SMALL), clouds),
          "graphs": (nn.GraphModel(3, **SMALL, node_vocabulary=[3], edge_vocabulary=[4], edge_values=2, encoding=3), rings)}
for name, (model, items) in models.items():
    package, inputs = FOLDER / f"{name}.pt2", FOLDER / f"{name}.inputs"
    export.package(model, package)
    for sizes in SIZES:
        given = {**items(sizes), "ptr": torch.tensor([0, *sizes]).cumsum(0)}
        torch.save([given[one] for one in export.input_names(model)], inputs)
        done = run(package, inputs)
        assert done.returncode == 0, done.stderr
        found = torch.tensor([[float(word) for word in line.split()] for line in done.stdout.splitlines()])
        model.eval()
        with torch.no_grad():
            if isinstance(model, nn.GraphModel):
                expected = model(nn.FeaturedGraphs(**given))
            else:
                expected = model(given["points"], given["normals"], given["ptr"])
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
        assert float(expected.std()) > 0
    print(f"{name}: {len(SIZES)} batches of the program are those of the model")
broken = FOLDER / "broken.inputs"
torch.save([torch.zeros(3)], broken)
for words in ((FOLDER / "absent.pt2", broken), (FOLDER / "graphs.pt2", FOLDER / "absent"), (FOLDER / "graphs.pt2", broken)):
    done = run(*words)
    assert done.returncode == 1 and "11_run_a_package: " in done.stderr, (done.returncode, done.stderr)
