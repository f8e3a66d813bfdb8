// SPDX-License-Identifier: Apache-2.0
#include "tools/segment/segment_task.h"

#include <ATen/core/Reduction.h>

#include "geometry/device_offsets.h"
#include "models/training/autocast.h"
#include "models/training/host_copy.h"

namespace geosft {
namespace {

// Returns the sum of the IoUs over the shapes of the batch that have labelled points; predictions are limited to the
// parts of the shape's class. item: the shape of each point.
at::Tensor summed_iou(const at::Tensor& logits, const PointBatch& batch, const at::Tensor& item,
                      const at::Tensor& mask) {
  const at::Tensor allowed = mask.index_select(0, batch.labels);
  const at::Tensor found = masked_logits(logits.detach(), allowed.index_select(0, item)).argmax(1);
  const PartCounts counts = count_parts(found, batch.parts, item, batch.labels.size(0), mask.size(1));
  return (shape_ious(counts, allowed) * (counts.there.sum(1) > 0)).sum();
}

}  // namespace

SegmentTask::SegmentTask(const PointSegmenter& model, const PointDataset& training, const PointDataset* validation,
                         const SegmentSettings& settings, const at::Tensor& mask, const Communicator& processes)
    : CloudModelTask(model, training, validation, settings, processes),
      mask_(mask),
      mask_there_(mask.to(device_of(*model))) {}

TrainingTask::Step SegmentTask::step_on(const PointBatch& batch, SamplingContext& context) {
  const at::Tensor item = item_of_row_on_device(batch.ptr, batch.parts.size(0), batch.parts.device());
  const at::Tensor labelled = (batch.parts != unlabelled_part).to(at::kLong);
  const at::Tensor of_shapes = at::zeros_like(batch.labels).scatter_add_(0, item, labelled);
  // The numbers of labelled points and of shapes with such points. They weight the loss and the score of pieces of a
  // batch; a single process on a GPU has no pieces, and does not wait for them.
  const at::Tensor counts = at::stack({of_shapes.sum(), (of_shapes > 0).sum()});
  std::optional<HostCopy> on_host;
  if (batch.unlabelled && (counts.is_cpu() || processes_.size() > 1)) on_host.emplace(counts);
  const at::Tensor category = model_->options.categories > 0 ? batch.labels : at::Tensor();
  const at::Tensor logits = out_of_autocast(model_->forward(batch.points, batch.normals, batch.ptr, category, context));
  const at::Tensor loss = at::cross_entropy_loss(logits, batch.parts, {}, at::Reduction::Sum, unlabelled_part,
                                                 settings_.train.label_smoothing) /
                          counts[0].clamp_min(1);
  const int64_t points = on_host ? on_host->values()[0].item<int64_t>() : batch.parts.size(0);
  const int64_t shapes = on_host ? on_host->values()[1].item<int64_t>() : batch.labels.size(0);
  const at::Tensor share = at::scalar_tensor(shapes, at::kDouble) / counts[1].clamp_min(1);  // 1 where both are known
  const bool spare = batch.place.spare;
  return measured_step(loss, summed_iou(logits, batch, item, mask_there_) * share, spare ? 0 : shapes,
                       spare ? 0.0 : static_cast<double>(points));
}

CloudTask::Means SegmentTask::validate_on(const PointDataset& clouds, const std::function<void(int64_t)>& progress) {
  const SegmentScores scores =
      evaluate_parts(model_, clouds, with_one_vote(settings_), mask_, Rotation::none, 1, progress).scores;
  return {scores.loss, scores.parts.instance_iou, clouds.size()};
}

}  // namespace geosft
