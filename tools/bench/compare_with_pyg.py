# SPDX-License-Identifier: Apache-2.0
"""Times an epoch of training of geosft-graph and of PyTorch Geometric, of the same sizes on the same graphs.

usage: python3 tools/bench/compare_with_pyg.py PROGRAM GRAPHS gcn|gps [--count N] [--epochs N] [--batch-size N]
                                               [--num-samples K] [--threads N]

  PROGRAM   geosft-graph
  GRAPHS    file of packed graphs with a training split and categories of nodes and edges, as geosft-graph caches a set
            (the largest *.graphs.h5 below ~/.cache/geosft after a training on Peptides-func)
  gcn       4 layers of graph convolution without edge features, batch normalisation, mean pooling; baseline: GCNConv,
            its normalisation computed beforehand
  gps       4 layers of GINE beside sampled attention that sees the edges, batch normalisation, mlp_ratio 2; baseline:
            GPSConv with GINEConv, and 8 heads over all nodes

Width 96, 8 heads, AdamW, binary cross entropy. The same graphs, batch size, optimiser steps and threads; ours reads and
packs its batches in the time, the baselines have theirs in memory beforehand or, in one row, from PyG's DataLoader. The
baselines run with tcmalloc, as our program does, eagerly and under torch.compile, and the convolution also by sparse
matrices. Printed are the minimum wall time of an epoch and the mean processor time, after one epoch unmeasured, and the
ratio of ours to them. Needs h5py and torch_geometric.
"""

import argparse
import csv
import ctypes
import ctypes.util
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

WIDTH, LAYERS, HEADS = 96, 4, 8


def parsed_arguments():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("graphs", type=pathlib.Path)
    parser.add_argument("model", choices=["gcn", "gps"])
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--num-samples", type=int, default=75)
    parser.add_argument("--threads", type=int, default=1)
    return parser.parse_args()


def prepare_process(threads):
    """Starts the program again with tcmalloc preloaded and the number of threads set."""
    own = dict(os.environ, OMP_NUM_THREADS=str(threads), MKL_NUM_THREADS=str(threads))
    library = ctypes.util.find_library("tcmalloc_minimal") or ctypes.util.find_library("tcmalloc")
    if library and not hasattr(ctypes.CDLL(None), "tc_version"):
        own["LD_PRELOAD"] = library
    if own != dict(os.environ) and "GEOSFT_BENCH_PREPARED" not in own:
        own["GEOSFT_BENCH_PREPARED"] = "1"
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], own)


ARGUMENTS = parsed_arguments()
prepare_process(ARGUMENTS.threads)

import h5py  # noqa: E402
import numpy  # noqa: E402
import torch  # noqa: E402
import torch_geometric  # noqa: E402
from torch import nn  # noqa: E402
from torch_geometric.data import Batch, Data  # noqa: E402
from torch_geometric.loader import DataLoader  # noqa: E402
from torch_geometric.nn import GCNConv, GINEConv, GPSConv, global_mean_pool  # noqa: E402
from torch_geometric.nn.conv.gcn_conv import gcn_norm  # noqa: E402


