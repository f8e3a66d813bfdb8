// SPDX-License-Identifier: Apache-2.0
#include "tools/classify/classify_task.h"

#include <ATen/core/Reduction.h>

#include "models/summary.h"
#include "models/training/autocast.h"
#include "models/training/host_copy.h"
#include "tools/experiment/main_guard.h"
#include "tools/experiment/shared_batch.h"

namespace geosft {

ClassifyTask::ClassifyTask(PointClassifier model, const PointDataset& training, const PointDataset* validation,
                           const ClassifySettings& settings, const Communicator& processes)
    : model_(std::move(model)),
      processes_(processes),
      validation_(validation),
      settings_(settings),
      validation_settings_(settings),
      loader_(training, settings, processes, device_of(*model_)) {
  validation_settings_.evaluation.votes = 1;  // enough for a learning curve
}

void ClassifyTask::take_batch() {
  there_ = loader_.next();
  there_.ptr = offsets_for(there_.ptr, device_of(*model_));
}

StepInputs ClassifyTask::inputs() {
  return {{there_.ptr}, {&there_.points, &there_.normals, &there_.labels}, there_.labels.size(0)};
}

TrainingTask::Step ClassifyTask::compute(RngBuffer& seeds) {
  SamplingContext context = shared_context(seeds, processes_, there_.place, there_.ptr);
  return step_on(there_, context);
}

BatchSize ClassifyTask::batch_size() const {
  return {there_.labels.size(0), there_.points.size(0) * settings_.model.width};
}

TrainingTask::Step ClassifyTask::compute_part(int64_t part, int64_t parts, RngBuffer& seeds) {
  const PointBatch batch = micro_batch(there_, part, parts);
  SamplingContext context = part_context(seeds, batch.place, there_.ptr);
  return step_on(batch, context);
}

TrainingTask::Step ClassifyTask::step_on(const PointBatch& batch, SamplingContext& context) {
  const at::Tensor logits = out_of_autocast(model_->forward(batch.points, batch.normals, batch.ptr, context));
  const at::Tensor loss =
      at::cross_entropy_loss(logits, batch.labels, {}, at::Reduction::Mean, -100, settings_.train.label_smoothing);
  return measured_step(loss, (logits.argmax(1) == batch.labels).sum(), batch.place.spare ? 0 : batch.labels.size(0));
}

std::optional<MetricSum> ClassifyTask::validate() {
  if (validation_ == nullptr) return std::nullopt;
  const DatasetLogits logits = dataset_logits(model_, *validation_, validation_settings_, Rotation::none, 0,
                                              [](int64_t) { throw_if_interrupted("in the middle of a validation"); });
  const ClassificationMetrics metrics = classification_metrics({logits});
  const int64_t items = validation_->size();
  return MetricSum{metrics.loss * static_cast<double>(items), metrics.accuracy * static_cast<double>(items), items};
}

}  // namespace geosft
