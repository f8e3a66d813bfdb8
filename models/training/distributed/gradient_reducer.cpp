// SPDX-License-Identifier: Apache-2.0
#include "models/training/distributed/gradient_reducer.h"

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
  return std::clamp<int64_t>(processes << 19, int64_t{1} << 20, int64_t{8} << 20);
}

GradientReducer::GradientReducer(const Communicator& processes, std::vector<at::Tensor> parameters,
                                 int64_t bucket_bytes)
    : processes_(processes), parameters_(std::move(parameters)) {
  TORCH_CHECK(bucket_bytes >= 1, "bucket_bytes must be at least 1, got ", bucket_bytes);
  std::erase_if(parameters_, [](const at::Tensor& parameter) { return !parameter.requires_grad(); });
  bucket_of_.resize(parameters_.size());
  assign_buckets(bucket_bytes);
  for (size_t i = 0; i < parameters_.size(); ++i) {
    torch::autograd::impl::set_post_acc_grad_hooks(parameters_[i],
                                                   std::make_unique<GradientHook>([this, i] { mark_ready(i); }));
  }
}

GradientReducer::~GradientReducer() {
  for (const at::Tensor& parameter : parameters_) torch::autograd::impl::set_post_acc_grad_hooks(parameter, nullptr);
}

void GradientReducer::assign_buckets(int64_t bucket_bytes) {
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

void GradientReducer::fill_bucket(const std::vector<size_t>& members) {
  int64_t elements = 0;
  for (const size_t member : members) {
    elements += parameters_[member].numel();
    bucket_of_[member] = buckets_.size();
  }
  buckets_.push_back({members, at::zeros({elements}, parameters_[members.front()].options().requires_grad(false)), 0});
}

void GradientReducer::begin() {
  for (Bucket& bucket : buckets_) {
    bucket.missing = bucket.members.size();
    bucket.values.zero_();
  }
  started_ = 0;
  active_ = true;
}

// Called inside the backward pass: for parameters on the CPU by the thread that called backward(), otherwise by the
// autograd thread of their device, on its current stream.
void GradientReducer::mark_ready(size_t parameter) {
  if (!active_) return;
  --buckets_[bucket_of_[parameter]].missing;
  // MPI advances an all-reduce only inside calls of MPI.
  for (size_t i = 0; i < started_; ++i) buckets_[i].work->progress();
  while (started_ < buckets_.size() && buckets_[started_].missing == 0) start_next();
}

void GradientReducer::start_next() {
  const at::NoGradGuard guard;
  Bucket& bucket = buckets_[started_++];
  int64_t at = 0;
  for (const size_t member : bucket.members) {
    const at::Tensor& gradient = parameters_[member].grad();
    const int64_t count = parameters_[member].numel();
    if (gradient.defined()) bucket.values.narrow(0, at, count).copy_(gradient.reshape({-1}));
    at += count;
  }
  bucket.work = processes_.all_reduce(bucket.values);
}

// The number of processes in which each parameter has a gradient, int64 [parameters].
at::Tensor GradientReducer::processes_with_gradient() const {
  at::Tensor count = at::zeros({static_cast<int64_t>(parameters_.size())}, at::kLong);
  for (size_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i].grad().defined()) count.data_ptr<int64_t>()[i] = 1;
  }
  processes_.all_reduce(count)->wait();
  return count;
}

void GradientReducer::copy_back(Bucket& bucket, const at::Tensor& processes_with_gradient) {
  bucket.work->wait();
  bucket.work.reset();
  int64_t at = 0;
  for (const size_t member : bucket.members) {
    at::Tensor& parameter = parameters_[member];
    const int64_t count = parameter.numel();
    if (processes_with_gradient.const_data_ptr<int64_t>()[member] > 0) {
      const at::Tensor sum = bucket.values.narrow(0, at, count).view(parameter.sizes());
      at::Tensor& gradient = parameter.mutable_grad();
      // A copy, not a view of the bucket: optimisers call detach_() on gradients, which is not allowed on views.
      if (!gradient.defined()) gradient = at::empty(parameter.sizes(), sum.options());
      gradient.copy_(sum);
    }
    at += count;
  }
}

void GradientReducer::finish() {
  const at::NoGradGuard guard;
  active_ = false;
  while (started_ < buckets_.size()) start_next();  // buckets with parameters that have no gradient
  const at::Tensor counts = processes_with_gradient();
  for (Bucket& bucket : buckets_) copy_back(bucket, counts);
}

}  // namespace geosft
