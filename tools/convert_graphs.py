#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Brings graph datasets that are published as Python pickles into the forms that geosft reads.

  convert_graphs.py superpixels --train F --val F --test F --out SET.h5
      PascalVOC-SP and COCO-SP of the Long Range Graph Benchmark: three pickles, each a list of graphs
      (x [n, values], edge_attr [e, values], edge_index [2, e], y [n]), become one file of packed graphs
      (data/graphs/packed_graphs_file.h). Classes are numbered by ascending label.
  convert_graphs.py split SPLIT.pickle --out DIR
      The split of Peptides-func and -struct, a dictionary of lists "train", "val" and "test", becomes
      split_train.txt, split_val.txt and split_test.txt in DIR.

Needs numpy, and h5py for superpixels. Reads pickles of every protocol, those of Python 2 too. Of a pickle nothing but lists, numbers, arrays and tensors is taken, and nothing
else in it is run.
"""

import argparse
import contextlib
import os
import pickle
import sys
import tempfile

try:
    import numpy

    import tensor_pickles
except ImportError as missing:  # --help needs neither
    if not {"-h", "--help"} & set(sys.argv):
        sys.exit(f"convert_graphs.py: {missing}")


class WrongPickle(Exception):
    """A file that is not what it should be; the text names it, what was expected and what was found."""


def encode(text, encoding):
    """_codecs.encode, by which pickles of protocol 0 to 2 hold bytes."""
    if encoding not in ("latin1", "latin-1"):
        raise pickle.UnpicklingError(f"expected bytes as latin1, found {encoding}")
    return text.encode("latin1")


def no_bytes():
    """bytes(), by which these pickles hold no bytes."""
    return b""


class DataUnpickler(pickle.Unpickler):
    """Makes arrays, of what were tensors too, and nothing else."""

    BYTES = {"_codecs.encode": encode, "__builtin__.bytes": no_bytes, "builtins.bytes": no_bytes}

    CLASSES = {"collections.OrderedDict", "numpy.ndarray", "numpy.dtype"} | {
        f"numpy.{core}.{name}"
        for core in ("core", "_core")
        for name in ("multiarray._reconstruct", "multiarray.scalar", "numeric._frombuffer")
    }

    def find_class(self, module, name):
        found = f"{module}.{name}"
        if found in self.BYTES:
            return self.BYTES[found]
        if found in tensor_pickles.NAMES:
            return tensor_pickles.NAMES[found]
        if found in self.CLASSES:
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"expected lists, numbers, arrays and tensors, found {found}")


def load(path):
    with open(path, "rb") as file:
        try:
            return DataUnpickler(file, encoding="latin1").load()  # the strings of Python 2 are bytes
        except Exception as error:  # a broken pickle raises almost any
            why = " ".join(str(error).split()) or type(error).__name__
            raise WrongPickle(f"{path}: no pickle of plain data: {why[:200]}") from error


def array(value, dtype, rank, what):
    """An array or list as an array of this rank."""
    try:
        value = numpy.asarray(value)
    except ValueError as error:
        raise WrongPickle(f"{what}: expected numbers of rank {rank}, found lists of several lengths") from error
    if value.ndim != rank or value.dtype.kind not in "iufb":
        raise WrongPickle(f"{what}: expected numbers of rank {rank}, found {value.dtype} {list(value.shape)}")
    with numpy.errstate(all="ignore"):
        result = value.astype(dtype)
    if numpy.issubdtype(dtype, numpy.integer) and not numpy.array_equal(value, result):
        raise WrongPickle(f"{what}: expected integers, found {value.dtype}")
    return result


def check_length(found, expected, what, of):
    if found != expected:
        raise WrongPickle(f"{what}: expected {expected} rows, one for each of the {of}, found {found}")


class PackedItems:
    """Graphs one after the other."""

    def __init__(self):
        self.ptr, self.degrees, self.col = [0], [], []
        self.node_values, self.edge_values, self.labels = [], [], []

    def add(self, graph, what):
        if not isinstance(graph, (tuple, list)) or len(graph) != 4:
            raise WrongPickle(f"{what}: expected (x, edge_attr, edge_index, y), found {type(graph).__name__}")
        x = array(graph[0], numpy.float32, 2, f"{what}, x")
        edge_attr = array(graph[1], numpy.float32, 2, f"{what}, edge_attr")
        edge_index = array(graph[2], numpy.int64, 2, f"{what}, edge_index")
        y = array(graph[3], numpy.int64, 1, f"{what}, y")
        nodes = len(x)
        check_length(len(edge_index), 2, f"{what}, edge_index", "ends of an edge")
        check_length(len(edge_attr), edge_index.shape[1], f"{what}, edge_attr", "edges")
        check_length(len(y), nodes, f"{what}, y", "nodes")
        for values, of in ((self.node_values, x), (self.edge_values, edge_attr)):
            if values and values[0].shape[1] != of.shape[1]:
                raise WrongPickle(f"{what}: expected {values[0].shape[1]} columns as before, found {of.shape[1]}")
        if edge_index.size and (edge_index.min() < 0 or edge_index.max() >= nodes):
            found = f"{edge_index.min()} to {edge_index.max()}"
            raise WrongPickle(f"{what}, edge_index: expected nodes 0 to {nodes - 1}, found {found}")
        order = numpy.argsort(edge_index[0], kind="stable")
        self.degrees.append(numpy.bincount(edge_index[0], minlength=nodes))
        self.col.append(edge_index[1][order] + self.ptr[-1])
        self.node_values.append(x)
        self.edge_values.append(edge_attr[order])
        self.labels.append(y)
        self.ptr.append(self.ptr[-1] + nodes)

    def datasets(self):
        def text(lines):
            return numpy.frombuffer("\n".join(lines).encode(), numpy.uint8)

        classes, target = numpy.unique(numpy.concatenate(self.labels), return_inverse=True)
        return {
            "geosft_packed_graphs": numpy.array([1], numpy.int32),
            "task": text(["node_classification"]),
            "output_names": text([str(label) for label in classes]),
            "ptr": numpy.array(self.ptr, numpy.int64),
            "rowptr": numpy.concatenate([[0], numpy.cumsum(numpy.concatenate(self.degrees))]).astype(numpy.int64),
            "col": numpy.concatenate(self.col),
            "node_values": numpy.concatenate(self.node_values),
            "edge_values": numpy.concatenate(self.edge_values),
            "target": target.astype(numpy.int32),
        }


def write_atomically(path, write):
    """write(temporary path), then the rename; nothing is left behind when it fails."""
    folder = os.path.dirname(os.path.abspath(path))
    handle, temporary = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=folder)
    os.close(handle)
    try:
        write(temporary)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def write_hdf5(path, datasets):
    import h5py

    def write(temporary):
        with h5py.File(temporary, "w") as file:
            for name, data in datasets.items():
                packed = {"compression": "gzip", "shuffle": True} if data.size else {}
                file.create_dataset(name, data=data, **packed)

    write_atomically(path, write)


def convert_superpixels(options):
    packed = PackedItems()
    splits = {}
    for part, path in (("train", options.train), ("validation", options.val), ("test", options.test)):
        graphs = load(path)
        if not isinstance(graphs, (list, tuple)) or not graphs:
            raise WrongPickle(f"{path}: expected a list of graphs, found {type(graphs).__name__}")
        first = len(packed.ptr) - 1
        for number, graph in enumerate(graphs):
            packed.add(graph, f"{path}, graph {number}")
        splits[f"split_{part}"] = numpy.arange(first, len(packed.ptr) - 1)
    write_hdf5(options.out, packed.datasets() | splits)
    print(f"{options.out}: {len(packed.ptr) - 1} graphs, {packed.ptr[-1]} nodes")


def convert_split(options):
    split = load(options.pickle)
    names = ("train", "val", "test")
    if not isinstance(split, dict) or not all(name in split for name in names):
        found = type(split).__name__
        raise WrongPickle(f"{options.pickle}: expected a dictionary with train, val and test, found {found}")
    parts = {name: array(split[name], numpy.int64, 1, f"{options.pickle}, {name}") for name in names}
    for name, items in parts.items():
        path = os.path.join(options.out, f"split_{name}.txt")
        write_atomically(path, lambda temporary, items=items: numpy.savetxt(temporary, items, fmt="%d"))
        print(f"{path}: {len(items)} items")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    subcommands = parser.add_subparsers(required=True)
    superpixels = subcommands.add_parser("superpixels", help="PascalVOC-SP and COCO-SP")
    for part in ("--train", "--val", "--test", "--out"):
        superpixels.add_argument(part, required=True, metavar="FILE")
    superpixels.set_defaults(run=convert_superpixels)
    split = subcommands.add_parser("split", help="the split of Peptides-func and -struct")
    split.add_argument("pickle", metavar="SPLIT.pickle")
    split.add_argument("--out", required=True, metavar="DIR")
    split.set_defaults(run=convert_split)
    return parser.parse_args()


def main():
    options = parse_arguments()
    try:
        options.run(options)
    except (WrongPickle, OSError, ImportError, MemoryError) as error:
        print(f"{os.path.basename(sys.argv[0])}: {error}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
