// SPDX-License-Identifier: Apache-2.0
// Sums the statistics of batch normalisation over the processes of a distributed training step.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>

namespace geosft {

// One forward and backward pass of one process. All processes call `sum` equally often and in the same order, also
// those without rows. A process whose forward pass throws calls `abandon`: the others then throw, too, instead of
// waiting.
class StatisticsReducer {
 public:
  // Replaces values of every process by their sum.
  using AllReduce = std::function<at::Tensor(const at::Tensor&)>;
  // counted: whether the rows of this process are part of the batch; padding is not.
  StatisticsReducer(AllReduce all_reduce, bool counted);

  // Sets how many sums the forward pass has.
  void expect(int64_t sums) { left_ = sums; }
  // Returns the sum of float64 values over the processes whose rows are counted, in the forward pass. Throws
  // NonFiniteError if another process has abandoned the pass.
  at::Tensor sum(const at::Tensor& values);
  // Does the same in the backward pass.
  at::Tensor sum_of_gradients(const at::Tensor& values) const;
  // Ends the pass of this process, and of the others that still expect sums.
  void abandon();

 private:
  AllReduce all_reduce_;
  bool counted_;
  int64_t left_ = 0;
};

}  // namespace geosft
