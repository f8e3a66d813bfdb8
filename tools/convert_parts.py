#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a set of clouds with parts, which geosft-segment reads, of labelled meshes.

  convert_parts.py FOLDER --out DIR
      FOLDER holds a folder for each class with meshes ID.off. Which part a face is of stands beside them, as the labelled
      Princeton Segmentation Benchmark has it in ID_labels.txt (by turns a line with the name of a part, and one with the
      numbers of its faces, from 1), or in ID.seg (a line for each face, with the number of its part, or -1 without a
      label). Such numbers must mean the same in all meshes of a class: those of the benchmark's single human
      segmentations do not.

Points are drawn evenly over the surface, with the normals of their faces; of every class the fourth, eighth, … mesh in
the order of the names is for testing. Points of a face without a label get part -1. Needs numpy and h5py.
"""

import argparse
import os
import pathlib
import sys
import zlib

try:
    import numpy

    import h5py  # noqa: F401 - of write_hdf5: missed before the meshes are read
except ImportError as missing:
    sys.exit(
        f"{os.path.basename(sys.argv[0])}: {sys.executable} has no {missing.name}: run it with Debian's Python, "
        f"/usr/bin/python3 {sys.argv[0]}, which has it after apt-get install python3-numpy python3-h5py, or do "
        f"{sys.executable} -m pip install numpy h5py"
    )

from convert_graphs import write_atomically, write_hdf5


class WrongMesh(Exception):
    """A file that is not what it should be; the text names it, what was expected and what was found."""


def content_lines(path):
    """The lines of a text with something in them but comments."""
    lines = (line.split("#", 1)[0].strip() for line in path.read_text().splitlines())
    return [line for line in lines if line]


def numbers(words, kind, what):
    try:
        return [kind(word) for word in words]
    except ValueError as error:
        raise WrongMesh(f"{what}: expected numbers, found {' '.join(words)[:40]!r}") from error


def triangles_of(path):
    """Triangles as corners [t, 3, 3], and for each the polygon that it is of, and how many of these there are."""
    lines = content_lines(path)
    if not lines or not lines[0].startswith("OFF"):
        raise WrongMesh(f"{path}: expected a file that begins with OFF")
    head = lines[0][3:].split() + (lines[1].split() if len(lines[0]) == 3 and len(lines) > 1 else [])
    rest = lines[2 if len(lines[0]) == 3 else 1 :]
    counts = numbers(head[:2], int, path)
    if len(counts) < 2 or len(rest) < sum(counts):
        raise WrongMesh(f"{path}: expected as many vertices and faces as it says, found {len(rest)} lines of them")
    vertices, faces = counts
    places = numpy.array([numbers(line.split()[:3], float, path) for line in rest[:vertices]]).reshape(vertices, 3)
    if not numpy.isfinite(places).all():
        row = int(numpy.argmin(numpy.isfinite(places).all(1)))
        raise WrongMesh(f"{path}, vertex {row}: expected finite coordinates, found {rest[row]!r}")
    corners, owners = [], []
    for face, line in enumerate(rest[vertices : vertices + faces]):
        count, *ring = numbers(line.split(), float, path)
        ring = [int(corner) for corner in ring[: int(count)]]
        if len(ring) != count or count < 3 or min(ring) < 0 or max(ring) >= vertices:
            raise WrongMesh(f"{path}, face {face}: expected three or more of {vertices} vertices, found {line!r}")
        for second, third in zip(ring[1:], ring[2:]):
            corners.append(places[[ring[0], second, third]])
            owners.append(face)
    return numpy.array(corners).reshape(-1, 3, 3), numpy.array(owners, int), faces


def named_labels(path, faces):
    """The name of the part of every face, None where there is none: of ID_labels.txt."""
    lines = [line.strip() for line in path.read_text().splitlines()]
    lines = [line for line in lines if line]
    if len(lines) % 2:
        raise WrongMesh(f"{path}: expected lines by turns, a name and the numbers of its faces, found {len(lines)}")
    labels, twice = [None] * faces, set()
    for name, listed in zip(lines[::2], lines[1::2]):
        part = "_".join(name.split())
        for face in numbers(listed.split(), int, path):
            if not 1 <= face <= faces:
                raise WrongMesh(f"{path}: expected faces from 1 to {faces}, found {face}")
            if labels[face - 1] not in (None, part):
                twice.add(face)
            labels[face - 1] = part
    if twice:
        print(f"{path}: face {min(twice)} is listed under two parts, of which the later one counts"
              + (f"; {len(twice) - 1} more are" if len(twice) > 1 else ""), file=sys.stderr)
    return labels


def numbered_labels(path, faces):
    """The same of ID.seg, where -1 is no label."""
    labels = numbers(path.read_text().split(), int, path)
    if len(labels) != faces:
        raise WrongMesh(f"{path}: expected a number for each of {faces} faces, found {len(labels)}")
    return [None if label == -1 else label for label in labels]


def labels_of(mesh, faces):
    named, numbered = mesh.with_name(mesh.stem + "_labels.txt"), mesh.with_suffix(".seg")
    if named.exists():
        return named_labels(named, faces)
    if numbered.exists():
        return numbered_labels(numbered, faces)
    raise WrongMesh(f"{mesh}: expected {named.name} or {numbered.name} beside it")


class Cloud:
    """Points of a mesh with their normals, and the labels that they have, None without one."""

    def __init__(self, mesh, points, seed):
        corners, owners, faces = triangles_of(mesh)
        labels = labels_of(mesh, faces)
        cross = numpy.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        area = numpy.linalg.norm(cross, axis=1)
        if not area[[labels[owner] is not None for owner in owners]].sum() > 0:
            raise WrongMesh(f"{mesh}: expected labelled faces with an area")
        random = numpy.random.default_rng([seed, zlib.crc32(mesh.name.encode())])
        drawn = random.choice(len(area), points, p=area / area.sum())
        a, b = random.random((2, points, 1))
        beyond = a + b > 1
        a, b = numpy.where(beyond, 1 - a, a), numpy.where(beyond, 1 - b, b)
        first, second, third = corners[drawn].transpose(1, 0, 2)
        self.points = first + a * (second - first) + b * (third - first)
        self.normals = cross[drawn] / area[drawn, None]
        self.labels = [labels[face] for face in owners[drawn]]
        self.all_labels = {label for label in labels if label is not None}
        self.unlabelled = sum(label is None for label in labels)


def meshes_of(folder):
    """Paths of the meshes of every class: 9.off comes before 10.off."""
    classes = {}
    for inner in sorted(path for path in pathlib.Path(folder).iterdir() if path.is_dir()):
        meshes = sorted(inner.glob("*.off"), key=lambda path: (len(path.stem), path.stem))
        if meshes:
            classes["_".join(inner.name.split())] = meshes
    if not classes:
        raise WrongMesh(f"{folder}: expected folders, one a class, with meshes ID.off, found none")
    return classes


def arrays(clouds, part_ids):
    """clouds: (class, Cloud) pairs."""
    kind = numpy.uint8 if len(part_ids) <= 256 else numpy.int32
    ids = numpy.array([[-1 if part is None else part_ids[label, part] for part in cloud.labels] for label, cloud in clouds])
    return {
        "data": numpy.array([cloud.points for _, cloud in clouds], numpy.float32),
        "normal": numpy.array([cloud.normals for _, cloud in clouds], numpy.float32),
        "label": numpy.array([[label] for label, _ in clouds], kind),
        "pid": ids.astype(kind if ids.min() >= 0 else numpy.int32),
    }


def write_text(path, lines):
    write_atomically(path, lambda temporary: pathlib.Path(temporary).write_text("".join(f"{line}\n" for line in lines)))


def convert(options):
    classes = meshes_of(options.folder)
    splits, part_ids, names = {"train": [], "test": []}, {}, []
    for label, (name, meshes) in enumerate(classes.items()):
        clouds = [Cloud(mesh, options.points, options.seed) for mesh in meshes]
        for number, cloud in enumerate(clouds, 1):
            splits["test" if number % options.test_every == 0 else "train"].append((label, cloud))
        found = sorted(set.union(*(cloud.all_labels for cloud in clouds)))
        for part in found:
            names.append(f"{len(part_ids)} {name} {part}")
            part_ids[label, part] = len(part_ids)
            alike = [one for one in found if one < part and str(one).casefold() == str(part).casefold()]
            if alike:
                print(f"{name}: the parts {alike[0]} and {part} differ in the case of letters alone", file=sys.stderr)
        unlabelled = [(mesh, cloud.unlabelled) for mesh, cloud in zip(meshes, clouds) if cloud.unlabelled]
        if unlabelled:
            print(f"{name}: {sum(count for _, count in unlabelled)} faces have no label, and neither do their points; "
                  f"the first are in {unlabelled[0][0]}", file=sys.stderr)
    os.makedirs(options.out, exist_ok=True)
    for split, clouds in splits.items():
        if not clouds:
            raise WrongMesh(f"{options.folder}: expected meshes to {split} with: {options.test_every} in a class")
        write_hdf5(os.path.join(options.out, f"ply_data_{split}0.h5"), arrays(clouds, part_ids))
    write_text(os.path.join(options.out, "shape_names.txt"), classes)
    write_text(os.path.join(options.out, "parts.txt"), names)
    print(f"{options.out}: {len(classes)} classes, {len(names)} parts, {len(splits['train'])} clouds to train with, "
          f"{len(splits['test'])} to test with")


def positive(text):
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", metavar="FOLDER")
    parser.add_argument("--out", required=True, metavar="DIR")
    parser.add_argument("--points", type=positive, default=2048, help="points of a cloud (default: 2048)")
    parser.add_argument("--test-every", type=positive, default=4, help="which meshes are for testing (default: every fourth)")
    parser.add_argument("--seed", type=int, default=0, help="of the points that are drawn (default: 0)")
    return parser.parse_args()


def main():
    options = parse_arguments()
    try:
        convert(options)
    except (WrongMesh, OSError, ImportError, UnicodeDecodeError) as error:
        print(f"{os.path.basename(sys.argv[0])}: {error}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
