# SPDX-License-Identifier: Apache-2.0
"""Generates datasets with nothing but Python: clouds of classes, shapes with parts, graphs, series."""

import json
import math
import os
import random


def write_lines(path, lines):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.writelines(f"{line}\n" for line in lines)


def sphere(rng, points, stretch):
    """Rows x y z nx ny nz of points on a sphere, wider towards its top by `stretch`."""
    for _ in range(points):
        x, y, z = (rng.gauss(0, 1) for _ in range(3))
        norm = math.sqrt(x * x + y * y + z * z)
        x, y, z = x / norm, y / norm, z / norm
        wide = 1 + stretch * z
        yield x * wide, y * wide, z, x, y, z


def write_clouds(folder, train, test, points, classes=4):
    """Point files in a folder a class; `train` and `test` of each class."""
    rng = random.Random(1)
    for split, count in (("train", train), ("test", test)):
        for label in range(classes):
            for i in range(count):
                lines = ("%.6f %.6f %.6f %.6f %.6f %.6f" % row for row in sphere(rng, points, 0.4 * label))
                write_lines(os.path.join(folder, f"class{label}", split, f"cloud{i}.xyz"), lines)


# Of ShapeNetPart: name, folder, and the numbers of its first two parts.
SHAPES = (("Airplane", "02691156", 0), ("Bag", "02773838", 4))


def write_parts(folder, train, test, points):
    """ShapeNetPart as text; `train` and `test` shapes of each of two classes. The parts lie below and above the middle."""
    rng = random.Random(2)
    write_lines(os.path.join(folder, "synsetoffset2category.txt"), (f"{name}\t{synset}" for name, synset, _ in SHAPES))
    for split, count in (("train", train), ("val", 1), ("test", test)):
        listed = []
        for label, (_, synset, part) in enumerate(SHAPES):
            for i in range(count):
                lines = ("%.6f %.6f %.6f %.6f %.6f %.6f %d" % (*row, part + (row[2] > 0)) for row in sphere(rng, points, 0.8 * label))
                write_lines(os.path.join(folder, synset, f"{split}{i}.txt"), lines)
                listed.append(f"shape_data/{synset}/{split}{i}")
        write_lines(os.path.join(folder, "train_test_split", f"shuffled_{split}_file_list.json"), [json.dumps(listed)])


def write_graphs(folder, graphs, nodes):
    """A TU set: rings, every other one with as many chords, and nodes of three labels."""
    rng, edges = random.Random(3), []
    for graph in range(graphs):
        first = graph * nodes + 1
        pairs = [(i, (i + 1) % nodes) for i in range(nodes)]
        if graph % 2:
            pairs += [tuple(rng.sample(range(nodes), 2)) for _ in range(nodes)]
        edges += [f"{first + a}, {first + b}" for i, j in sorted({tuple(sorted(p)) for p in pairs}) for a, b in ((i, j), (j, i))]
    name = os.path.join(folder, os.path.basename(folder))
    write_lines(f"{name}_A.txt", edges)
    write_lines(f"{name}_graph_indicator.txt", (graph + 1 for graph in range(graphs) for _ in range(nodes)))
    write_lines(f"{name}_graph_labels.txt", (graph % 2 for graph in range(graphs)))
    write_lines(f"{name}_node_labels.txt", (rng.randrange(3) for _ in range(graphs * nodes)))


def write_series(folder, train, test, length):
    """A UEA set of two channels: waves of three classes, a frequency each; `train` and `test` of each class."""
    rng, name = random.Random(4), os.path.basename(folder)
    for split, count in (("TRAIN", train), ("TEST", test)):
        lines = [f"@problemName {name}", "@timeStamps false", "@univariate false", "@dimensions 2", "@equalLength true",
                 f"@seriesLength {length}", "@classLabel true slow middle fast", "@data"]
        for i in range(count):
            for label, frequency in (("slow", 2), ("middle", 4), ("fast", 8)):
                angles = [2 * math.pi * frequency * (t / length) + rng.uniform(0, 1) for t in range(length)]
                lines.append(":".join(",".join(f"{wave(a):.4f}" for a in angles) for wave in (math.sin, math.cos)) + f":{label}")
        write_lines(os.path.join(folder, f"{name}_{split}.ts"), lines)