class Graphs:
    """The first graphs of the training split, and two more, which our program needs as its other splits."""

    def __init__(self, file, count, with_edges):
        with h5py.File(file) as stored:
            chosen = stored["split_train"][:count + 2]
            ptr, rowptr = stored["ptr"][:], stored["rowptr"][:]
            nodes = numpy.concatenate([numpy.arange(ptr[b], ptr[b + 1]) for b in chosen])
            edges = numpy.concatenate([numpy.arange(rowptr[ptr[b]], rowptr[ptr[b + 1]]) for b in chosen])
            sizes, degrees = numpy.diff(ptr)[chosen], numpy.diff(rowptr)[nodes]
            place = numpy.zeros(ptr[-1], dtype=numpy.int64)
            place[nodes] = numpy.arange(len(nodes))
            self.ptr = numpy.concatenate([[0], sizes.cumsum()])
            self.rowptr = numpy.concatenate([[0], degrees.cumsum()])
            self.col = place[stored["col"][:][edges]]
            self.node_categories, self.node_vocabulary = stored["node_categories"][:][nodes], stored["node_vocabulary"][:]
            self.target = stored["target"][:][chosen]
            self.texts = {name: stored[name][:] for name in ("task", "output_names", "geosft_packed_graphs")}
            self.edge_categories = None
            if with_edges:
                self.edge_categories, self.edge_vocabulary = stored["edge_categories"][:][edges], stored["edge_vocabulary"][:]

    def write(self, file):
        count = len(self.ptr) - 3
        with h5py.File(file, "w") as out:
            for name in ("ptr", "rowptr", "col", "node_categories", "node_vocabulary", "target"):
                out[name] = getattr(self, name)
            for name, text in self.texts.items():
                out[name] = text
            if self.edge_categories is not None:
                out["edge_categories"], out["edge_vocabulary"] = self.edge_categories, self.edge_vocabulary
            out["split_train"], out["split_validation"], out["split_test"] = numpy.arange(count), [count], [count + 1]

    def data(self):
        graphs = []
        source = numpy.repeat(numpy.arange(len(self.rowptr) - 1), numpy.diff(self.rowptr))
        for b in range(len(self.ptr) - 3):
            first, last = self.ptr[b], self.ptr[b + 1]
            low, high = self.rowptr[first], self.rowptr[last]
            # Messages go from the second to the first row in ours, from the first to the second in PyG.
            ends = numpy.stack([self.col[low:high], source[low:high]]) - first
            graph = Data(x=torch.from_numpy(self.node_categories[first:last].astype(numpy.int64)),
                         edge_index=torch.from_numpy(ends), y=torch.from_numpy(self.target[b:b + 1]).float())
            if self.edge_categories is not None:
                graph.edge_attr = torch.from_numpy(self.edge_categories[low:high].astype(numpy.int64))
            graphs.append(graph)
        return graphs


def timed_program(graphs):
    """Seconds of wall and of processor time of an epoch of geosft-graph; the start of the program does not count."""
    options = {"dim": WIDTH, "depth": LAYERS, "normalization": "batch", "head": "mean", "norm": "post",
               "token-dropout": 0, "encoding": "none", "batch-size": ARGUMENTS.batch_size, "drop-token-rate": 0,
               "clip-grad-norm": 0, "validate-every": 100, "checkpoint-every": 100, "schedule": "cosine", "lr": 1e-3}
    if ARGUMENTS.model == "gcn":
        options |= {"attention": "none", "local": "gcn", "mlp-ratio": 0}
    else:
        options |= {"attention": "sampling", "local": "gine", "mlp-ratio": 2, "num-heads": HEADS,
                    "num-samples": ARGUMENTS.num_samples, "score-dropout": 0, "feed-forward-dropout": 0}
    with tempfile.TemporaryDirectory() as folder:
        file, spent, wall = pathlib.Path(folder) / "graphs.h5", {}, None
        graphs.write(file)
        for epochs in (1, 1 + ARGUMENTS.epochs):
            run = pathlib.Path(folder) / f"run_{epochs}"
            command = [ARGUMENTS.program, "train", "--data", file, "--out", run, "--threads", ARGUMENTS.threads,
                       "--epochs", epochs]
            for name, value in options.items():
                command += [f"--{name}", value]
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(done.stderr)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent[epochs] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            with open(run / "metrics.csv") as rows:
                rates = [float(row["graphs_per_second"]) for row in csv.DictReader(rows) if row["split"] == "train"]
            wall = ARGUMENTS.count / max(rates[1:] or rates)
    return wall, (spent[1 + ARGUMENTS.epochs] - spent[1]) / ARGUMENTS.epochs


class Tables(nn.Module):
    """The sum of an embedding for each column of categories."""

    def __init__(self, vocabulary):
        super().__init__()
        self.register_buffer("begin", torch.tensor([0, *vocabulary[:-1].cumsum().tolist()]))
        self.table = nn.Embedding(int(vocabulary.sum()), WIDTH)

    def forward(self, categories):
        return self.table(categories + self.begin).sum(1)


class Convolutions(nn.Module):
    def __init__(self, graphs):
        super().__init__()
        self.nodes = Tables(graphs.node_vocabulary)
        self.convolutions = nn.ModuleList(GCNConv(WIDTH, WIDTH, normalize=False) for _ in range(LAYERS))
        self.norms = nn.ModuleList(nn.BatchNorm1d(WIDTH) for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, graphs.target.shape[1])

    def forward(self, x, edges, weight, batch, size):
        x = self.nodes(x)
        for convolution, norm in zip(self.convolutions, self.norms):
            x = x + nn.functional.gelu(norm(convolution(x, edges, weight)))
        return self.head(global_mean_pool(x, batch, size))


