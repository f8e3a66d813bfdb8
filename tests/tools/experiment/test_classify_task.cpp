// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/classify_task.h"

#include <ATen/autocast_mode.h>

#include <catch2/catch.hpp>

#include <cmath>
#include <csignal>

#include "data/seeds.h"
#include "geometry/normalize.h"
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

// Losses of the steps from `first` to the end of an epoch; the random numbers of a step follow from its number.
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
  const Autocast autocast = autocast_to(precision);
  ClassifyTask task = example.task();
  auto [same, step] = FirstStep(task);

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
  const std::optional<MetricSum> metric_sum = task.validate();
  REQUIRE(metric_sum.has_value());
  ClassifySettings one_vote = example.settings;
  one_vote.evaluation.votes = 1;
  PointClassifier model = small_model(one_vote);
  const ClassificationMetrics expected =
      classification_metrics({dataset_logits(model, example.clouds, one_vote, Rotation::none, 0)});
  CHECK(metric_sum->items == 10);
  CHECK(metric_sum->mean_score() == Approx(expected.accuracy));
  CHECK(metric_sum->mean_loss() == Approx(expected.loss));
  example.validated = false;
  ClassifyTask without = example.task();
  CHECK_FALSE(without.validate().has_value());
}

TEST_CASE("a signal breaks a validation off") {
  Example example;
  example.validated = true;
  ClassifyTask task = example.task();
  require_validation_ends_by_signal(task);
}

}  // namespace geosft::test::test_classify_task

