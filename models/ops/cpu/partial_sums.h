// SPDX-License-Identifier: Apache-2.0
// Keeps partial accumulators: each unit of work adds to its own copy, and the copies are summed in order, so that
// results have the same bits on any number of threads. The first copy is the result itself. No buffer is allocated when
// the gradient is not requested.
#pragma once

#include <ATen/ATen.h>

namespace geosft {

template <typename T>
class PartialSums {
 public:
  PartialSums() = default;
  PartialSums(at::IntArrayRef sizes, int64_t count) : first_(at::zeros(sizes, c10::CppTypeToScalarType<T>::value)) {
    std::vector<int64_t> more(sizes.begin(), sizes.end());
    more.insert(more.begin(), std::max<int64_t>(count - 1, 0));
    rest_ = at::zeros(more, first_.options());
  }

  bool defined() const { return first_.defined(); }

  // Null if no buffer was allocated.
  T* get(int64_t slot) const {
    if (!defined()) return nullptr;
    if (slot == 0) return first_.template mutable_data_ptr<T>();
    return rest_.template mutable_data_ptr<T>() + (slot - 1) * first_.numel();
  }

  // An empty tensor if no buffer was allocated.
  at::Tensor sum() {
    if (!defined()) return at::empty({0}, c10::CppTypeToScalarType<T>::value);
    for (int64_t s = 0; s < rest_.size(0); ++s) first_.add_(rest_.select(0, s));
    return first_;
  }

 private:
  at::Tensor first_, rest_;
};

}  // namespace geosft
