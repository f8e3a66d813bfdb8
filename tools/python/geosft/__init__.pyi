# SPDX-License-Identifier: Apache-2.0
from ._operators import *
from . import nn as nn
from ._operators import __all__ as __all__
from .runs import load as load

__version__: str
