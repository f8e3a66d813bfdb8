// SPDX-License-Identifier: Apache-2.0
#include "models/point_segmenter.h"

#include "models/training/module_state.h"

#include "geometry/device_offsets.h"
#include "geometry/packed.h"

namespace geosft {
namespace {

// One-hot categories [N, categories] of the points' items.
at::Tensor category_features(const at::Tensor& category, int64_t categories, const at::Tensor& points,
                             const std::optional<at::Tensor>& ptr) {
  TORCH_CHECK(category.defined() == (categories > 0),
              "category must be given exactly when the model was built for categories, got ",
              category.defined() ? "one, and it was built without (options.categories)" : "none");
  if (categories == 0) return {};
  const int64_t items = given(ptr) ? ptr->size(0) - 1 : 1;
  TORCH_CHECK(category.scalar_type() == at::kLong && category.dim() == 1 && category.size(0) == items,
              "category must be int64 [", items, "], one an item, got ", category.scalar_type(), " ", category.sizes());
  if (category.device().is_cpu() && items > 0) {
    const auto low = category.min().item<int64_t>(), high = category.max().item<int64_t>();
    TORCH_CHECK(low >= 0 && high < categories, "category must lie in [0, ", categories, "), got values from ", low,
                " to ", high);
  }
  const at::Tensor there = copy_to_device(category, points.device()), known = at::arange(categories, there.options());
  const at::Tensor one_hot = (there.unsqueeze(1) == known).to(points.scalar_type());
  return one_hot.index_select(0, item_of_row_on_device(ptr, points.size(0), points.device()));
}

}  // namespace

PointSegmenterImpl::PointSegmenterImpl(const PointSegmenterOptions& segmenter_options) : options(segmenter_options) {
  TORCH_CHECK(options.parts >= 2, "parts must be at least 2, got ", options.parts);
  TORCH_CHECK(options.categories >= 0, "categories must be 0 or more, got ", options.categories);
  options.layer = with_point_relations(options.layer, options.normals, options.relative, options.chirality);
  const int64_t width = options.layer.attention.width;
  ppf = learned_tokens(options.tokens);
  if (!ppf.is_empty()) register_module("ppf", ppf);
  const int64_t channels = input_token_channels(options.tokens, options.normals, ppf) + options.categories;
  embed = register_module("embed", torch::nn::Linear(channels, width));
  encoder = register_module("encoder", Encoder(options.layer, options.layers));
  head = register_module("head", TokenHead(width, options.parts));
}

std::shared_ptr<torch::nn::Module> PointSegmenterImpl::clone(const std::optional<torch::Device>& device) const {
  return copy_of_module(*this, device);
}

at::Tensor PointSegmenterImpl::forward(const at::Tensor& points, const at::Tensor& normals,
                                       const std::optional<at::Tensor>& ptr, const at::Tensor& category,
                                       SamplingContext& context) {
  check_normals_given(normals, options.normals);
  const at::Tensor features = category_features(category, options.categories, points, ptr);
  const EncodedPoints encoded = encode_points(ppf, embed, encoder, options.tokens, options.canonical_order, points,
                                              normals, features, ptr, context);
  return encoded.in_input_order(head->forward(encoded.tokens));
}

}  // namespace geosft
