// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/cloud_task.h"

#include "models/training/host_copy.h"

namespace geosft {

void CloudTask::take_batch() {
  there_ = loader_.next();
  there_.ptr = offsets_for(there_.ptr, device_);
}

StepInputs CloudTask::inputs() {
  return {{there_.ptr}, {&there_.points, &there_.normals, &there_.labels, &there_.parts}, there_.labels.size(0)};
}

TrainingTask::Step CloudTask::compute(RngBuffer& seeds) {
  SamplingContext context = shared_context(seeds, processes_, there_.place, there_.ptr);
  return step_on(there_, context);
}

BatchSize CloudTask::batch_size() const {
  return {there_.labels.size(0), there_.points.size(0) * width_};
}

TrainingTask::Step CloudTask::compute_part(int64_t part, int64_t parts, RngBuffer& seeds) {
  const PointBatch batch = micro_batch(there_, part, parts);
  SamplingContext context = part_context(seeds, batch.place, there_.ptr);
  return step_on(batch, context);
}

std::optional<CloudTask::Means> CloudTask::validation(const std::function<void(int64_t)>& progress) {
  return validation_ == nullptr ? std::nullopt : std::optional(validate_on(*validation_, progress));
}

}  // namespace geosft
