// SPDX-License-Identifier: Apache-2.0
#include "models/point_encoding.h"

#include "geometry/farthest_point_sampling.h"
#include "geometry/points.h"
#include "models/layers/forward_trace.h"
#include "models/layers/linear.h"

namespace geosft {
namespace {

// Records the neighbours index [N, K] of each row as a choice, like those of the samplers.
void note_neighbours(SamplingContext& context, const at::Tensor& index, const std::optional<at::Tensor>& ptr) {
  if (!context.choices().defined()) return;
  const at::Tensor row = at::arange(index.size(0), index.options()).repeat_interleave(index.size(1));
  const auto pairs = ptr.has_value() ? std::optional(*ptr * index.size(1)) : std::nullopt;
  context.note_choice(row, index.flatten(), pairs);
}

// Throws an error that names points or normals unless the model can take them. Reads no values.
void check_inputs(const torch::nn::Linear& embed, const at::Tensor& points, const at::Tensor& normals) {
  check_points(points, "points");
  const at::ScalarType weights = embed->weight.scalar_type();
  const bool fits = (points.scalar_type() == at::kDouble) == (weights == at::kDouble);
  TORCH_CHECK(fits, "points must have the dtype of the model's weights, ", weights, ", got ", points.scalar_type(),
              " (points.to(at::k", weights, "))");
  if (!normals.defined()) return;
  check_points(normals, "normals");
  check_same_kind(points, "points", normals, "normals");
  TORCH_CHECK(normals.sym_sizes() == points.sym_sizes(), "normals must have the shape of points, ", points.sym_sizes(),
              ", got ", normals.sym_sizes());
}

}  // namespace

void check_normals_given(const at::Tensor& normals, bool built_for_normals) {
  if (built_for_normals) {
    TORCH_CHECK(normals.defined(), "normals must be given to a model that was built for them (options.normals)");
  } else {
    TORCH_CHECK(!normals.defined(), "normals must be undefined for a model that was built without them, got ",
                normals.sizes(), " (options.normals)");
  }
}

LayerOptions with_point_relations(LayerOptions layer, bool normals, PointRelative relative, bool chirality) {
  const bool angles = relative == PointRelative::angles;
  TORCH_CHECK(normals || !angles, "relative must be paper for points without normals, not angles");
  TORCH_CHECK(angles || !chirality, "chirality must be false unless relative is angles");
  layer.attention.relative = RelativeEncodingKind::points;
  layer.attention.relative_channels = angles ? (chirality ? 5 : 4) : (normals ? 2 : 1);
  return layer;
}

at::Tensor EncodedPoints::in_input_order(const at::Tensor& rows) const {
  return order.defined() ? at::empty_like(rows).index_copy(0, order, rows) : rows;
}

PointPairTokens learned_tokens(PointTokens kind) {
  return kind == PointTokens::ppf ? PointPairTokens(PointPairTokensOptions()) : PointPairTokens(nullptr);
}

int64_t input_token_channels(PointTokens kind, bool normals, const PointPairTokens& learned) {
  return point_token_channels(kind, normals) + (learned.is_empty() ? 0 : learned->channels());
}

EncodedPoints encode_points(PointPairTokens& learned, torch::nn::Linear& embed, Encoder& encoder, PointTokens kind,
                            bool canonical_order, at::Tensor points, at::Tensor normals, at::Tensor features,
                            const std::optional<at::Tensor>& ptr, SamplingContext& context) {
  check_inputs(embed, points, normals);
  if (normals.defined() && normals.is_cpu()) check_finite(normals.contiguous(), "normals");
  at::Tensor order;
  if (canonical_order && context.mode() != SampleMode::random) {
    // In double precision, so that only the rounding of the coordinates of a moved cloud can change the order of
    // near-ties.
    order = farthest_point_order(points.to(at::kDouble), ptr);
    context.note_choice(order, at::arange(order.size(0), order.options()), ptr);
    if (context.trace() != nullptr) context.trace()->order = order;
    points = points.index_select(0, order);
    if (normals.defined()) normals = normals.index_select(0, order);
    if (features.defined()) features = features.index_select(0, order);
  }
  std::vector<at::Tensor> neighbourhoods;
  at::Tensor tokens = point_tokens(kind, points, normals, ptr, &neighbourhoods);
  if (!learned.is_empty()) tokens = at::cat({tokens, learned->forward(points, normals, ptr, neighbourhoods)}, 1);
  if (features.defined()) tokens = at::cat({tokens, features}, 1);
  const at::Tensor x = apply_linear(embed, tokens).to(points.scalar_type());  // with and without autocast
  for (const at::Tensor& index : neighbourhoods) note_neighbours(context, index, ptr);
  return {encoder->forward(x, RelativeEncoding::points(points, normals), ptr, context), order};
}

}  // namespace geosft
