# SPDX-License-Identifier: Apache-2.0
"""Files of named tensors and texts: checkpoints of the command-line tools, and safetensors."""

from __future__ import annotations

import ctypes
import json
import os
import pathlib
import tempfile
import urllib.parse
import zlib
from collections.abc import Mapping

import torch
from torch import Tensor

_MAGIC = b"GEOSFT checkpoint 1\n"
_ALIGNMENT = 64
_DTYPES = {"float32": torch.float32, "float64": torch.float64, "float16": torch.float16, "bfloat16": torch.bfloat16,
           "complex64": torch.complex64, "complex128": torch.complex128, "complex32": torch.complex32,
           "uint8": torch.uint8, "int8": torch.int8, "int16": torch.int16, "int32": torch.int32, "int64": torch.int64,
           "bool": torch.bool}
_SAFE_DTYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "I64": torch.int64,
                "I32": torch.int32, "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8, "BOOL": torch.bool}


def as_path(value: str | os.PathLike, name: str) -> pathlib.Path:
    """A path that was given as the argument `name`."""
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{name} must be a path, got {type(value).__name__}")
    if "\0" in str(value) or not str(value):
        raise ValueError(f"{name} must be a path, got {str(value)!r}")
    return pathlib.Path(value)


def as_existing_path(value: str | os.PathLike, name: str) -> pathlib.Path:
    """A path to read that was given as the argument `name`. Raises a FileNotFoundError that names it if nothing is there."""
    path = as_path(value, name)
    if not path.exists():
        raise FileNotFoundError(f"{name} {path}: there is nothing of this name")
    return path


