// SPDX-License-Identifier: Apache-2.0
#include "models/point_classifier.h"

#include "geometry/farthest_point_sampling.h"
#include "models/layers/forward_trace.h"

namespace geosft {
namespace {

LayerOptions with_point_relations(LayerOptions layer, bool normals) {
  layer.attention.relative = RelativeKind::points;
  layer.attention.relative_channels = normals ? 2 : 1;
  return layer;
}

// Which rows index [N, K] counts as neighbours of each row is a choice like those of the samplers.
void note_neighbours(SamplingContext& context, const at::Tensor& index, const std::optional<at::Tensor>& ptr) {
  if (!context.choices().defined()) return;
  const at::Tensor row = at::arange(index.size(0), index.options()).repeat_interleave(index.size(1));
  const auto pairs = ptr.has_value() ? std::optional(*ptr * index.size(1)) : std::nullopt;
  context.note_choice(row, index.flatten(), pairs);
}

}  // namespace

PointClassifierImpl::PointClassifierImpl(const PointClassifierOptions& classifier_options)
    : options(classifier_options) {
  TORCH_CHECK(options.classes >= 2, "classes must be at least 2, got ", options.classes);
  options.layer = with_point_relations(options.layer, options.normals);
  const int64_t width = options.layer.attention.width;
  embed = register_module("embed", torch::nn::Linear(point_token_channels(options.tokens, options.normals), width));
  encoder = register_module("encoder", Encoder(options.layer, options.layers));
  head = register_module("head", SampleMaxHead(width, options.classes, options.head_sampler, options.head_dropout));
}

PointClassifierImpl::Encoded PointClassifierImpl::encode(at::Tensor points, at::Tensor normals,
                                                         const std::optional<at::Tensor>& ptr,
                                                         SamplingContext& context) {
  TORCH_CHECK(normals.defined() == options.normals, "normals must be given exactly when the model was built for them");
  at::Tensor order;
  if (options.canonical_order && context.mode() != SampleMode::random) {
    // In double precision, so that of the rounding of a moved cloud only that of its coordinates can flip a near-tie.
    order = farthest_point_order(points.to(at::kCPU, at::kDouble), ptr).to(points.device());
    context.note_choice(order, at::arange(order.size(0), order.options()), ptr);
    if (context.trace() != nullptr) context.trace()->order = order;
    points = points.index_select(0, order);
    if (normals.defined()) normals = normals.index_select(0, order);
  }
  std::vector<at::Tensor> neighbourhoods;
  const at::Tensor tokens = point_tokens(options.tokens, points, normals, ptr, &neighbourhoods);
  const at::Tensor x = embed->forward(tokens).to(points.scalar_type());  // autocast or not
  for (const at::Tensor& index : neighbourhoods) note_neighbours(context, index, ptr);
  return {encoder->forward(x, Relative::points(points, normals), ptr, context), order};
}

at::Tensor PointClassifierImpl::forward(const at::Tensor& points, const at::Tensor& normals,
                                        const std::optional<at::Tensor>& ptr, SamplingContext& context) {
  return head->forward(encode(points, normals, ptr, context).tokens, ptr, context);
}

PointClassifierImpl::Explanation PointClassifierImpl::explain(const at::Tensor& points, const at::Tensor& normals,
                                                              const std::optional<at::Tensor>& ptr,
                                                              SamplingContext& context) {
  const Encoded encoded = encode(points, normals, ptr, context);
  const at::Tensor score = head->sampler->score(encoded.tokens);
  const at::Tensor importance =
      encoded.order.defined() ? at::empty_like(score).index_copy(0, encoded.order, score) : score;
  return {head->forward(encoded.tokens, ptr, context), importance};
}

}  // namespace geosft
