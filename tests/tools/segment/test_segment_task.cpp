// SPDX-License-Identifier: Apache-2.0
#include "tools/segment/segment_task.h"

#include <torch/optim/adam.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <vector>

#include "models/training/autocast.h"
#include "tests/tools/experiment/split_task.h"
#include "tests/tools/segment/small_segmenter.h"
#include "tools/experiment/main_guard.h"

namespace geosft::test::test_segment_task {
namespace {

struct Example {
  ArrayDataset shapes = part_dataset();
  SegmentSettings settings = small_segment_settings();
  at::Tensor mask = part_mask(small_parts(), 2);

  SegmentTask task(const PointDataset* validation = nullptr) const {
    return SegmentTask(small_segmenter(settings), shapes, validation, settings, mask);
  }
};

}  // namespace

TEST_CASE("a step is the cross entropy of the points, and its score the summed IoU of the shapes") {
  const auto precision = GENERATE(at::kFloat, at::kBFloat16);
  Example example;
  example.settings.train.label_smoothing = 0.25;
  const Autocast autocast = autocast_to(precision);
  SegmentTask task = example.task();
  CHECK(task.steps_per_epoch() == 2);
  auto [same, step] = FirstStep(task);

  const BatchTransform augmented = augmentation(example.settings.clouds, example.settings.augment);
  PointLoader loader(
      example.shapes,
      {.batch_size = 4, .shuffle = true, .seed = example.settings.seed, .workers = 0, .batch_transform = augmented});
  loader.start_epoch(0);
  const PointBatch batch = loader.next().value();
  PointSegmenter model = small_segmenter(example.settings);
  SamplingContext context = SamplingContext::training(same);
  const at::Tensor logits = model->forward(batch.points, batch.normals, batch.ptr, batch.labels, context);
  CHECK(logits.scalar_type() == precision);
  const at::Tensor share = -logits.to(at::kDouble).log_softmax(1);
  const at::Tensor of_part = share.gather(1, batch.parts.unsqueeze(1)).mean();
  CHECK(step.loss.item<double>() == Approx((0.75 * of_part + 0.25 * share.mean()).item<double>()));
  CHECK(step.loss.requires_grad());
  require_equal(task.last_batch().at("parts"), batch.parts, "parts of the last batch");
  CHECK(step.metrics.items == 4);
  double iou = 0;
  for (int64_t i = 0; i < 4; ++i) {
    const at::Tensor allowed = example.mask.slice(0, batch.labels[i].item<int64_t>()).slice(0, 0, 1);
    const at::Tensor found = masked_logits(logits.slice(0, 40 * i, 40 * (i + 1)), allowed).argmax(1);
    const at::Tensor truth = batch.parts.slice(0, 40 * i, 40 * (i + 1));
    iou += shape_ious(count_parts(found, truth, at::zeros_like(truth), 1, 5), allowed).item<double>();
  }
  CHECK(step.metrics.score == Approx(iou));
}

// The bound is that of float32: sums of some hundred terms, rounded in another order.
TEST_CASE("parts of a batch of labelled clouds add up to the batch") {
  const Example example;
  SegmentTask task = example.task();
  task.module().train();
  require_parts_add_up(task, 1e-4);
}

TEST_CASE("the loss of a step is the mean over its labelled points, and its score is of the shapes that have some") {
  Example example;
  example.shapes = part_dataset(PartClouds(6, 50, 3).remove_labels());
  example.settings.train.label_smoothing = 0.25;
  SegmentTask task = example.task();
  PointSegmenter model = small_segmenter(example.settings);
  const BatchTransform augmented = augmentation(example.settings.clouds, example.settings.augment);
  PointLoader loader(
      example.shapes,
      {.batch_size = 4, .shuffle = true, .seed = example.settings.seed, .workers = 0, .batch_transform = augmented});
  task.start_epoch(0, 0);
  loader.start_epoch(0);
  at::Generator random = generator(1);
  int64_t scored = 0;
  for (int64_t i = 0; i < 2; ++i) {
    at::Generator same = random.clone();
    const TrainingTask::Step step = task.step(random);
    const PointBatch batch = loader.next().value();
    SamplingContext context = SamplingContext::training(same);
    const at::Tensor logits = model->forward(batch.points, batch.normals, batch.ptr, batch.labels, context);
    const at::Tensor rows = (batch.parts >= 0).nonzero().squeeze(1), truth = batch.parts.index_select(0, rows);
    const at::Tensor share = -logits.index_select(0, rows).to(at::kDouble).log_softmax(1);
    const at::Tensor of_part = share.gather(1, truth.unsqueeze(1)).mean();
    CHECK(step.loss.item<double>() == Approx((0.75 * of_part + 0.25 * share.mean()).item<double>()));
    CHECK(step.terms == static_cast<double>(rows.size(0)));
    double iou = 0;
    int64_t shapes = 0;
    for (int64_t cloud = 0; cloud < batch.labels.size(0); ++cloud) {
      const int64_t begin = batch.ptr[cloud].item<int64_t>(), end = batch.ptr[cloud + 1].item<int64_t>();
      const at::Tensor own = ((rows >= begin) & (rows < end)).nonzero().squeeze(1);
      if (own.numel() == 0) continue;
      const at::Tensor allowed = example.mask.slice(0, batch.labels[cloud].item<int64_t>()).slice(0, 0, 1);
      const at::Tensor found = masked_logits(logits.index_select(0, rows.index_select(0, own)), allowed).argmax(1);
      iou +=
          shape_ious(count_parts(found, truth.index_select(0, own), at::zeros_like(own), 1, 5), allowed).item<double>();
      ++shapes;
    }
    CHECK(step.metrics.score == Approx(iou));
    CHECK(step.metrics.items == shapes);
    scored += shapes;
  }
  CHECK(scored == 5);
}

TEST_CASE("parts of a batch with unlabelled points add up to the batch, whichever has no labelled point") {
  Example example;
  PartClouds clouds = PartClouds(6, 50, 3).remove_labels();
  clouds.parts.slice(0, 1, 5, 2).slice(1, 20).fill_(unlabelled_part);  // two have fewer labels than the others
  example.shapes = part_dataset(clouds);
  example.settings.train.batch_size = 6;
  SegmentTask task = example.task();
  task.module().train();
  require_parts_add_up(task, 1e-4);
}

TEST_CASE("a batch without a labelled point has a loss and gradients of 0") {
  for (const double smoothing : {0.0, 0.25}) {
    Example example;
    example.settings.train.label_smoothing = smoothing;
    PartClouds clouds(6, 50, 3);
    clouds.parts.fill_(unlabelled_part);
    example.shapes = part_dataset(clouds);
    SegmentTask task = example.task();
    auto [same, step] = FirstStep(task);
    CHECK(step.loss.item<double>() == 0);
    CHECK(step.terms == 0.0);
    CHECK((step.metrics.items == 0 && step.metrics.loss == 0 && step.metrics.score == 0));
    step.loss.backward();
    int64_t defined = 0;
    for (const at::Tensor& parameter : task.module().parameters()) {
      if (!parameter.grad().defined()) continue;
      CHECK((parameter.grad() == 0).all().item<bool>());
      ++defined;
    }
    CHECK(defined > 0);
  }
}

TEST_CASE("validation is the instance IoU of the shapes, by one vote, and a signal stops it") {
  Example example;
  CHECK_FALSE(example.task().validate().has_value());
  example.settings.evaluation.votes = 3;
  const MetricSum metric_sum = example.task(&example.shapes).validate().value();
  example.settings.evaluation.votes = 1;
  PointSegmenter model = small_segmenter(example.settings);
  const SegmentScores scores =
      evaluate_parts(model, example.shapes, example.settings, example.mask, Rotation::none, 1).scores;
  CHECK(metric_sum.items == 6);
  CHECK(metric_sum.mean_score() == Approx(scores.parts.instance_iou));
  CHECK(metric_sum.mean_loss() == Approx(scores.loss));
  install_interrupt_handler();
  std::raise(SIGINT);
  SegmentTask stopped = example.task(&example.shapes);
  CHECK_THROWS_AS(stopped.validate(), Interrupted);
  clear_interrupt();
}

TEST_CASE("a model that is not told the class trains as well") {
  for (const bool told : {true, false}) {
    INFO("told: " << told);
    Example example;
    example.settings.model.category = told;
    SegmentTask task = example.task();
    torch::optim::Adam optimizer(task.module().parameters(), torch::optim::AdamOptions(1e-2));
    std::vector<double> losses;  // of each epoch
    for (int64_t epoch = 0; epoch < 20; ++epoch) {
      task.start_epoch(epoch, 0);
      losses.push_back(0);
      for (int64_t step = 0; step < 2; ++step) {
        at::Generator random = generator(static_cast<uint64_t>(2 * epoch + step));
        const TrainingTask::Step taken = task.step(random);
        CHECK(taken.metrics.items == (step == 0 ? 4 : 2));
        losses.back() += taken.loss.item<double>() / 2;
        optimizer.zero_grad();
        taken.loss.backward();
        optimizer.step();
      }
    }
    CHECK(losses.back() < 0.9 * losses.front());  // 2.01 to 0.94, and 1.83 to 1.62
  }
}

}  // namespace geosft::test::test_segment_task
