#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes one large random graph for geosft-graph, in the raw form of the Open Graph Benchmark's ogbn-* sets.

usage: tools/random_graph.py --out DIR [--nodes 1000000] [--edges 2000000] [--seed 0]

Every edge links two nodes drawn at random (geosft-graph takes it in both directions). A node has four normal values; its
class, 0 or 1, is the sign of the first one and its neighbours' mean of it together, so that the edges count. Of the nodes
eight in ten are for training, one for validation, one for testing. DIR must not be there yet. Needs numpy.
"""

import argparse
import gzip
import pathlib
import sys

import numpy


def write(path, rows, form):
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", compresslevel=1) as file:
        numpy.savetxt(file, rows, fmt=form, delimiter=",")


def classes(ends, values):
    """Of each node, int64 [n]."""
    total, degree = numpy.zeros(len(values)), numpy.zeros(len(values))
    for source, target in (ends, ends[::-1]):
        numpy.add.at(total, source, values[target])
        numpy.add.at(degree, source, 1)
    return (values + total / numpy.maximum(degree, 1) > 0).astype(numpy.int64)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--edges", type=int, default=2_000_000)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args(arguments)
    if chosen.nodes < 10 or chosen.edges < 1:
        parser.error("--nodes must be at least 10, and --edges 1")
    if chosen.out.exists():
        parser.error(f"--out {chosen.out} is there already")
    random = numpy.random.default_rng(chosen.seed)
    ends = random.integers(chosen.nodes, size=(2, chosen.edges))
    features = random.normal(size=(chosen.nodes, 4))
    raw, split = chosen.out / "raw", chosen.out / "split" / "random"
    write(raw / "num-node-list.csv.gz", [chosen.nodes], "%d")
    write(raw / "num-edge-list.csv.gz", [chosen.edges], "%d")
    write(raw / "edge.csv.gz", ends.T, "%d")
    write(raw / "node-feat.csv.gz", features, "%.4f")
    write(raw / "node-label.csv.gz", classes(ends, features[:, 0]), "%d")
    order, tenth = random.permutation(chosen.nodes), chosen.nodes // 10
    for name, part in (("test", order[:tenth]), ("valid", order[tenth : 2 * tenth]), ("train", order[2 * tenth :])):
        write(split / f"{name}.csv.gz", part, "%d")


if __name__ == "__main__":
    main(sys.argv[1:])
