# SPDX-License-Identifier: Apache-2.0
"""Layers and models of the Sampling Foundational Transformer as torch.nn modules.

Modules take tokens [N, dim] packed by ``ptr`` (int64 [B + 1], or a sequence of B + 1 integers), or dense tokens
[B, N, dim] with an optional ``mask``. Parameters have the names and shapes of the C++ modules, so a state_dict of one
loads into the other. In evaluation mode both compute the same bits in float32 on a CPU where gradients are enabled, and the same up to
rounding without: C++ then computes linear maps by oneDNN.

What holds for all of them:

* Tokens, coordinates and other floating tensors have the dtype and the device of the parameters (float64, float32, bfloat16
  or float16); under autocast they may have another floating dtype, from which they are converted. Without autocast the
  result has the dtype of the tokens. Models of graphs take coordinates of any floating dtype, and keep float32 in models of 16 bits,
  too: :class:`GraphEncoding`.
* ``relative`` is the encoding that attention sees, with a row per token; ``sampling`` the random numbers of a pass
  (:class:`SamplingContext`), None: those of the module's mode.
* A batch without items (ptr = [0]) is valid, and so is an item without tokens.
* A wrong argument raises a TypeError or a ValueError, or a RuntimeError of an operator, that names the argument and says what
  it was and what was expected. What `device` cannot be is said by PyTorch.
"""

from .attention import PolynomialAttention, RecordedAttention, SamplingAttention, record_attention
from .encoder import Encoder, TransformerLayer
from .graph_model import FeaturedGraphs, GraphModel
from .heads import PairHead, PooledHead, SampleMaxHead, SoftmaxPoolHead, SumHead, TokenHead
from .message_passing import EdgeIndex, LocalGraph, MessagePassing, PackedBatchNorm
from .point_models import PointClassifier, PointSegmenter, farthest_point_order
from .primal import PrimalAttention
from .relative import GraphEncoding, PointEncoding, SequenceEncoding, distance_features, sinusoids
from .sampling import Pairs, Sampler, SamplingContext

__all__ = [
    "EdgeIndex",
    "Encoder",
    "FeaturedGraphs",
    "GraphEncoding",
    "GraphModel",
    "LocalGraph",
    "MessagePassing",
    "PackedBatchNorm",
    "PairHead",
    "Pairs",
    "PointClassifier",
    "PointEncoding",
    "PointSegmenter",
    "PolynomialAttention",
    "PooledHead",
    "PrimalAttention",
    "RecordedAttention",
    "SampleMaxHead",
    "Sampler",
    "SamplingAttention",
    "SamplingContext",
    "SequenceEncoding",
    "SoftmaxPoolHead",
    "SumHead",
    "TokenHead",
    "TransformerLayer",
    "distance_features",
    "farthest_point_order",
    "record_attention",
    "sinusoids",
]
