# SPDX-License-Identifier: Apache-2.0
from ._operators import *
from . import nn as nn
from ._operators import __all__ as __all__

__version__: str
