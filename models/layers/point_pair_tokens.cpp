// SPDX-License-Identifier: Apache-2.0
#include "models/layers/point_pair_tokens.h"

#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>

#include <algorithm>

#include "models/layers/linear.h"
#include "models/ops/point_pair_features.h"

namespace geosft {
namespace {

// Leaves out the nearest point, which is the point itself, and thins the others to at most `max` columns.
at::Tensor thinned(const at::Tensor& index, int64_t max) {
  const int64_t others = index.size(1) - 1;
  if (others <= 0) return index;
  return index.slice(1, 1, std::nullopt, std::max<int64_t>(1, (others + max - 1) / max));
}

}  // namespace

PointPairTokensImpl::PointPairTokensImpl(const PointPairTokensOptions& token_options)
    : options(token_options), networks(register_module("networks", torch::nn::ModuleList())) {
  TORCH_CHECK(options.width >= 1, "width must be at least 1, got ", options.width);
  TORCH_CHECK(options.scales >= 1, "scales must be at least 1, got ", options.scales);
  TORCH_CHECK(options.max_neighbours >= 1, "max_neighbours must be at least 1, got ", options.max_neighbours);
  for (int64_t scale = 0; scale < options.scales; ++scale) {
    networks->push_back(torch::nn::Sequential(torch::nn::Linear(point_pair_channels, options.width), torch::nn::ReLU(),
                                              torch::nn::Linear(options.width, options.width)));
  }
}

at::Tensor PointPairTokensImpl::forward(const at::Tensor& points, const at::Tensor& normals,
                                        const std::optional<at::Tensor>& ptr,
                                        const std::vector<at::Tensor>& neighbourhoods) {
  TORCH_CHECK(static_cast<int64_t>(neighbourhoods.size()) == options.scales, "neighbourhoods must be of ",
              options.scales, " scales, got ", neighbourhoods.size());
  const auto given_normals = normals.defined() ? std::make_optional(normals) : std::nullopt;
  std::vector<at::Tensor> channels;
  for (size_t scale = 0; scale < neighbourhoods.size(); ++scale) {
    const at::Tensor index = thinned(neighbourhoods[scale], options.max_neighbours);
    const at::Tensor features = point_pair_features(points, given_normals, index, ptr);
    auto& network = *networks[scale]->as<torch::nn::Sequential>();
    torch::nn::Linear first(network.ptr<torch::nn::LinearImpl>(0)), second(network.ptr<torch::nn::LinearImpl>(2));
    channels.push_back(apply_linear(second, apply_linear(first, features, Activation::relu)).amax(1));
  }
  return at::cat(channels, 1).to(points.scalar_type());  // with and without autocast
}

}  // namespace geosft
