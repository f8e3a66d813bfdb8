# SPDX-License-Identifier: Apache-2.0
from ._operators import *
from . import export as export
from . import nn as nn
from . import pyg as pyg
from ._operators import __all__ as __all__
from .runs import from_pretrained as from_pretrained
from .runs import load as load
from .runs import pretrained_names as pretrained_names
from .runs import read_cloud as read_cloud
from .runs import read_graphs as read_graphs
from .runs import read_sequences as read_sequences

__version__: str
