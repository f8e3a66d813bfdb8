#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes small stand-ins for two sets of the Long Range Graph Benchmark, in the published form.

usage: tools/benchmark_stand_ins.py peptides-struct --out DIR [--graphs 200] [--seed 0]
       tools/benchmark_stand_ins.py pascalvoc-sp --out DIR [--graphs 60] [--nodes 200] [--seed 0]

peptides-struct: DIR/peptide_structure_dataset.csv.gz, the SMILES of random peptides with 11 measures of a helix of their
residues, and DIR/split.pickle, a dictionary of lists. `tools/convert_graphs.py split DIR/split.pickle --out DIR` makes
the files of the split.
pascalvoc-sp: DIR/train.pickle, val.pickle and test.pickle, lists of pictures' superpixels: 14 values per node (mean,
deviation, maximum and minimum of three colours, and the place), two per edge, and one of 21 classes per node, discs of a
colour on the background 0. `tools/convert_graphs.py superpixels` makes one file of them.

So the configurations peptides_struct.toml and pascalvoc_sp.toml run from the published form to a table without the
published data. Their figures say nothing of these. DIR must not be there yet. Needs numpy.
"""

import argparse
import gzip
import pathlib
import pickle
import sys

try:
    import numpy
except ImportError as missing:  # --help needs none
    if not {"-h", "--help"} & set(sys.argv):
        sys.exit(f"benchmark_stand_ins.py: {missing}")

# Side chains in SMILES, and their masses without hydrogen.
RESIDUES = {
    "G": ("", 0.0), "A": ("C", 12.0), "V": ("C(C)C", 36.0), "L": ("CC(C)C", 48.0), "I": ("C(C)CC", 48.0),
    "S": ("CO", 28.0), "T": ("C(C)O", 40.0), "C": ("CS", 44.0), "M": ("CCSC", 68.0), "D": ("CC(=O)O", 56.0),
    "E": ("CCC(=O)O", 68.0), "N": ("CC(N)=O", 54.0), "Q": ("CCC(N)=O", 66.0), "K": ("CCCCN", 62.0),
    "R": ("CCCNC(=N)N", 90.0), "H": ("Cc1c[nH]cn1", 76.0), "F": ("Cc1ccccc1", 84.0), "Y": ("Cc1ccc(O)cc1", 100.0),
    "W": ("Cc1c[nH]c2ccccc12", 122.0),
}
BACKBONE_MASS = 54.0  # N, C, C and O
MEASURES = [f"Inertia_{kind}_{axis}" for kind in ("mass", "valence") for axis in "abc"]
MEASURES += ["length_a", "length_b", "length_c", "Spherocity", "Plane_best_fit"]

CLASSES, MAX_OBJECTS, COLOURS = 21, 3, 3


def smiles(residues):
    """The SMILES of a peptide, from the N-terminus."""
    return "".join(f"N{'C' if one == 'G' else f'[C@@H]({RESIDUES[one][0]})'}C(=O)" for one in residues) + "O"


def helix(residues):
    """Two points per residue of an alpha helix, backbone and side chain, and their masses, in angstrom and dalton."""
    turn, rise = numpy.deg2rad(100.0), 1.5
    angle = turn * numpy.arange(len(residues))
    outward = numpy.stack([numpy.cos(angle), numpy.sin(angle), numpy.zeros(len(residues))], axis=1)
    axis = numpy.outer(rise * numpy.arange(len(residues)), [0.0, 0.0, 1.0])
    side = numpy.array([RESIDUES[one][1] for one in residues])
    points = numpy.concatenate([axis + 2.3 * outward, axis + (3.3 + side / 40.0)[:, None] * outward])
    return points, numpy.concatenate([numpy.full(len(residues), BACKBONE_MASS), side])


def moments(points, weights):
    """The principal moments of inertia, ascending."""
    centred = points - numpy.average(points, axis=0, weights=weights)
    squares = (weights * (centred**2).sum(axis=1)).sum()
    return numpy.linalg.eigvalsh(squares * numpy.eye(3) - (centred.T * weights) @ centred)


def measures(residues):
    """The 11 numbers of a peptide."""
    points, masses = helix(residues)
    centred = points - points.mean(axis=0)
    spreads, axes = numpy.linalg.eigh(centred.T @ centred / len(points))
    lengths = numpy.ptp(centred @ axes, axis=0)[::-1]
    return [*moments(points, masses), *moments(points, numpy.ceil(masses / 14.0)), *lengths,
            3.0 * spreads[0] / spreads.sum(), numpy.abs(centred @ axes[:, 0]).mean()]


def split_of(random, count):
    """Numbers of graphs, as the published splits have them: 70 % for training, 15 % each for validation and testing."""
    order, part = random.permutation(count), max(1, round(0.15 * count))
    return {"train": sorted(order[2 * part:].tolist()), "val": sorted(order[:part].tolist()),
            "test": sorted(order[part:2 * part].tolist())}


def write_peptides(out, random, count):
    letters = list(RESIDUES)
    with gzip.open(out / "peptide_structure_dataset.csv.gz", "wt") as file:
        file.write(",smiles,peptide_seq," + ",".join(MEASURES) + "\n")
        for number in range(count):
            residues = [letters[i] for i in random.integers(len(letters), size=random.integers(5, 31))]
            numbers = ",".join(f"{one:.6g}" for one in measures(residues))
            file.write(f"{number},{smiles(residues)},{''.join(residues)},{numbers}\n")
    with open(out / "split.pickle", "wb") as file:
        pickle.dump(split_of(random, count), file)


def grid_edges(side):
    """Superpixels of a grid: those above, below and beside each other are neighbours, in both directions."""
    place = numpy.arange(side * side).reshape(side, side)
    pairs = numpy.concatenate([numpy.stack([place[:, :-1].ravel(), place[:, 1:].ravel()]),
                               numpy.stack([place[:-1].ravel(), place[1:].ravel()])], axis=1)
    return numpy.concatenate([pairs, pairs[::-1]], axis=1)


def superpixels(random, nodes, palette):
    """A picture: x [n, 14], edge_attr [e, 2], edge_index [2, e] and y [n]."""
    side = max(2, round(nodes**0.5))
    rows, columns = numpy.divmod(numpy.arange(side * side), side)
    place = (numpy.stack([rows, columns], axis=1) + random.uniform(0.2, 0.8, (side * side, 2))) / side
    label = numpy.zeros(side * side, dtype=numpy.int64)
    for _ in range(random.integers(1, MAX_OBJECTS + 1)):
        centre, radius = random.uniform(0.2, 0.8, 2), random.uniform(0.15, 0.35)
        label[((place - centre) ** 2).sum(axis=1) < radius**2] = random.integers(1, CLASSES)
    mean = numpy.clip(palette[label] + random.normal(0.0, 0.08, (len(label), COLOURS)), 0.0, 1.0)
    deviation = random.uniform(0.0, 0.1, mean.shape)
    x = numpy.concatenate([mean, deviation, numpy.minimum(mean + 2 * deviation, 1.0), numpy.maximum(mean - 2 * deviation, 0.0), place], axis=1)
    edges = grid_edges(side)
    boundary = numpy.concatenate([random.integers(5, 30, edges.shape[1] // 2)] * 2)
    values = numpy.stack([mean[edges].mean(axis=(0, 2)), boundary], axis=1)
    return x.astype(numpy.float32), values.astype(numpy.float32), edges, label


def write_superpixels(out, random, count, nodes):
    palette = random.uniform(0.0, 1.0, (CLASSES, COLOURS))
    for name, numbers in split_of(random, count).items():
        with open(out / f"{name}.pickle", "wb") as file:
            pickle.dump([superpixels(random, nodes, palette) for _ in numbers], file)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", choices=["peptides-struct", "pascalvoc-sp"])
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--graphs", type=int)
    parser.add_argument("--nodes", type=int, help="of a picture, about (pascalvoc-sp)")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args(arguments)
    peptides = chosen.set == "peptides-struct"
    if peptides and chosen.nodes is not None:
        parser.error("--nodes is for pascalvoc-sp")
    count = (200 if peptides else 60) if chosen.graphs is None else chosen.graphs
    nodes = 200 if chosen.nodes is None else chosen.nodes
    if count < 3 or nodes < 4:
        parser.error("--graphs must be at least 3, and --nodes 4")
    if chosen.seed < 0:
        parser.error("--seed must be at least 0")
    if chosen.out.exists():
        parser.error(f"--out {chosen.out} is there already")
    random = numpy.random.default_rng(chosen.seed)
    chosen.out.mkdir(parents=True)
    if peptides:
        write_peptides(chosen.out, random, count)
    else:
        write_superpixels(chosen.out, random, count, nodes)


if __name__ == "__main__":
    main(sys.argv[1:])