class Transformer(nn.Module):
    def __init__(self, graphs):
        super().__init__()
        self.nodes, self.edges = Tables(graphs.node_vocabulary), Tables(graphs.edge_vocabulary)

        def convolution():
            return GINEConv(nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.Linear(WIDTH, WIDTH)))

        self.layers = nn.ModuleList(GPSConv(WIDTH, convolution(), HEADS, act="gelu") for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, graphs.target.shape[1])

    def forward(self, x, edges, edge_attr, batch, size):
        x, edge_attr = self.nodes(x), self.edges(edge_attr)
        for layer in self.layers:
            x = layer(x, edges, batch, edge_attr=edge_attr)
        return self.head(global_mean_pool(x, batch, size))


def inputs(batch, sparse):
    """The arguments of a model, and the targets."""
    if ARGUMENTS.model == "gps":
        return (batch.x, batch.edge_index, batch.edge_attr, batch.batch, batch.num_graphs), batch.y
    edges, weight = gcn_norm(batch.edge_index, None, batch.num_nodes)
    if sparse:
        shape = (batch.num_nodes, batch.num_nodes)
        edges = torch.sparse_coo_tensor(edges.flip(0), weight, shape).coalesce().to_sparse_csr()
        weight = None
    return (batch.x, edges, weight, batch.batch, batch.num_graphs), batch.y


def timed_training(model, epoch_of_batches):
    """Seconds of wall and of processor time of an epoch."""
    optimizer, times = torch.optim.AdamW(model.parameters(), 1e-3, fused=True), []
    for _ in range(1 + ARGUMENTS.epochs):
        wall, cpu = time.perf_counter(), time.process_time()
        for arguments, target in epoch_of_batches():
            optimizer.zero_grad(set_to_none=True)
            nn.functional.binary_cross_entropy_with_logits(model(*arguments), target).backward()
            optimizer.step()
        times.append((time.perf_counter() - wall, time.process_time() - cpu))
    measured = times[1:]
    return min(wall for wall, _ in measured), sum(cpu for _, cpu in measured) / len(measured)


def baselines(graphs):
    data = graphs.data()
    torch.manual_seed(0)
    model = Convolutions if ARGUMENTS.model == "gcn" else Transformer

    def held(sparse=False):
        order = torch.randperm(len(data), generator=torch.Generator().manual_seed(1)).tolist()
        parts = [order[i:i + ARGUMENTS.batch_size] for i in range(0, len(order), ARGUMENTS.batch_size)]
        batches = [inputs(Batch.from_data_list([data[i] for i in part]), sparse) for part in parts]
        return lambda: batches

    def loaded():
        return (inputs(batch, False) for batch in DataLoader(data, ARGUMENTS.batch_size, shuffle=True))

    yield "PyG, eager, batches in memory", lambda: timed_training(model(graphs), held())
    yield "PyG, eager, DataLoader", lambda: timed_training(model(graphs), loaded)
    if ARGUMENTS.model == "gcn":
        yield "PyG, eager, sparse CSR", lambda: timed_training(model(graphs), held(sparse=True))
    yield "PyG, torch.compile", lambda: timed_training(torch.compile(model(graphs), dynamic=True), held())


def main():
    torch.set_num_threads(ARGUMENTS.threads)
    graphs = Graphs(ARGUMENTS.graphs, ARGUMENTS.count, ARGUMENTS.model == "gps")
    allocator = "tcmalloc" if hasattr(ctypes.CDLL(None), "tc_version") else "glibc"
    print(f"PyTorch {torch.__version__}, PyG {torch_geometric.__version__}, {ARGUMENTS.threads} threads, {allocator};"
          f" {ARGUMENTS.count} graphs, {graphs.ptr[-3]} nodes, batches of {ARGUMENTS.batch_size}")
    ours = timed_program(graphs)
    print(f"  {'geosft-graph':34} {ours[0]:8.2f} s an epoch ({ours[1]:.2f} CPU)", flush=True)
    for name, measure in baselines(graphs):
        try:
            wall, cpu = measure()
        except Exception as error:  # torch.compile fails in many ways
            print(f"  {name:34} left out: {type(error).__name__}: {str(error).splitlines()[0][:100]}")
            continue
        print(f"  {name:34} {wall:8.2f} s an epoch ({cpu:.2f} CPU)   ours/it {ours[0] / wall:.3f}"
              f" ({ours[1] / cpu:.3f} CPU)", flush=True)


if __name__ == "__main__":
    main()
