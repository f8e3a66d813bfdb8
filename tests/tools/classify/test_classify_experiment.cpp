// SPDX-License-Identifier: Apache-2.0
#include "tools/classify/classify_experiment.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/environment.h"
#include "tests/support.h"
#include "tests/tools/classify/small_classifier.h"
#include "tests/tools/classify/tiny_shapes.h"
#include "tests/tools/experiment/captured_stderr.h"

namespace geosft::test::test_classify_experiment {

namespace {

const ClassNames names{{"chair", "sofa", "lamp"}};

CloudReport<ClassifyExperiment> example() {
  CloudReport<ClassifyExperiment> report;
  report.split = "test";
  report.count = 4;
  report.evaluation.metrics.confusion = at::tensor({1, 2, 0, 0, 1, 0, 0, 0, 0}, at::kLong).view({3, 3});
  report.evaluation.metrics.accuracy = 0.5;
  report.evaluation.metrics.mean_class_accuracy = 2.0 / 3;
  report.evaluation.metrics.loss = 1.25;
  report.clouds_per_second = 99.6;
  return report;
}

CloudReport<ClassifyExperiment> rotated() {
  CloudReport<ClassifyExperiment> report = example();
  report.rotation = Rotation::so3;
  report.repeats = 3;
  report.evaluation.invariance = Invariance{0.5, 2e-5, 0.25, 0.75};
  return report;
}

}  // namespace

TEST_CASE("an evaluation counts the clouds of each repeat, whose rotations are those of repeats 1, 2, ...") {
  const TemporaryFolder folder;
  const EnvironmentVariable cache("XDG_CACHE_HOME", (folder / "cache").string());
  write_tiny_dataset(folder / "data");
  ClassifySettings settings = small_settings("absolute");
  settings.data = (folder / "data").string();
  settings.clouds.points_per_mesh = 50;
  settings.evaluation.votes = 2;
  RunModel trained{{{"cube", "sphere", "tetrahedron"}}, settings, small_model(settings)};
  const CapturedStderr quiet;
  const CloudReport<ClassifyExperiment> report = evaluate<ClassifyExperiment>(trained, "test", Rotation::so3, 3);
  const auto dataset = open_dataset(settings, Split::test);
  const at::Tensor upright = dataset_logits(trained.model, *dataset, settings, Rotation::none, 0).logits;
  double loss = 0, largest = 0;
  at::Tensor confusion = at::zeros({3, 3}, at::kLong);
  std::vector<double> losses;
  for (const int64_t repeat : {1, 2, 3}) {
    const DatasetLogits found = dataset_logits(trained.model, *dataset, settings, Rotation::so3, repeat);
    largest = std::max(largest, (found.logits - upright).abs().max().item<double>());
    losses.push_back(0);
    for (int64_t i = 0; i < 6; ++i) {
      const int64_t label = found.labels[i].item<int64_t>();
      losses.back() -= found.logits[i].log_softmax(0)[label].item<double>() / 6;
      confusion[label][found.logits[i].argmax(0).item<int64_t>()] += 1;
    }
    loss += losses.back() / 3;
  }
  CHECK((losses[0] != losses[1] && losses[1] != losses[2] && losses[0] != losses[2]));
  CHECK(report.count == 6);
  CHECK(report.evaluation.metrics.loss == Approx(loss).epsilon(1e-5));
  require_equal(report.evaluation.metrics.confusion, confusion, "confusion");
  REQUIRE(report.evaluation.invariance.has_value());
  CHECK(report.evaluation.invariance->max_logit_difference == Approx(largest).epsilon(1e-4));
}

TEST_CASE("an evaluation as JSON has the agreed keys") {
  const nlohmann::json upright = report_json(example(), names);
  CHECK(upright.at("task") == "classification");
  CHECK(upright.at("split") == "test");
  CHECK(upright.at("count") == 4);
  CHECK(upright.at("rotation") == "none");
  CHECK(upright.at("repeats") == 1);
  CHECK(upright.at("metrics") == nlohmann::json{{"accuracy", 0.5}, {"mean_class_accuracy", 2.0 / 3}, {"loss", 1.25}});
  CHECK(upright.at("max_logit_difference") == 0.0);
  CHECK_FALSE(upright.contains("flipped_share"));
  const nlohmann::json moved = report_json(rotated(), names);
  CHECK(moved.at("rotation") == "so3");
  CHECK(moved.at("repeats") == 3);
  CHECK(moved.at("max_logit_difference") == 0.5);
  CHECK(moved.at("max_unflipped_difference") == 2e-5);
  CHECK(moved.at("flipped_share") == 0.25);
  CHECK(moved.at("prediction_agreement") == 0.75);
}

TEST_CASE("an evaluation says what polynomial attention took") {
  CloudReport<ClassifyExperiment> report = example();
  CHECK_FALSE(report_json(report, names).contains("attention"));
  report.degrees = {{false, 2, 45, 0.25, 0.015}};
  CHECK(report_json(report, names).at("attention")[0].at("degree") == 2);
  CHECK_THAT(report_text(report, names),
             Catch::Contains("layer 1: scores up to 0.25, degree 2, weights within 1.5 % of softmax\n"));
}

TEST_CASE("an evaluation as text has a line a class") {
  const std::string text = report_text(example(), names);
  CHECK_THAT(text,
             Catch::StartsWith("4 clouds of the test set, upright\naccuracy 50.0 %  mean class accuracy 66.7 % (of "
                               "the 2 classes that have clouds)  loss 1.25  (100 clouds/s)\n"));
  CloudReport<ClassifyExperiment> whole = example();
  whole.evaluation.metrics.confusion[2][2] = 1;
  CHECK_THAT(report_text(whole, names), Catch::Contains("mean class accuracy 66.7 %  loss 1.25"));
  CHECK_THAT(text, Catch::Contains("chair                          3    33.3 %\n"));
  CHECK_THAT(text, Catch::Contains("sofa                           1   100.0 %\n"));
  CHECK_THAT(text, Catch::Contains("lamp                           0         -\n"));
  const std::string moved = report_text(rotated(), names);
  CHECK_THAT(moved, Catch::Contains("rotated at random 3 times") && Catch::Contains("12 copies") &&
                        Catch::Contains("difference of a logit 0.5\n") &&
                        Catch::Contains("largest difference 2e-05\n") && Catch::Contains("25.0 %") &&
                        Catch::Contains("75.0 %") && Catch::Contains("class                     copies"));
  CHECK_THAT(text, Catch::Contains("95 % interval of the accuracy is 15.0 % to 85.0 %\n"));
  CloudReport<ClassifyExperiment> some = example();
  some.broken = {"a.ply: broken"};
  CHECK_THAT(report_text(some, names),
             Catch::StartsWith("4 clouds of the test set, upright; 1 broken file is left out\n"));
  CHECK(report_json(some, names).at("left_out") == nlohmann::json{"a.ply: broken"});
}

}  // namespace geosft::test::test_classify_experiment
