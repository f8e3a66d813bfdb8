# SPDX-License-Identifier: Apache-2.0
"""Tensors in pickles become arrays of numpy, without PyTorch.

A pickled tensor holds its storage in the form of PyTorch's older files: five pickles, the number of elements, and their
bytes. PyTorch 1.1, 1.9, 1.11, 1.13, 2.11 and 2.15 all write it. What is broken is a pickle.UnpicklingError, or what
else a broken pickle raises. No array reaches beyond the bytes of its storage, and none is larger, so that a small file
cannot fill the memory: expanded tensors are refused.
"""

import io
import math
import pickle
import typing

import numpy

MAGIC, VERSION = 0x1950A86A20F9469CFC6C, 1001

# What holds elements, and elements where the storage is of mere bytes, with the names that numpy has for them.
STORAGES = {
    "torch.BoolStorage": "bool",
    "torch.ByteStorage": "uint8",
    "torch.CharStorage": "int8",
    "torch.ShortStorage": "int16",
    "torch.IntStorage": "int32",
    "torch.LongStorage": "int64",
    "torch.HalfStorage": "float16",
    "torch.FloatStorage": "float32",
    "torch.DoubleStorage": "float64",
    "torch.storage.UntypedStorage": "uint8",
}
ELEMENTS = {*STORAGES.values(), "uint16", "uint32", "uint64"}


class Storage(typing.NamedTuple):
    """The bytes of elements; a tuple, which no pickle can change."""

    elements: str
    data: bytes


class StorageUnpickler(pickle.Unpickler):
    """Reads what is said of a storage."""

    def find_class(self, module, name):
        if f"{module}.{name}" in STORAGES:
            return STORAGES[f"{module}.{name}"]
        raise pickle.UnpicklingError(f"expected a storage of numbers, found {module}.{name}")

    def persistent_load(self, pid):
        return pid


def load_storage(data):
    """torch.storage._load_from_bytes."""
    file = io.BytesIO(data.encode("latin1") if isinstance(data, str) else data)
    magic, version, _, storage, _ = (StorageUnpickler(file).load() for _ in range(5))
    if (magic, version) != (MAGIC, VERSION):
        raise pickle.UnpicklingError(f"expected a storage of version {VERSION}, found {version}")
    _, elements, _, _, count, *part = storage
    if elements not in ELEMENTS or any(part):
        raise pickle.UnpicklingError(f"expected a whole storage of numbers, found {elements} {part}")
    written, data = int.from_bytes(file.read(8), "little"), file.read()
    if written != count or len(data) != count * numpy.dtype(elements).itemsize:
        raise pickle.UnpicklingError(f"expected a storage of {count} {elements}, found {written} in {len(data)} bytes")
    return Storage(elements, data)


def rebuild(storage, offset, size, stride, _requires_grad=False, _hooks=None, metadata=None):
    """torch._utils._rebuild_tensor and _rebuild_tensor_v2: [i, j, …] is at offset + i stride[0] + j stride[1] + …"""
    if not isinstance(storage, Storage) or storage.elements not in ELEMENTS or metadata:
        raise pickle.UnpicklingError(f"expected a plain tensor of numbers, found {metadata or type(storage).__name__}")
    found = f"size {size}, stride {stride} from {offset}"
    if len(size) != len(stride) or not all(isinstance(n, int) and n >= 0 for n in (offset, *size, *stride)):
        raise pickle.UnpicklingError(f"expected sizes and strides of a tensor, found {found}")
    kind = numpy.dtype(storage.elements).newbyteorder("<")
    if 0 in size:
        return numpy.empty(size, kind)
    count = len(storage.data) // kind.itemsize
    last = offset + sum((length - 1) * step for length, step in zip(size, stride))
    if max(last + 1, math.prod(size)) > count:
        raise pickle.UnpicklingError(f"expected a tensor within its {count} elements, found {found}")
    return numpy.ndarray(size, kind, storage.data, offset * kind.itemsize, [step * kind.itemsize for step in stride])


def rebuild_of_bytes(storage, offset, size, stride, _requires_grad, _hooks, elements, metadata=None):
    """torch._utils._rebuild_tensor_v3."""
    return rebuild(storage._replace(elements=elements), offset, size, stride, metadata=metadata)


# What stands in a pickle, outside its storages, for tensors.
NAMES = {
    "torch._utils._rebuild_tensor": rebuild,
    "torch._utils._rebuild_tensor_v2": rebuild,
    "torch._utils._rebuild_tensor_v3": rebuild_of_bytes,
    "torch.storage._load_from_bytes": load_storage,
    "torch.Size": tuple,
    **{f"torch.{name}": name for name in ELEMENTS},
}
