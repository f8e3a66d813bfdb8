// SPDX-License-Identifier: Apache-2.0
// What the models of point clouds have in common: tokens of the points through an encoder.
#pragma once

#include <torch/nn/modules/linear.h>

#include "models/layers/encoder.h"
#include "models/point_tokens.h"

namespace geosft {

// `layer` with attention relative to points, with or without normals.
LayerOptions with_point_relations(LayerOptions layer, bool normals);

struct EncodedPoints {
  at::Tensor tokens;  // [N, width]
  at::Tensor order;   // rows of the input that the tokens belong to; undefined: as given

  // Rows [N, …] that belong to the tokens, in the order of the input.
  at::Tensor in_input_order(const at::Tensor& rows) const;
};

// Tokens of packed clouds: point_tokens of this kind and, beside them, `features` [N, f] where they are defined,
// through `embed` and `encoder`. With `canonical_order` each cloud is put into farthest-point order outside training,
// starting from the point farthest from its centroid: then the stored order of the points changes nothing but rounding.
EncodedPoints encode_points(torch::nn::Linear& embed, Encoder& encoder, PointTokens kind, bool canonical_order,
                            at::Tensor points, at::Tensor normals, at::Tensor features,
                            const std::optional<at::Tensor>& ptr, SamplingContext& context);

}  // namespace geosft