namespace geosft::test::test_classify_evaluation {

namespace {

at::Tensor logits(std::vector<float> values) {
  return at::tensor(values).view({-1, 3});
}

// Clouds that are all the same one, each with its own rotation and samples where an evaluation gives it some.
ArrayDataset one_cloud_often(int64_t count) {
  CloudArrays arrays;
  arrays.points = at::randn({1, 50, 3}, generator(1)).repeat({count, 1, 1});
  arrays.normals = at::randn({1, 50, 3}, generator(2)).repeat({count, 1, 1});
  arrays.labels = at::zeros({count}, at::kLong);
  for (int64_t i = 0; i < count; ++i) arrays.names.push_back(std::to_string(i));
  return ArrayDataset(arrays, {"a", "b", "c"}, "one cloud");
}

// Computes what an evaluation does, cloud by cloud and vote by vote: the vote chooses the points and the samples, the
// repeat and the cloud choose the rotation, which all votes share.
at::Tensor slow_logits(PointClassifier& model, const PointDataset& dataset, const ClassifySettings& settings,
                       Rotation rotation, int64_t repeat) {
  const at::NoGradGuard guard;
  model->eval();
  at::Tensor total = at::zeros({dataset.size(), 3});
  for (int64_t vote = 0; vote < settings.evaluation.votes; ++vote) {
    PointLoaderOptions options;
    options.batch_size = 1;
    options.workers = 0;
    options.seed = settings.seed;
    options.transform = [&](Shape shape, at::Generator& of_cloud_and_repeat) {
      keep_subset(shape, settings.clouds.points, make_generator(static_cast<uint64_t>(vote)));
      set_precision(shape, at::kDouble);
      rotate_shape(shape, rotation, of_cloud_and_repeat);
      shape.points = normalize(shape.points).points;
      set_precision(shape, at::kFloat);
      return shape;
    };
    PointLoader loader(dataset, options);
    loader.start_epoch(repeat);
    for (int64_t row = 0; row < dataset.size(); ++row) {
      const std::optional<PointBatch> cloud = loader.next();
      REQUIRE((cloud && cloud->index[0].item<int64_t>() == row));
      SamplingContext context = settings.evaluation.evaluation == SampleMode::greedy
                                    ? SamplingContext::greedy()
                                    : SamplingContext::seeded(static_cast<uint64_t>(vote));
      total[row] += model->forward(cloud->points, cloud->normals, cloud->ptr, context)[0];
    }
  }
  return total / static_cast<double>(settings.evaluation.votes);
}

double largest_difference(const at::Tensor& a, const at::Tensor& b) {
  return (a - b).abs().max().item<double>();
}

}  // namespace

TEST_CASE("an evaluation in bfloat16 is that in float32, but for the rounding of matrix products") {
  const ArrayDataset clouds = random_clouds();
  ClassifySettings settings = small_settings();
  settings.evaluation.votes = 2;
  PointClassifier model = small_model(settings);
  const at::Tensor single = dataset_logits(model, clouds, settings, Rotation::so3, 1).logits;
  settings.evaluation.precision = EvaluationPrecision::bfloat16;
  const at::Tensor half = dataset_logits(model, clouds, settings, Rotation::so3, 1).logits;
  CHECK(half.scalar_type() == at::kFloat);
  CHECK_FALSE(at::autocast::is_autocast_enabled(at::kCPU));
  CHECK(largest_difference(half, single) > 0);
  CHECK(largest_difference(half, single) < 0.1 * single.abs().max().item<double>());
}

TEST_CASE("metrics agree with those counted by hand") {
  // Class 0: right, wrong (taken for 1); class 1: right; class 2 has no cloud.
  const DatasetLogits first{logits({2, 1, 0, 0, 1, 0}), at::tensor({0, 0}, at::kLong), {}};
  const DatasetLogits second{logits({0, 3, 0}), at::tensor({1}, at::kLong), {}};
  const ClassificationMetrics metrics = classification_metrics({first, second});
  require_equal(metrics.confusion, at::tensor({1, 1, 0, 0, 1, 0, 0, 0, 0}, at::kLong).view({3, 3}), "confusion");
  CHECK(metrics.accuracy == Approx(2.0 / 3));
  CHECK(metrics.mean_class_accuracy == Approx(0.75));
  const double e = std::exp(1.0);
  const double loss = std::log(e * e + e + 1) - 2 + std::log(e + 2) + std::log(e * e * e + 2) - 3;
  CHECK(metrics.loss == Approx(loss / 3));
}

TEST_CASE("differences of moved copies are told apart by what was chosen") {
  const at::Tensor original_logits = logits({10, 0, 0, 0, 20, 0, 5, 0, 4});
  const at::Tensor labels = at::tensor({0, 1, 2}, at::kLong), choices = at::tensor({7, 8, 9}, at::kLong);
  const DatasetLogits original{original_logits, labels, choices};
  const DatasetLogits same = original;
  // Rounding in the first cloud, a flipped choice with the same prediction in the second, another one in the third.
  const DatasetLogits moved{original_logits + logits({0, 5e-4, 0, 0, -1, 0, 0, 0, 2}), labels,
                            at::tensor({7, 1, 2}, at::kLong)};
  const Invariance result = invariance(original, {same, moved});
  CHECK(result.max_logit_difference == Approx(2.0));
  CHECK(result.max_unflipped_difference == Approx(5e-4));
  CHECK(result.flipped_share == Approx(2.0 / 6));
  CHECK(result.ever_flipped_share == Approx(2.0 / 3));
  CHECK(result.prediction_agreement == Approx(5.0 / 6));
  CHECK(result.unflipped_agreement == 1.0);
}

TEST_CASE("logits of invariant models stay the same under rotations, those of absolute ones do not") {
  const ArrayDataset dataset = random_clouds();
  const std::string tokens = GENERATE("ones", "radial", "local", "absolute");
  const NormPlacement norm = GENERATE(NormPlacement::pre, NormPlacement::post);
  for (const uint64_t seed : {5, 6, 7}) {
    INFO(tokens << " tokens, " << name_of(norm) << "-norm, seed " << seed);
    ClassifySettings settings = small_settings(tokens);
    settings.model.norm = norm;
    settings.seed = seed;
    PointClassifier model = small_model(settings, seed);
    const DatasetLogits upright = dataset_logits(model, dataset, settings, Rotation::none, 0);
    require_equal(upright.labels, at::arange(10) % 3, "labels");
    CHECK(upright.logits.sizes() == at::IntArrayRef{10, 3});
    const DatasetLogits turned = dataset_logits(model, dataset, settings, Rotation::so3, 1);
    CHECK(at::equal(turned.logits, upright.logits) == (tokens != "absolute"));
    const Invariance result = invariance(upright, {turned});
    CHECK((result.flipped_share > 0.5) == (tokens == "absolute"));
    if (tokens == "absolute") {
      CHECK(result.max_logit_difference > 1e-3);
    } else {
      CHECK(result.flipped_share <= 0.1);
      CHECK(result.max_unflipped_difference < 1e-4 * upright.logits.abs().max().item<double>());
      CHECK(result.unflipped_agreement == 1.0);
    }
  }
}

TEST_CASE("evaluation does not depend on workers or batches and averages its votes") {
  const ArrayDataset dataset = random_clouds();
  ClassifySettings settings = small_settings();
  PointClassifier model = small_model(settings);
  settings.evaluation.votes = 2;
  int64_t last = 0;
  const DatasetLogits both =
      dataset_logits(model, dataset, settings, Rotation::so3, 1, [&](int64_t done) { last = done; });
  CHECK(last == 20);
  CHECK_FALSE(both.logits.requires_grad());
  settings.workers = 0;
  settings.evaluation.evaluation_batch = 10;
  require_close(dataset_logits(model, dataset, settings, Rotation::so3, 1).logits, both.logits, 1e-5, "logits");
  settings.evaluation.votes = 1;
  const at::Tensor first = dataset_logits(model, dataset, settings, Rotation::so3, 1).logits;
  CHECK((first - both.logits).abs().max().item<double>() > 1e-4);
  settings.evaluation.evaluation = SampleMode::greedy;
  CHECK((dataset_logits(model, dataset, settings, Rotation::so3, 1).logits - first).abs().max().item<double>() > 1e-4);
}

TEST_CASE("votes and rotations are those of an evaluation cloud by cloud") {
  const ArrayDataset dataset = random_clouds();
  ClassifySettings settings = small_settings("absolute");
  settings.seed = 3;
  PointClassifier model = small_model(settings);
  for (const SampleMode how : {SampleMode::seeded, SampleMode::greedy}) {
    settings.evaluation.evaluation = how;
    settings.evaluation.votes = 3;
    for (const Rotation rotation : {Rotation::none, Rotation::z, Rotation::so3}) {
      for (const int64_t repeat : {1, 2}) {
        INFO(name_of(how) << " " << name_of(rotation) << " repeat " << repeat);
        require_close(dataset_logits(model, dataset, settings, rotation, repeat).logits,
                      slow_logits(model, dataset, settings, rotation, repeat), 1e-5, "logits");
      }
    }
  }
}

TEST_CASE("each vote has points and samples of its own, each cloud and repeat a rotation of its own") {
  const ArrayDataset dataset = one_cloud_often(3);
  ClassifySettings settings = small_settings("absolute");
  PointClassifier model = small_model(settings);
  const auto of = [&](Rotation rotation, int64_t repeat) {
    return dataset_logits(model, dataset, settings, rotation, repeat).logits;
  };
  const at::Tensor upright = of(Rotation::none, 0);
  require_close(upright[1], upright[0], 1e-5, "of one cloud under one rotation");
  require_equal(of(Rotation::none, 1), upright, "of an upright repeat");
  for (const Rotation rotation : {Rotation::z, Rotation::so3}) {
    const at::Tensor first = of(rotation, 1), second = of(rotation, 2);
    for (int64_t cloud = 0; cloud < 3; ++cloud) {
      CHECK(largest_difference(first[cloud], second[cloud]) > 1e-3);
      CHECK(largest_difference(first[cloud], upright[cloud]) > 1e-3);
      CHECK(largest_difference(first[cloud], first[(cloud + 1) % 3]) > 1e-3);
    }
  }
  // All points are kept, so that two votes differ in their samples alone; then greedy votes, in their points alone.
  settings.clouds.points = 50;
  const at::Tensor one_sample = of(Rotation::none, 0);
  settings.evaluation.votes = 2;
  CHECK(largest_difference(of(Rotation::none, 0), one_sample) > 1e-4);
  settings.evaluation.evaluation = SampleMode::greedy;
  const at::Tensor whole = of(Rotation::none, 0);
  settings.evaluation.votes = 1;
  require_close(of(Rotation::none, 0), whole, 1e-6, "greedy votes on all points");
  settings.clouds.points = 40;
  const at::Tensor one_subset = of(Rotation::none, 0);
  settings.evaluation.votes = 2;
  CHECK(largest_difference(of(Rotation::none, 0), one_subset) > 1e-4);
}

}  // namespace geosft::test::test_classify_evaluation
