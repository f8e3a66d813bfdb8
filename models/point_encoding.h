// SPDX-License-Identifier: Apache-2.0
// Encodes point clouds, for all point-cloud models: tokens of the points, transformed by an encoder.
#pragma once

#include <torch/nn/modules/linear.h>

#include "models/layers/encoder.h"
#include "models/layers/point_pair_tokens.h"
#include "models/ops/point_tokens.h"

namespace geosft {

// The channels of the relative encoding of points (models/ops/point_attention.h).
enum class PointRelative {
  paper,   // squared distances and, with normals, their products
  angles,  // also the projections of the distance on both normals; needs normals
};

// Returns `layer` with this relative encoding of points, with or without normals. `chirality` adds the triple product
// of the normals and the distance to the angles: the model then tells a shape from its mirror image. Throws an error
// naming `relative` or `chirality` if they lack what they need.
LayerOptions with_point_relations(LayerOptions layer, bool normals, PointRelative relative = PointRelative::paper,
                                  bool chirality = false);

// Throws an error naming `normals` unless they are defined exactly if the model was built for them.
void check_normals_given(const at::Tensor& normals, bool built_for_normals);

struct EncodedPoints {
  at::Tensor tokens;  // [N, width]
  at::Tensor order;   // input row of each token; undefined: the order of the input

  // Reorders rows [N, …] of the tokens into the order of the input.
  at::Tensor in_input_order(const at::Tensor& rows) const;
};

// Returns the learned tokens of a model with tokens of this kind: a module for `ppf`, otherwise an empty holder.
PointPairTokens learned_tokens(PointTokens kind);
// Returns the number of channels of the input tokens of a model: those of point_tokens, and of `learned`.
int64_t input_token_channels(PointTokens kind, bool normals, const PointPairTokens& learned);

// Returns the encoded tokens of packed clouds: point_tokens of this kind, concatenated with those of `learned` unless
// it is empty, and with `features` [N, f] if they are defined, then `embed` and `encoder`. With `canonical_order`,
// outside training, each cloud is sorted in farthest-point order from the point farthest from its centroid: predictions
// then depend on the stored order of the points only by rounding.
EncodedPoints encode_points(PointPairTokens& learned, torch::nn::Linear& embed, Encoder& encoder, PointTokens kind,
                            bool canonical_order, at::Tensor points, at::Tensor normals, at::Tensor features,
                            const std::optional<at::Tensor>& ptr, SamplingContext& context);

}  // namespace geosft
