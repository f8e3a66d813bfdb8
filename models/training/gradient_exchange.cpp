// SPDX-License-Identifier: Apache-2.0
#include "models/training/gradient_exchange.h"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <functional>
#include <utility>

namespace geosft {
namespace {

// Called when the gradient of a parameter is complete.
class GradientHook : public torch::autograd::PostAccumulateGradHook {
 public:
  explicit GradientHook(std::function<void()> complete) : complete_(std::move(complete)) {}
  void operator()(const at::Tensor&) override { complete_(); }

 private:
  std::function<void()> complete_;
};

}  // namespace

int64_t bucket_bytes_for(int64_t processes) {
  return (int64_t{1} << 20) * std::clamp<int64_t>(processes / 2, 1, 8);
}

GradientExchange::GradientExchange(const Communicator& processes, std::vector<at::Tensor> parameters,
                                   int64_t bucket_bytes)
    : processes_(processes), parameters_(std::move(parameters)), bucket_of_(parameters_.size()) {
  TORCH_CHECK(bucket_bytes >= 1, "bucket_bytes must be at least 1, got ", bucket_bytes);
  assign_buckets(bucket_bytes);
  for (size_t i = 0; i < parameters_.size(); ++i) {
    torch::autograd::impl::set_post_acc_grad_hooks(parameters_[i],
                                                   std::make_unique<GradientHook>([this, i] { note(i); }));
  }
}

GradientExchange::~GradientExchange() {
  for (const at::Tensor& parameter : parameters_) torch::autograd::impl::set_post_acc_grad_hooks(parameter, nullptr);
}

void GradientExchange::assign_buckets(int64_t bucket_bytes) {
  std::vector<size_t> members;
  int64_t bytes = 0;
  for (size_t i = parameters_.size(); i-- > 0;) {
    const at::Tensor& parameter = parameters_[i];
    TORCH_CHECK(parameter.scalar_type() == at::kFloat || parameter.scalar_type() == at::kDouble,
                "gradients are exchanged in float32 or float64, got a parameter in ", parameter.scalar_type());
    TORCH_CHECK(parameter.device() == parameters_.front().device(),
                "gradients are exchanged on one device, got parameters on ", parameters_.front().device(), " and ",
                parameter.device());
    if (!members.empty() && parameters_[members.front()].scalar_type() != parameter.scalar_type()) {
      fill_bucket(std::exchange(members, {}));
      bytes = 0;
    }
    members.push_back(i);
    bytes += parameter.numel() * static_cast<int64_t>(parameter.element_size());
    if (bytes < bucket_bytes) continue;
    fill_bucket(std::exchange(members, {}));
    bytes = 0;
  }
  if (!members.empty()) fill_bucket(members);
}

void GradientExchange::fill_bucket(const std::vector<size_t>& members) {
  int64_t elements = 0;
  for (const size_t member : members) {
    elements += parameters_[member].numel();
    bucket_of_[member] = buckets_.size();
  }
  buckets_.push_back({members, at::zeros({elements}, parameters_[members.front()].options().requires_grad(false)), 0});
}

void GradientExchange::begin() {
  for (Bucket& bucket : buckets_) {
    bucket.missing = bucket.members.size();
    bucket.values.zero_();
  }
  started_ = 0;
  active_ = true;
}

// Runs inside the backward pass: of parameters on the CPU in the thread that called it, else in that of their device,
// on its current stream, while the caller waits.
void GradientExchange::note(size_t parameter) {
  if (!active_) return;
  --buckets_[bucket_of_[parameter]].missing;
  // MPI works on a sum only while it is called.
  for (size_t i = 0; i < started_; ++i) buckets_[i].sum->progress();
  while (started_ < buckets_.size() && buckets_[started_].missing == 0) start_next();
}

void GradientExchange::start_next() {
  const at::NoGradGuard guard;
  Bucket& bucket = buckets_[started_++];
  int64_t at = 0;
  for (const size_t member : bucket.members) {
    const at::Tensor& gradient = parameters_[member].grad();
    const int64_t count = parameters_[member].numel();
    if (gradient.defined()) bucket.values.narrow(0, at, count).copy_(gradient.reshape({-1}));
    at += count;
  }
  bucket.sum = processes_.start_sum(bucket.values);
}

// In how many processes a parameter has a gradient: int64 [parameters].
at::Tensor GradientExchange::holders() const {
  at::Tensor count = at::zeros({static_cast<int64_t>(parameters_.size())}, at::kLong);
  for (size_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i].grad().defined()) count.data_ptr<int64_t>()[i] = 1;
  }
  processes_.start_sum(count)->wait();
  return count;
}

void GradientExchange::take(Bucket& bucket, const at::Tensor& holders) {
  bucket.sum->wait();
  bucket.sum.reset();
  int64_t at = 0;
  for (const size_t member : bucket.members) {
    at::Tensor& parameter = parameters_[member];
    const int64_t count = parameter.numel();
    if (holders.const_data_ptr<int64_t>()[member] > 0) {
      const at::Tensor sum = bucket.values.narrow(0, at, count).view(parameter.sizes());
      at::Tensor& gradient = parameter.mutable_grad();
      // A copy, in place where there is a place: optimisers detach gradients, which cannot be done to a view.
      if (!gradient.defined()) gradient = at::empty(parameter.sizes(), sum.options());
      gradient.copy_(sum);
    }
    at += count;
  }
}

void GradientExchange::finish() {
  const at::NoGradGuard guard;
  active_ = false;
  while (started_ < buckets_.size()) start_next();  // with parameters that have no gradient
  const at::Tensor held = holders();
  for (Bucket& bucket : buckets_) take(bucket, held);
}

}  // namespace geosft
