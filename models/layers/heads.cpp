// SPDX-License-Identifier: Apache-2.0
#include "models/layers/heads.h"

#include <cmath>

#include "geometry/packed.h"
#include "models/layers/forward_trace.h"
#include "models/ops/softmax_pool.h"

namespace geosft {
namespace {

// Returns the rows per item if all items have equally many (at least one), otherwise 0. There is at least one item.
int64_t common_count(const std::vector<int64_t>& offsets) {
  const int64_t count = offsets[1] - offsets[0];
  for (size_t b = 1; b + 1 < offsets.size(); ++b) {
    if (offsets[b + 1] - offsets[b] != count) return 0;
  }
  return count;
}

// x may be the output of autocast, which does not convert parameters.
at::Tensor pooled(const at::Tensor& x, const at::Tensor& u, const std::optional<at::Tensor>& ptr) {
  return softmax_pool(x, u.to(x.scalar_type()), ptr);
}

}  // namespace

at::Tensor max_pool(const at::Tensor& x, const std::optional<at::Tensor>& ptr) {
  const std::vector<int64_t> offsets = packed_offsets(ptr, x.size(0), "ptr");
  const int64_t items = static_cast<int64_t>(offsets.size()) - 1;
  if (items == 0) return x;  // [0, d]
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

SampleMaxHeadImpl::SampleMaxHeadImpl(int64_t width, int64_t outputs, const SamplerOptions& sampler_options,
                                     double pooled_dropout)
    : sampler(register_module("sampler", Sampler(width, sampler_options))),
      linear(register_module("linear", torch::nn::Linear(width, outputs))),
      dropout(pooled_dropout) {}

at::Tensor SampleMaxHeadImpl::forward(const at::Tensor& x, const std::optional<at::Tensor>& ptr,
                                      SamplingContext& context) {
  const Pairs pairs = sampler->forward(x, ptr, context);
  if (context.trace() != nullptr) context.trace()->head = {sampler->score(x), pairs};
  const int64_t items_before = context.rows_before([](int64_t) { return 1; });
  return linear->forward(context.dropout(max_pool(pairs.sample(x), pairs.ptr), dropout, items_before));
}

SoftmaxPoolHeadImpl::SoftmaxPoolHeadImpl(int64_t width, int64_t outputs)
    : u(register_parameter("u", at::randn({width}) / std::sqrt(static_cast<double>(width)))),
      linear(register_module("linear", torch::nn::Linear(width, outputs))) {}

at::Tensor SoftmaxPoolHeadImpl::forward(const at::Tensor& x, const std::optional<at::Tensor>& ptr) {
  return linear->forward(pooled(x, u, ptr));
}

PairHeadImpl::PairHeadImpl(int64_t width, int64_t outputs)
    : u(register_parameter("u", at::randn({width}) / std::sqrt(static_cast<double>(width)))),
      hidden(register_module("hidden", torch::nn::Linear(4 * width, width))),
      linear(register_module("linear", torch::nn::Linear(width, outputs))) {}

at::Tensor PairHeadImpl::forward(const at::Tensor& x, const at::Tensor& ptr) {
  TORCH_CHECK(ptr.size(0) % 2 == 1, "ptr must have items in pairs, got ", ptr.size(0) - 1, " items");
  const at::Tensor pairs = pooled(x, u, ptr).view({-1, 2, x.size(1)});
  const at::Tensor a = pairs.select(1, 0), b = pairs.select(1, 1);
  return linear->forward(at::relu(hidden->forward(at::cat({a, b, a * b, a - b}, 1))));
}

SumHeadImpl::SumHeadImpl(int64_t width, int64_t outputs)
    : linear(register_module("linear", torch::nn::Linear(width, outputs))) {}

at::Tensor SumHeadImpl::forward(const at::Tensor& x, const std::optional<at::Tensor>& ptr) {
  const at::Tensor each = linear->forward(x);
  const std::vector<int64_t> offsets = packed_offsets(ptr, x.size(0), "ptr");
  if (offsets.size() == 1) return each;  // [0, outputs]
  std::vector<at::Tensor> sums;
  for (size_t b = 0; b + 1 < offsets.size(); ++b) sums.push_back(each.slice(0, offsets[b], offsets[b + 1]).sum(0));
  return at::stack(sums);
}

TokenHeadImpl::TokenHeadImpl(int64_t width, int64_t outputs)
    : linear(register_module("linear", torch::nn::Linear(width, outputs))) {}

at::Tensor TokenHeadImpl::forward(const at::Tensor& x) {
  return linear->forward(x);
}

}  // namespace geosft
