// SPDX-License-Identifier: Apache-2.0
#include "tools/segment/segment_task.h"

#include <ATen/core/Reduction.h>

#include "geometry/device_offsets.h"
#include "models/summary.h"
#include "models/training/autocast.h"
#include "models/training/host_copy.h"
#include "tools/experiment/main_guard.h"
#include "tools/experiment/shared_batch.h"

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

SegmentTask::SegmentTask(PointSegmenter model, const PointDataset& training, const PointDataset* validation,
                         const SegmentSettings& settings, const at::Tensor& mask, const Communicator& processes)
    : model_(std::move(model)),
      processes_(processes),
      validation_(validation),
      settings_(settings),
      validation_settings_(settings),
      mask_(mask),
      mask_there_(mask.to(device_of(*model_))),
      loader_(training, settings, processes, device_of(*model_)) {
  validation_settings_.evaluation.votes = 1;  // enough for a learning curve
}

void SegmentTask::take_batch() {
  there_ = loader_.next();
  there_.ptr = offsets_for(there_.ptr, device_of(*model_));
}

StepInputs SegmentTask::inputs() {
  return {{there_.ptr}, {&there_.points, &there_.normals, &there_.labels, &there_.parts}, there_.labels.size(0)};
}

TrainingTask::Step SegmentTask::compute(RngBuffer& seeds) {
  SamplingContext context = shared_context(seeds, processes_, there_.place, there_.ptr);
  return step_on(there_, context);
}

BatchSize SegmentTask::batch_size() const {
  return {there_.labels.size(0), there_.points.size(0) * settings_.model.width};
}

TrainingTask::Step SegmentTask::compute_part(int64_t part, int64_t parts, RngBuffer& seeds) {
  const PointBatch batch = micro_batch(there_, part, parts);
  SamplingContext context = part_context(seeds, batch.place, there_.ptr);
  return step_on(batch, context);
}

TrainingTask::Step SegmentTask::step_on(const PointBatch& batch, SamplingContext& context) {
  const at::Tensor category = model_->options.categories > 0 ? batch.labels : at::Tensor();
  const at::Tensor logits = out_of_autocast(model_->forward(batch.points, batch.normals, batch.ptr, category, context));
  const at::Tensor loss =
      at::cross_entropy_loss(logits, batch.parts, {}, at::Reduction::Mean, -100, settings_.train.label_smoothing);
  const bool counts = !batch.place.spare;
  return measured_step(loss, summed_iou(logits, batch, mask_there_), counts ? batch.labels.size(0) : 0,
                       counts ? static_cast<double>(batch.parts.size(0)) : 0.0);
}

std::optional<MetricSum> SegmentTask::validate() {
  if (validation_ == nullptr) return std::nullopt;
  const SegmentScores scores =
      evaluate_parts(model_, *validation_, validation_settings_, mask_, Rotation::none, 1, [](int64_t) {
        throw_if_interrupted("in the middle of a validation");
      }).scores;
  const int64_t items = validation_->size();
  return MetricSum{scores.loss * static_cast<double>(items), scores.parts.instance_iou * static_cast<double>(items),
                   items};
}

}  // namespace geosft
