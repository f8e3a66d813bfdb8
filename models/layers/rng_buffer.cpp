// SPDX-License-Identifier: Apache-2.0
#include "models/layers/rng_buffer.h"

#include <numeric>
#include <utility>

#include "geometry/device_offsets.h"
#include "models/ops/sample_pairs.h"

namespace geosft {

RngBuffer::RngBuffer(at::Generator generator, at::Device device) : generator_(std::move(generator)), device_(device) {}

at::Tensor RngBuffer::next(int64_t count) {
  if (!values_.defined()) {
    counts_.push_back(count);
    return copy_to_device(sample_seeds(count, generator_), device_);
  }
  TORCH_CHECK(requests_ < counts_.size() && counts_[requests_] == count,
              "count must be that of the first step's request ", requests_, ", which was ",
              requests_ < counts_.size() ? counts_[requests_] : 0, ", got ", count);
  ++requests_;
  position_ += count;
  return values_.narrow(0, position_ - count, count);
}

void RngBuffer::refill() {
  const int64_t all = std::accumulate(counts_.begin(), counts_.end(), int64_t{0});
  const auto number = at::TensorOptions().dtype(at::kLong);
  if (!values_.defined()) values_ = at::empty({all}, number.device(device_));
  const at::Tensor host = at::empty({all}, number.pinned_memory(device_.is_cuda()));
  int64_t begin = 0;
  for (const int64_t count : counts_) {
    host.narrow(0, begin, count).copy_(sample_seeds(count, generator_));
    begin += count;
  }
  values_.copy_(host, /*non_blocking=*/true);
  requests_ = 0;
  position_ = 0;
}

}  // namespace geosft
