// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/classify_task.h"

#include <catch2/catch.hpp>
#include <csignal>

#include "models/training/autocast.h"
#include "tests/tools/classify/small_classifier.h"
#include "tests/tools/experiment/split_task.h"
#include "tools/experiment/main_guard.h"

namespace geosft::test::test_classify_task {

namespace {

struct Example {
  ArrayDataset clouds = random_clouds();
  ClassifySettings settings = small_settings();
  bool validated = false;

  ClassifyTask task() const {
    return ClassifyTask(small_model(settings), clouds, validated ? &clouds : nullptr, settings);
  }
};

// Losses of the steps from `first` to the end of an epoch; what a step draws follows from its number.
std::vector<double> losses(ClassifyTask& task, int64_t epoch, int64_t first = 0) {
  std::vector<double> found;
  task.start_epoch(epoch, first);
  for (int64_t step = first; step < task.steps_per_epoch(); ++step) {
    at::Generator random = generator(static_cast<uint64_t>(step));
    found.push_back(task.step(random).loss.item<double>());
  }
  return found;
}

}  // namespace

TEST_CASE("a step is the cross entropy of the next batch as training augments it") {
  const auto precision = GENERATE(at::kFloat, at::kBFloat16);
  Example example;
  example.settings.train.label_smoothing = 0.25;
  const Autocast autocast(at::kCPU, precision == at::kFloat ? std::nullopt : std::optional(precision));
  ClassifyTask task = example.task();
  task.start_epoch(0, 0);
  at::Generator random = generator(1), same = generator(1);
  const TrainingTask::Step step = task.step(random);

  PointLoaderOptions options;
  options.batch_size = 4;
  options.shuffle = true;
  options.seed = example.settings.seed;
  options.batch_transform = augmentation(example.settings.clouds, example.settings.augment);
  PointLoader loader(example.clouds, options);
  loader.start_epoch(0);
  const PointBatch batch = loader.next().value();
  PointClassifier model = small_model(example.settings);
  SamplingContext context = SamplingContext::training(same);
  const at::Tensor logits = model->forward(batch.points, batch.normals, batch.ptr, context);
  CHECK(logits.scalar_type() == precision);
  const at::Tensor share = -logits.to(at::kDouble).log_softmax(1);
  const at::Tensor of_label = share.gather(1, batch.labels.unsqueeze(1)).mean();
  const double expected = (0.75 * of_label + 0.25 * share.mean()).item<double>();
  CHECK(step.loss.item<double>() == Approx(expected));
  CHECK(step.loss.requires_grad());
  require_equal(task.last_batch().at("points"), batch.points, "points of the last batch");
  CHECK(step.metrics.items == 4);
  CHECK(step.metrics.mean_loss() == Approx(expected));
  CHECK(step.metrics.score == (logits.argmax(1) == batch.labels).sum().item<double>());
}

// The bound is that of float32: sums of some hundred terms, rounded in another order.
TEST_CASE("parts of a batch of clouds add up to the batch") {
  Example example;
  example.settings.train.label_smoothing = 0.25;
  ClassifyTask task = example.task();
  task.module().train();
  require_parts_add_up(task, 1e-4);
}

TEST_CASE("an epoch takes every cloud once, in another order than the one before") {
  Example example;
  ClassifyTask task = example.task();
  REQUIRE(task.steps_per_epoch() == 3);
  std::vector<at::Tensor> orders;
  for (const int64_t epoch : {0, 1}) {
    std::vector<int64_t> items;
    std::vector<at::Tensor> rows;
    task.start_epoch(epoch, 0);
    at::Generator random = generator(1);
    for (int64_t step = 0; step < 3; ++step) {
      items.push_back(task.step(random).metrics.items);
      rows.push_back(task.last_batch().at("index"));
    }
    CHECK(items == std::vector<int64_t>{4, 4, 2});
    orders.push_back(at::cat(rows));
    require_equal(std::get<0>(orders.back().sort()), at::arange(10), "every cloud once");
  }
  CHECK_FALSE(at::equal(orders[0], orders[1]));
}

TEST_CASE("an epoch that begins in the middle goes on with the same batches") {
  Example example;
  ClassifyTask task = example.task();
  const std::vector<double> whole = losses(task, 1);
  CHECK(losses(task, 1, 1) == std::vector<double>(whole.begin() + 1, whole.end()));
  CHECK(losses(task, 1, 3).empty());
}

TEST_CASE("validation counts every cloud once, with one vote, upright") {
  Example example;
  example.validated = true;
  example.settings.evaluation.votes = 3;
  ClassifyTask task = example.task();
  const std::optional<MetricSum> tally = task.validate();
  REQUIRE(tally.has_value());
  ClassifySettings one_vote = example.settings;
  one_vote.evaluation.votes = 1;
  PointClassifier model = small_model(one_vote);
  const ClassificationMetrics expected =
      classification_metrics({dataset_logits(model, example.clouds, one_vote, Rotation::none, 0)});
  CHECK(tally->items == 10);
  CHECK(tally->mean_score() == Approx(expected.accuracy));
  CHECK(tally->mean_loss() == Approx(expected.loss));
  example.validated = false;
  ClassifyTask without = example.task();
  CHECK_FALSE(without.validate().has_value());
}

TEST_CASE("a signal breaks a validation off") {
  Example example;
  example.validated = true;
  ClassifyTask task = example.task();
  install_interrupt_handler();
  std::raise(SIGINT);
  CHECK_THROWS_AS(task.validate(), Interrupted);
  clear_interrupt();
  std::signal(SIGINT, SIG_DFL);
  CHECK(task.validate().has_value());
}

}  // namespace geosft::test::test_classify_task
