// SPDX-License-Identifier: Apache-2.0
#include "models/layers/seed_tape.h"

#include <numeric>
#include <utility>

#include "geometry/copied_to.h"
#include "models/ops/sample_pairs.h"

namespace geosft {

SeedTape::SeedTape(at::Generator generator, at::Device device) : generator_(std::move(generator)), device_(device) {}

at::Tensor SeedTape::next(int64_t count) {
  if (!drawn_.defined()) {
    counts_.push_back(count);
    return copied_to(sample_seeds(count, generator_), device_);
  }
  TORCH_CHECK(taken_ < counts_.size() && counts_[taken_] == count, "count must be that of the first step's draw ",
              taken_, ", which was ", taken_ < counts_.size() ? counts_[taken_] : 0, ", got ", count);
  ++taken_;
  place_ += count;
  return drawn_.narrow(0, place_ - count, count);
}

void SeedTape::redraw() {
  const int64_t all = std::accumulate(counts_.begin(), counts_.end(), int64_t{0});
  const auto number = at::TensorOptions().dtype(at::kLong);
  if (!drawn_.defined()) drawn_ = at::empty({all}, number.device(device_));
  const at::Tensor host = at::empty({all}, number.pinned_memory(device_.is_cuda()));
  int64_t begin = 0;
  for (const int64_t count : counts_) {
    host.narrow(0, begin, count).copy_(sample_seeds(count, generator_));
    begin += count;
  }
  drawn_.copy_(host, /*non_blocking=*/true);
  taken_ = 0;
  place_ = 0;
}

}  // namespace geosft
