// SPDX-License-Identifier: Apache-2.0
#include "models/layers/statistics_reducer.h"

#include <utility>

#include "models/ops/non_finite_error.h"

namespace geosft {

StatisticsReducer::StatisticsReducer(AllReduce all_reduce, bool counted)
    : all_reduce_(std::move(all_reduce)), counted_(counted) {}

at::Tensor StatisticsReducer::sum(const at::Tensor& values) {
  // Operators on a GPU do not throw for values, so no process abandons a pass there.
  if (values.is_cpu() && all_reduce_(at::zeros({1}, at::kDouble)).item<double>() > 0) {
    left_ = 0;
    throw NonFiniteError("another process met numbers that are not finite");
  }
  --left_;
  return all_reduce_(counted_ ? values : at::zeros_like(values));
}

at::Tensor StatisticsReducer::sum_of_gradients(const at::Tensor& values) const {
  return all_reduce_(counted_ ? values : at::zeros_like(values));
}

void StatisticsReducer::abandon() {
  if (std::exchange(left_, 0) > 0) all_reduce_(at::ones({1}, at::kDouble));
}

}  // namespace geosft
