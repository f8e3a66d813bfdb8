# SPDX-License-Identifier: Apache-2.0
"""Attention over learned samples, sampling, neighbours and encodings of points and graphs: operators of PyTorch, and
layers and models of them (geosft.nn).

Operators on items take packed batches of different sizes (`ptr`, int64 [B + 1]). What is differentiable has gradients, and
the help of each operator says where one has none. All have fake kernels (torch.compile, torch.export), and raise an
error that names the argument where one is wrong. help(geosft.knn) says the rest. The same functions are torch.ops.geosft.<name>.
"""

from importlib import import_module as _import_module
from importlib.metadata import version as _version
from pathlib import Path as _Path

import torch as _torch

try:
    from ._compiled import TORCH_VERSION as _COMPILED_WITH
except ModuleNotFoundError:
    raise ImportError(f"{_Path(__file__).parent} has the sources of geosft without its compiled operators: install it (pip install . in the clone), "
                      "and keep the folder of the sources off the path") from None

__version__ = _version("geosft")


def _minor(version: str) -> tuple[int, int]:
    major, minor = version.split(".")[:2]
    return int(major), int(minor)


if _minor(_torch.__version__) != _minor(_COMPILED_WITH):
    # C++ extensions with gradients work with the minor version of PyTorch that they were compiled with.
    raise ImportError(
        f"geosft {__version__} was compiled for PyTorch {'.'.join(map(str, _minor(_COMPILED_WITH)))}, and this is PyTorch {_torch.__version__}: "
        + ("geosft needs PyTorch 2.11 or later" if _minor(_torch.__version__) < (2, 11) else "install geosft from its sources again"))
_torch.ops.load_library(str(_Path(__file__).parent / "libgeosft_ops.so"))
_served, _file = _torch.ops.geosft._library()
if _served.rsplit(".", 1)[0] != __version__.rsplit(".", 1)[0]:
    raise ImportError(f"geosft {__version__} cannot be used: this process has the operators of geosft {_served} ({_file})")

from ._operators import *  # noqa: E402, F403 (they call what was loaded)
from ._operators import __all__ as __all__  # noqa: E402

from . import nn as nn  # noqa: E402
from .runs import from_pretrained as from_pretrained  # noqa: E402
from .runs import load as load  # noqa: E402
from .runs import pretrained_names as pretrained_names  # noqa: E402
from .runs import read_cloud as read_cloud  # noqa: E402
from .runs import read_graphs as read_graphs  # noqa: E402
from .runs import read_sequences as read_sequences  # noqa: E402

_LAZY = ("export", "pyg")  # modules that are imported when they are asked for: exports take time, and pyg needs torch_geometric


def __getattr__(name: str):
    """``geosft.export`` and ``geosft.pyg`` without an import of their own."""
    if name in _LAZY:
        return _import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
