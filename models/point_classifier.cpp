// SPDX-License-Identifier: Apache-2.0
#include "models/point_classifier.h"

#include "models/training/module_state.h"

namespace geosft {

PointClassifierImpl::PointClassifierImpl(const PointClassifierOptions& classifier_options)
    : options(classifier_options) {
  TORCH_CHECK(options.classes >= 2, "classes must be at least 2, got ", options.classes);
  options.layer = with_point_relations(options.layer, options.normals, options.relative, options.chirality);
  const int64_t width = options.layer.attention.width;
  ppf = learned_tokens(options.tokens);
  if (!ppf.is_empty()) register_module("ppf", ppf);
  embed =
      register_module("embed", torch::nn::Linear(input_token_channels(options.tokens, options.normals, ppf), width));
  encoder = register_module("encoder", Encoder(options.layer, options.layers));
  head = register_module("head", SampleMaxHead(width, options.classes, options.head_sampler, options.head_dropout));
}

EncodedPoints PointClassifierImpl::encode(const at::Tensor& points, const at::Tensor& normals,
                                          const std::optional<at::Tensor>& ptr, SamplingContext& context) {
  check_normals_given(normals, options.normals);
  return encode_points(ppf, embed, encoder, options.tokens, options.canonical_order, points, normals, {}, ptr, context);
}

std::shared_ptr<torch::nn::Module> PointClassifierImpl::clone(const std::optional<torch::Device>& device) const {
  return copy_of_module(*this, device);
}

at::Tensor PointClassifierImpl::forward(const at::Tensor& points, const at::Tensor& normals,
                                        const std::optional<at::Tensor>& ptr, SamplingContext& context) {
  return head->forward(encode(points, normals, ptr, context).tokens, ptr, context);
}

PointClassifierImpl::Explanation PointClassifierImpl::explain(const at::Tensor& points, const at::Tensor& normals,
                                                              const std::optional<at::Tensor>& ptr,
                                                              SamplingContext& context) {
  const EncodedPoints encoded = encode(points, normals, ptr, context);
  const at::Tensor score = head->sampler->score(encoded.tokens);
  return {head->forward(encoded.tokens, ptr, context), encoded.in_input_order(score)};
}

}  // namespace geosft
