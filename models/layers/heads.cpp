// SPDX-License-Identifier: Apache-2.0
#include "models/layers/heads.h"

#include <cmath>

#include "geometry/packed.h"

namespace geosft {
namespace {

// Rows an item when all items have equally many (and at least one), otherwise 0.
int64_t common_count(const std::vector<int64_t>& offsets) {
  const int64_t count = offsets[1] - offsets[0];
  for (size_t b = 1; b + 1 < offsets.size(); ++b) {
    if (offsets[b + 1] - offsets[b] != count) return 0;
  }
  return count;
}

}  // namespace

at::Tensor max_pool(const at::Tensor& x, const std::optional<at::Tensor>& ptr) {
  const std::vector<int64_t> offsets = packed_offsets(ptr, x.size(0), "ptr");
  const int64_t items = static_cast<int64_t>(offsets.size()) - 1;
  if (const int64_t count = common_count(offsets); count > 0) {
    return std::get<0>(x.view({items, count, x.size(1)}).max(1));
  }
  std::vector<at::Tensor> rows;
  for (int64_t b = 0; b < items; ++b) {
    const int64_t count = offsets[b + 1] - offsets[b];
    rows.push_back(count == 0 ? at::zeros({x.size(1)}, x.options())
                              : std::get<0>(x.narrow(0, offsets[b], count).max(0)));
  }
  return at::stack(rows, 0);
}

at::Tensor softmax_pool(const at::Tensor& x, const at::Tensor& u, const std::optional<at::Tensor>& ptr) {
  const std::vector<int64_t> offsets = packed_offsets(ptr, x.size(0), "ptr");
  const int64_t items = static_cast<int64_t>(offsets.size()) - 1;
  const at::Tensor item = item_of_row(offsets).to(x.device());
  const at::Tensor logits = at::mv(x, u);
  const at::Tensor largest =
      at::full({items}, -INFINITY, x.options()).scatter_reduce(0, item, logits.detach(), "amax", /*include_self=*/true);
  const at::Tensor weight = (logits - largest.index_select(0, item)).exp();
  const at::Tensor total = at::zeros({items}, x.options()).index_add(0, item, weight);
  const at::Tensor share = weight / total.index_select(0, item);
  return at::zeros({items, x.size(1)}, x.options()).index_add(0, item, share.unsqueeze(1) * x);
}

SampleMaxHeadImpl::SampleMaxHeadImpl(int64_t width, int64_t outputs, const SamplerOptions& sampler_options,
                                     double pooled_dropout)
    : sampler(register_module("sampler", Sampler(width, sampler_options))),
      linear(register_module("linear", torch::nn::Linear(width, outputs))),
      dropout(pooled_dropout) {}

at::Tensor SampleMaxHeadImpl::forward(const at::Tensor& x, const std::optional<at::Tensor>& ptr,
                                      SamplingContext& context) {
  const Pairs pairs = sampler->forward(x, ptr, context);
  return linear->forward(context.dropout(max_pool(pairs.sample(x), pairs.ptr), dropout));
}

SoftmaxPoolHeadImpl::SoftmaxPoolHeadImpl(int64_t width, int64_t outputs)
    : u(register_parameter("u", at::randn({width}) / std::sqrt(static_cast<double>(width)))),
      linear(register_module("linear", torch::nn::Linear(width, outputs))) {}

at::Tensor SoftmaxPoolHeadImpl::forward(const at::Tensor& x, const std::optional<at::Tensor>& ptr) {
  return linear->forward(softmax_pool(x, u, ptr));
}

TokenHeadImpl::TokenHeadImpl(int64_t width, int64_t outputs)
    : linear(register_module("linear", torch::nn::Linear(width, outputs))) {}

at::Tensor TokenHeadImpl::forward(const at::Tensor& x) {
  return linear->forward(x);
}

}  // namespace geosft
