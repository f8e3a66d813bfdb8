// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/loader_task.h"

#include <memory>

#include "models/layers/statistics_reducer.h"

namespace geosft {

BatchShard shard_of(const Communicator& processes) {
  return {processes.rank(), processes.size()};
}

SamplingContext part_context(RngBuffer& seeds, const BatchSlice& place, const at::Tensor& whole_ptr) {
  const at::Tensor sizes = at::diff(whole_ptr).contiguous();
  const int64_t* const begin = sizes.const_data_ptr<int64_t>();
  const int64_t each = sizes.size(0) / place.all;
  return SamplingContext::training(seeds, {{begin, begin + sizes.numel()}, place.first * each});
}

SamplingContext shared_context(RngBuffer& seeds, const Communicator& processes, const BatchSlice& place,
                               const at::Tensor& ptr) {
  if (processes.size() == 1) return SamplingContext::training(seeds);
  const at::Tensor sizes = at::diff(ptr.cpu());
  const int64_t each = sizes.size(0) / place.count;
  const at::Tensor all = all_gather(processes, sizes, place.first * each, place.all * each, place.spare);
  const int64_t* const begin = all.const_data_ptr<int64_t>();
  SamplingContext context = SamplingContext::training(seeds, {{begin, begin + all.numel()}, place.first * each});
  context.sum_statistics_with(std::make_shared<StatisticsReducer>(
      [&processes](const at::Tensor& values) { return processes.sum(values); }, !place.spare));
  return context;
}

}  // namespace geosft
