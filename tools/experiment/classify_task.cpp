// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/classify_task.h"

#include <ATen/core/Reduction.h>

#include "models/training/autocast.h"

namespace geosft {

ClassifyTask::ClassifyTask(const PointClassifier& model, const PointDataset& training, const PointDataset* validation,
                           const ClassifySettings& settings, const Communicator& processes)
    : CloudTask(*model, training, validation, settings, processes), model_(model), settings_(settings) {}

TrainingTask::Step ClassifyTask::step_on(const PointBatch& batch, SamplingContext& context) {
  const at::Tensor logits = out_of_autocast(model_->forward(batch.points, batch.normals, batch.ptr, context));
  const at::Tensor loss =
      at::cross_entropy_loss(logits, batch.labels, {}, at::Reduction::Mean, -100, settings_.train.label_smoothing);
  return measured_step(loss, (logits.argmax(1) == batch.labels).sum(), batch.place.spare ? 0 : batch.labels.size(0));
}

CloudTask::Means ClassifyTask::validate_on(const PointDataset& clouds, const std::function<void(int64_t)>& progress) {
  const ClassificationMetrics metrics =
      classification_metrics({dataset_logits(model_, clouds, with_one_vote(settings_), Rotation::none, 0, progress)});
  return {metrics.loss, metrics.accuracy, clouds.size()};
}

}  // namespace geosft