def check_folder_of(path: pathlib.Path) -> None:
    """Raises a FileNotFoundError that names `path`, a file to write, where its folder is missing."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path}: there is no folder {str(path.parent)!r}")


def output_path(value: str | os.PathLike, name: str, ending: str) -> pathlib.Path:
    """The path of a file to write, given as the argument `name`, which must have this ending and a folder; to call before the work."""
    path = as_path(value, name)
    if path.suffix != ending:
        raise ValueError(f"{name} must end with {ending}, got {path.name!r}")
    if path.is_symlink() and not (path.exists() and not path.is_file()):  # the file that it leads to
        path = pathlib.Path(os.path.realpath(path))
    check_folder_of(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: {name} must be a file")
    return path


def _tensor(data: bytes, dtype: torch.dtype, shape: list[int]) -> Tensor:
    count = torch.Size(shape).numel()
    if len(data) != count * dtype.itemsize:
        raise ValueError(f"a tensor of {count} elements has {len(data)} bytes")
    return torch.frombuffer(bytearray(data), dtype=dtype).view(shape) if count else torch.empty(shape, dtype=dtype)


def _bytes(tensor: Tensor) -> bytes:
    rows = tensor.detach().cpu().contiguous()
    return ctypes.string_at(rows.data_ptr(), rows.numel() * rows.itemsize) if rows.numel() else b""


def write_atomically(file: str | pathlib.Path, content: bytes) -> None:
    """Writes a file, or leaves the old one. Writes to a pipe or a device at once."""
    path = pathlib.Path(file)
    check_folder_of(path)
    if path.exists() and not path.is_file() and not path.is_dir():
        path.write_bytes(content)
        return
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as out:
            out.write(content)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def load_checkpoint(file: str | pathlib.Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors and the texts of a checkpoint (data/checkpoint.h). Nothing in the file is executed. Raises a
    ValueError that names the file if it is damaged or of another kind."""
    content = pathlib.Path(file).read_bytes()
    if not content.startswith(_MAGIC):
        raise ValueError(f"{file}: expected a checkpoint of geosft, version 1, found another kind of file")
    try:
        end = content.index(b"\n", len(_MAGIC))
        header_size, total = map(int, content[len(_MAGIC):end].split())
        intact = total == len(content) and zlib.crc32(content[:-4]) == int.from_bytes(content[-4:], "little")
        if not intact:
            raise ValueError("its size or its checksum is another one")
        position = end + 1 + header_size
        tensors, texts = {}, {}
        for line in content[end + 1:position].decode().splitlines():
            kind, name, *words = line.split(" ")
            name = "" if name == "%" else urllib.parse.unquote(name)
            position = -(-position // _ALIGNMENT) * _ALIGNMENT
            if kind == "text":
                size = int(words[0])
                texts[name] = content[position:position + size].decode()
            else:
                shape, dtype = [int(word) for word in words[1:]], _DTYPES[words[0]]
                size = torch.Size(shape).numel() * dtype.itemsize
                tensors[name] = _tensor(content[position:position + size], dtype, shape)
            position += size
    except (KeyError, ValueError, IndexError) as error:
        raise ValueError(f"{file}: the checkpoint is damaged: {error}") from None
    return tensors, texts


def save_checkpoint(file: str | pathlib.Path, tensors: Mapping[str, Tensor], texts: Mapping[str, str]) -> None:
    """Writes a checkpoint that :func:`load_checkpoint` and the command-line tools read; the old file remains if that
    fails. Raises a ValueError that names a tensor of a dtype that has no name in the format."""
    words = {dtype: word for word, dtype in _DTYPES.items()}
    lines, data = [], []
    for name, tensor in sorted(tensors.items()):
        if tensor.dtype not in words or tensor.layout != torch.strided:
            raise ValueError(f"tensor {name!r} must be dense and of a dtype among {', '.join(_DTYPES)}, got {tensor.dtype}")
        lines.append(" ".join(("tensor", _encoded(name), words[tensor.dtype], *map(str, tensor.shape))))
        data.append(_bytes(tensor))
    for name, text in sorted(texts.items()):
        data.append(text.encode())
        lines.append(f"text {_encoded(name)} {len(data[-1])}")
    header = "".join(f"{line}\n" for line in lines).encode()
    sizes = f"{len(header)} {{:d}}\n"
    total, content = 0, b""
    for _ in range(20):  # the line of sizes holds the size of the file, its own digits included
        content = _MAGIC + sizes.format(total).encode() + header
        for one in data:
            content += bytes(-len(content) % _ALIGNMENT) + one
        if len(content) + 4 == total:
            break
        total = len(content) + 4
    write_atomically(file, content + zlib.crc32(content).to_bytes(4, "little"))


def _encoded(name: str) -> str:
    """A name as one word: letters, digits, '.', '_', '-' and '/' are kept."""
    return urllib.parse.quote(name, safe="._-/").replace("~", "%7E") or "%"


def save_safetensors(file: str | pathlib.Path, tensors: Mapping[str, Tensor], texts: Mapping[str, str] | None = None) -> None:
    """Writes tensors, and texts as metadata, in the format of safetensors."""
    words = {dtype: word for word, dtype in _SAFE_DTYPES.items()}
    header: dict = {"__metadata__": dict(texts)} if texts else {}
    data, position = [], 0
    for name, tensor in tensors.items():
        if tensor.dtype not in words or tensor.layout != torch.strided:
            raise ValueError(f"tensor {name!r} must be dense and of a dtype among {', '.join(_SAFE_DTYPES)}, got {tensor.dtype}")
        data.append(_bytes(tensor))
        offsets = [position, position + len(data[-1])]
        header[name] = {"dtype": words[tensor.dtype], "shape": list(tensor.shape), "data_offsets": offsets}
        position = offsets[1]
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    write_atomically(file, b"".join((len(text).to_bytes(8, "little"), text, *data)))


def load_safetensors(file: str | pathlib.Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors and the metadata of a file of safetensors. Raises a ValueError that names the file if it is damaged."""
    content = pathlib.Path(file).read_bytes()
    try:
        begin = 8 + int.from_bytes(content[:8], "little")
        if not 8 < begin <= len(content):
            raise ValueError("it has no header")
        header = json.loads(content[8:begin])
        texts = header.pop("__metadata__", {})
        tensors = {}
        for name, entry in header.items():
            first, last = entry["data_offsets"]
            if not 0 <= first <= last <= len(content) - begin:
                raise ValueError(f"tensor {name!r} lies outside of it")
            tensors[name] = _tensor(content[begin + first:begin + last], _SAFE_DTYPES[entry["dtype"]], entry["shape"])
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"{file}: expected a file of safetensors: {error}") from None
    return tensors, texts
