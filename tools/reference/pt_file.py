# SPDX-License-Identifier: Apache-2.0
"""Reads and writes `.pt` files: a dictionary from name to tensor, as torch.save writes it and torch.load and
torch::pickle_load read it.

PyTorch is not used: its container changes with its version, and the fixtures are compared byte by byte. A file depends
on its tensors and on this module alone. It is an uncompressed zip archive without times, with one entry for the pickled
dictionary and one for the elements of each tensor.
"""

import io
import math
import pickle
import struct
import typing
import zipfile

STORAGES = {"float64": ("DoubleStorage", "d"), "int64": ("LongStorage", "q")}
ELEMENTS = {storage: (dtype, code) for dtype, (storage, code) in STORAGES.items()}


class Stored(typing.NamedTuple):
    """A contiguous tensor: its dtype ("float64" or "int64"), its shape, and its elements in row-major order."""

    dtype: str
    shape: tuple
    elements: list


class Global:
    """A function or class of another module, pickled by its name without importing it."""

    def __init__(self, module, name):
        self.module, self.name = module, name


REBUILD = Global("torch._utils", "_rebuild_tensor_v2")
ORDERED_DICT = Global("collections", "OrderedDict")


class Pickler:
    """The few instructions of pickle's protocol 2 that a dictionary of tensors needs, without its memo."""

    def __init__(self):
        self.code = bytearray(pickle.PROTO + b"\x02")

    def add(self, value):
        if isinstance(value, Global):
            self.code += pickle.GLOBAL + f"{value.module}\n{value.name}\n".encode()
        elif isinstance(value, bool):
            self.code += pickle.NEWTRUE if value else pickle.NEWFALSE
        elif isinstance(value, int):
            self.code += pickle.BININT + struct.pack("<i", value)
        elif isinstance(value, str):
            text = value.encode()
            self.code += pickle.BINUNICODE + struct.pack("<I", len(text)) + text
        elif isinstance(value, tuple):
            self.code += pickle.MARK
            for member in value:
                self.add(member)
            self.code += pickle.TUPLE
        else:
            raise TypeError(f"cannot pickle {value!r}")

    def add_tensor(self, key, tensor):
        """_rebuild_tensor_v2(storage, offset, shape, stride, requires_grad, backward hooks)"""
        stride = tuple(math.prod(tensor.shape[dim + 1 :]) for dim in range(len(tensor.shape)))
        self.add(REBUILD)
        self.code += pickle.MARK
        self.add(("storage", Global("torch", STORAGES[tensor.dtype][0]), key, "cpu", len(tensor.elements)))
        self.code += pickle.BINPERSID
        for argument in (0, tensor.shape, stride, False):
            self.add(argument)
        self.add(ORDERED_DICT)
        self.code += pickle.EMPTY_TUPLE + pickle.REDUCE + pickle.TUPLE + pickle.REDUCE

    def pickled(self, table):
        self.code += pickle.EMPTY_DICT
        for key, (name, tensor) in enumerate(table.items()):
            self.add(name)
            self.add_tensor(str(key), tensor)
            self.code += pickle.SETITEM
        return bytes(self.code + pickle.STOP)


def to_bytes(table):
    """The file that holds `table`, a dictionary from name to Stored."""
    entries = {"data.pkl": Pickler().pickled(table), "byteorder": b"little"}
    for key, tensor in enumerate(table.values()):
        if len(tensor.elements) != math.prod(tensor.shape):
            raise ValueError(f"{len(tensor.elements)} elements of a tensor of shape {tensor.shape}")
        code = STORAGES[tensor.dtype][1]
        entries[f"data/{key}"] = struct.pack(f"<{len(tensor.elements)}{code}", *tensor.elements)
    entries["version"] = b"3\n"
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, content in entries.items():
            archive.writestr(zipfile.ZipInfo("archive/" + name), content)  # ZipInfo's time is 1980
    return file.getvalue()


def rebuilt(storage, offset, shape, stride, *_):
    dtype, elements = storage
    places = [offset]
    for size, step in zip(shape, stride):
        places = [place + i * step for place in places for i in range(size)]
    return Stored(dtype, tuple(shape), [elements[place] for place in places])


class Unpickler(pickle.Unpickler):
    def __init__(self, file, elements_of):
        super().__init__(file)
        self.elements_of = elements_of

    def find_class(self, module, name):
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return rebuilt
        if (module, name) == ("collections", "OrderedDict"):
            return dict
        if module == "torch" and name in ELEMENTS:
            return name
        raise pickle.UnpicklingError(f"unexpected {module}.{name}")

    def persistent_load(self, pid):
        _, storage, key, _, count = pid
        dtype, code = ELEMENTS[storage]
        return dtype, list(struct.unpack(f"<{count}{code}", self.elements_of(key)))


def from_bytes(data):
    """The dictionary in a file."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        folder = archive.namelist()[0].split("/")[0]
        pickled = io.BytesIO(archive.read(f"{folder}/data.pkl"))
        return Unpickler(pickled, lambda key: archive.read(f"{folder}/data/{key}")).load()
