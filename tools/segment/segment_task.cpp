// SPDX-License-Identifier: Apache-2.0
#include "tools/segment/segment_task.h"

#include <ATen/core/Reduction.h>

#include "geometry/device_offsets.h"
#include "models/training/autocast.h"

namespace geosft {
namespace {

// Returns the sum of the IoUs over the shapes of the batch; predictions are limited to the parts of the shape's class.
at::Tensor summed_iou(const at::Tensor& logits, const PointBatch& batch, const at::Tensor& mask) {
  const at::Tensor item = item_of_row_on_device(batch.ptr, logits.size(0), logits.device());
  const at::Tensor allowed = mask.index_select(0, batch.labels);
  const at::Tensor found = masked_logits(logits.detach(), allowed.index_select(0, item)).argmax(1);
  return shape_ious(count_parts(found, batch.parts, item, batch.labels.size(0), mask.size(1)), allowed).sum();
}

}  // namespace

SegmentTask::SegmentTask(const PointSegmenter& model, const PointDataset& training, const PointDataset* validation,
                         const SegmentSettings& settings, const at::Tensor& mask, const Communicator& processes)
    : CloudModelTask(model, training, validation, settings, processes),
      mask_(mask),
      mask_there_(mask.to(device_of(*model))) {}

TrainingTask::Step SegmentTask::step_on(const PointBatch& batch, SamplingContext& context) {
  const at::Tensor category = model_->options.categories > 0 ? batch.labels : at::Tensor();
  const at::Tensor logits = out_of_autocast(model_->forward(batch.points, batch.normals, batch.ptr, category, context));
  const at::Tensor loss =
      at::cross_entropy_loss(logits, batch.parts, {}, at::Reduction::Mean, -100, settings_.train.label_smoothing);
  const bool counts = !batch.place.spare;
  return measured_step(loss, summed_iou(logits, batch, mask_there_), counts ? batch.labels.size(0) : 0,
                       counts ? static_cast<double>(batch.parts.size(0)) : 0.0);
}

CloudTask::Means SegmentTask::validate_on(const PointDataset& clouds, const std::function<void(int64_t)>& progress) {
  const SegmentScores scores =
      evaluate_parts(model_, clouds, with_one_vote(settings_), mask_, Rotation::none, 1, progress).scores;
  return {scores.loss, scores.parts.instance_iou, clouds.size()};
}

}  // namespace geosft
