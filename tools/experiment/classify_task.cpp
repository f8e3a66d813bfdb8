// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/classify_task.h"

#include <ATen/core/Reduction.h>
#include <ATen/core/grad_mode.h>

#include "data/seeds.h"
#include "models/summary.h"
#include "models/training/autocast.h"
#include "tools/experiment/batch_size_finder.h"

namespace geosft {

ClassifyTask::ClassifyTask(const PointClassifier& model, const PointDataset& training, const PointDataset* validation,
                           const ClassifySettings& settings, const Communicator& processes)
    : CloudModelTask(model, training, validation, settings, processes) {}

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

namespace {

DatasetLogits one_vote(PointClassifier& model, const PointDataset& dataset, const ClassifySettings& settings,
                       Rotation rotation, int64_t repeat, uint64_t vote, const std::function<void(int64_t)>& progress) {
  at::NoGradGuard guard;
  PointLoaderOptions options;
  options.batch_size = settings.evaluation.evaluation_batch;
  options.seed = settings.seed;
  options.workers = settings.workers;
  options.transform = model_input_transform(settings, rotation, vote);
  PointLoader loader(dataset, options);
  loader.start_epoch(repeat);
  std::vector<at::Tensor> logits, labels, choices;
  int64_t done = 0;
  const at::Device device = device_of(*model);
  while (const auto batch = loader.next()) {
    SamplingContext context = settings.evaluation.context(vote);
    context.record_choices(batch->labels.size(0));
    const PointBatch there = on_device(*batch, device);
    const Autocast autocast(device.type(), settings.evaluation.autocast());
    logits.push_back(out_of_autocast(model->forward(there.points, there.normals, there.ptr, context)).cpu());
    choices.push_back(context.choices());
    labels.push_back(batch->labels);
    done += batch->labels.size(0);
    progress(done);
  }
  TORCH_CHECK(!logits.empty(), "the dataset has no clouds to evaluate");
  return {at::cat(logits), at::cat(labels), at::cat(choices)};
}

DatasetLogits all_votes(PointClassifier& model, const PointDataset& dataset, const ClassifySettings& settings,
                        Rotation rotation, int64_t repeat, const std::function<void(int64_t)>& progress) {
  DatasetLogits total;
  for (int64_t vote = 0; vote < settings.evaluation.checked_votes(); ++vote) {
    const auto advance = [&](int64_t done) { progress(vote * dataset.size() + done); };
    const DatasetLogits part =
        one_vote(model, dataset, settings, rotation, repeat, static_cast<uint64_t>(vote), advance);
    total.logits = vote == 0 ? part.logits : total.logits + part.logits;
    total.labels = part.labels;
    total.choices = vote == 0 ? part.choices : total.choices * 0x2545F4914F6CDD1D + part.choices;
  }
  total.logits = total.logits / static_cast<double>(settings.evaluation.votes);
  return total;
}

}  // namespace

DatasetLogits dataset_logits(PointClassifier& model, const PointDataset& dataset, const ClassifySettings& settings,
                             Rotation rotation, int64_t repeat, const std::function<void(int64_t)>& progress) {
  model->eval();
  return evaluate_within_memory(settings.evaluation.evaluation_batch, progress,
                                [&](int64_t batch_size, const BatchProgress& heard) {
                                  ClassifySettings some = settings;
                                  some.evaluation.evaluation_batch = batch_size;
                                  return all_votes(model, dataset, some, rotation, repeat, heard);
                                });
}

DatasetLogits run_logits(RunModel& trained, const PointDataset& dataset, Rotation rotation, int64_t repeat,
                         const std::function<void(int64_t)>& progress) {
  DatasetLogits found = dataset_logits(trained.model, dataset, trained.settings, rotation, repeat, progress);
  if (trained.companion.regression) {
    const uint64_t seed = combine_seeds({trained.settings.seed, static_cast<uint64_t>(repeat)});
    found.logits = trained.companion.averaged(found.logits, shape_histograms(dataset, rotation, seed));
  }
  return found;
}

ClassificationMetrics classification_metrics(const std::vector<DatasetLogits>& evaluations) {
  ClassificationMetrics metrics;
  std::vector<at::Tensor> logits, labels;
  for (const DatasetLogits& evaluation : evaluations) {
    logits.push_back(evaluation.logits);
    labels.push_back(evaluation.labels);
  }
  const at::Tensor all = at::cat(logits);
  const at::Tensor truth = at::cat(labels);
  const int64_t classes = all.size(1);
  const at::Tensor cell = truth * classes + all.argmax(1);
  metrics.confusion = at::bincount(cell, {}, classes * classes).view({classes, classes});
  const at::Tensor right = metrics.confusion.diagonal().to(at::kDouble);
  const at::Tensor present = metrics.confusion.sum(1).to(at::kDouble);
  metrics.accuracy = (right.sum() / present.sum()).item<double>();
  const at::Tensor seen = present > 0;
  metrics.mean_class_accuracy = (right / present).masked_select(seen).mean().item<double>();
  metrics.loss = at::cross_entropy_loss(all, truth).item<double>();
  metrics.reliability = reliability_of_logits(all, truth);
  return metrics;
}

Invariance invariance(const DatasetLogits& original, const std::vector<DatasetLogits>& moved) {
  InvarianceSum sums;
  sums.begin(original.logits);
  for (const DatasetLogits& copy : moved) sums.add({copy.logits, copy.choices != original.choices});
  return sums.result();
}

}  // namespace geosft
