// SPDX-License-Identifier: Apache-2.0
#include "tools/segment/segment_experiment.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/tools/experiment/captured_stderr.h"
#include "tests/tools/segment/small_segmenter.h"

namespace geosft::test::test_segment_experiment {
namespace {

SegmentScores scores(double iou) {
  SegmentScores found;
  const double none = std::nan("");
  found.parts = {iou,
                 0.25,
                 0.75,
                 0.5,
                 {{3, 0.125, 0.875}, {0, none, none}},
                 {{0.5, 0.75}, {0.25, 0.5}, {0.375, none}, {none, none}, {none, none}}};
  found.loss = 1.25;
  return found;
}

PartNames names() {
  return {{small_classes}, small_parts()};
}

CloudReport<SegmentExperiment> upright() {
  return {"test", 3, Rotation::none, 1, {scores(0.5), std::nullopt, std::nullopt}, 99.6, {}};
}

CloudReport<SegmentExperiment> rotated() {
  return {"test", 3, Rotation::so3, 2, {scores(0.5), scores(0.75), Invariance{0.5, 2e-5, 0.25, 0.75}}, 99.6, {}};
}

}  // namespace

TEST_CASE("a segmentation as JSON has the agreed keys") {
  const nlohmann::json plain = report_json(upright(), names());
  CHECK(plain.at("task") == "segmentation");
  CHECK(plain.at("split") == "test");
  CHECK(plain.at("count") == 3);
  CHECK(plain.at("rotation") == "none");
  CHECK(
      plain.at("metrics") ==
      nlohmann::json{
          {"instance_iou", 0.5}, {"class_iou", 0.25}, {"accuracy", 0.75}, {"mean_part_accuracy", 0.5}, {"loss", 1.25}});
  CHECK(plain.at("max_logit_difference") == 0.0);
  CHECK_FALSE(plain.contains("upright"));
  CHECK(plain.at("classes")[0] ==
        nlohmann::json{{"class", "lamp"}, {"shapes", 3}, {"iou", 0.125}, {"accuracy", 0.875}});
  CHECK(plain.at("classes")[1] == nlohmann::json{{"class", "mug"}, {"shapes", 0}});
  CHECK(plain.at("parts")[1] ==
        nlohmann::json{{"id", 1}, {"class", "lamp"}, {"label", 1}, {"part", "pole"}, {"iou", 0.25}, {"accuracy", 0.5}});
  CHECK(plain.at("parts").dump().find(R"("accuracy":null,"class":"lamp","id":2)") != std::string::npos);
  const nlohmann::json moved = report_json(rotated(), names());
  CHECK(moved.at("rotation") == "so3");
  CHECK(moved.at("repeats") == 2);
  CHECK(moved.at("upright").at("instance_iou") == 0.75);
  CHECK(moved.at("lost_points") == 25.0);
  CHECK(moved.at("flipped_share") == 0.25);
}

TEST_CASE("a segmentation as text has a line a class, and says what rotating loses") {
  const std::string text = report_text(upright(), names());
  CHECK_THAT(text, Catch::StartsWith("3 clouds of the test set, upright\ninstance IoU 50.0 %  class IoU 25.0 %  part "
                                     "accuracy 75.0 %  mean of parts 50.0 %  loss 1.25  (100 clouds/s)\n"));
  CHECK_THAT(text, Catch::Contains("3    12.5 %    87.5 %  pole 25.0 %\n"));
  CHECK_THAT(text, Catch::Contains("0         -         -            -\n"));
  const std::string moved = report_text(rotated(), names());
  CHECK_THAT(moved, Catch::Contains("rotated at random 2 times") && Catch::Contains("upright: instance IoU 75.0 %") &&
                        Catch::Contains("lost by rotating: 25.00 points") &&
                        Catch::Contains("difference of a logit 0.5\n") && Catch::Contains("largest difference 2e-05"));
}

TEST_CASE("a trained model is evaluated on the set of its settings, unless that has other parts") {
  const TemporaryFolder folder;
  write_part_set(folder.path());
  SegmentSettings settings = small_segment_settings();
  settings.data = folder.path().string();
  SegmentRun trained = small_segment_run(settings);
  const CapturedStderr quiet;
  const CloudReport<SegmentExperiment> report = evaluate<SegmentExperiment>(trained, "test", Rotation::z, 2);
  CHECK(report.count == 4);
  CHECK(report.evaluation.scores.parts.classes[0].shapes == 4);
  CHECK(report.clouds_per_second > 0);
  CHECK(evaluate<SegmentExperiment>(trained, "train", Rotation::none, 1).count == 6);
  require_error([&] { evaluate<SegmentExperiment>(trained, "validation", Rotation::none, 1); }, {"val"});
  trained.parts[0].name = "shade";
  require_error([&] { evaluate<SegmentExperiment>(trained, "test", Rotation::none, 1); },
                {folder.path().string(), "2 classes with 5 parts of the trained model", "does not know 1, lamp/top"});
}

TEST_CASE("clouds that a training learns from, or holds out, are refused where none of them has a labelled point") {
  const CapturedStderr quiet;
  SegmentSettings settings = small_segment_settings();
  const auto refused = [&](int64_t labelled) {  // by the number of the only cloud with labels
    const TemporaryFolder folder;
    write_part_set(folder.path());
    PartClouds clouds(8, 64, 1);
    const at::Tensor parts = clouds.parts[labelled].clone();
    clouds.parts.fill_(unlabelled_part)[labelled].copy_(parts);
    write_hdf5(folder / "ply_data_train0.h5", clouds.arrays());
    settings.data = folder.path().string();
    try {
      SegmentExperiment::open_training(settings, one_process());
    } catch (const DataError& error) {
      return std::string(error.what()).substr(settings.data.size());
    }
    return std::string();
  };
  const auto refusals = [&](const std::string& text) {
    int64_t count = 0;
    for (int64_t labelled = 0; labelled < 8; ++labelled) count += refused(labelled).starts_with(text) ? 1 : 0;
    return count;
  };
  const std::string expected = ": expected a labelled point in the ";
  settings.clouds.validation_fraction = 0.25;
  CHECK(refusals(expected + "6 clouds to train with, found none: ") == 2);
  CHECK(refusals(expected + "2 clouds to validate with, found none: hold out more (--validation-fraction)") == 6);
  settings.clouds.validation_fraction = 0;
  settings.clouds.max_per_class = 1;
  CHECK(refusals(expected + "2 clouds to train with, found none: take more of each class (--max-per-class)") == 6);
  settings.clouds.max_per_class = 0;
  for (int64_t labelled = 0; labelled < 8; ++labelled) CHECK(refused(labelled).empty());
}

TEST_CASE("the splits that a training opened are compared with its table, where that lists them all") {
  using Names = std::vector<std::string>;
  const TemporaryFolder folder;
  write_part_set(folder / "plain");
  write_shapenet_text(folder / "published");
  SegmentSettings settings = small_segment_settings();
  const auto recorded = [&](const std::string& split) { return SegmentExperiment::recorded_splits(settings, split); };
  settings.data = (folder / "plain").string();
  CHECK((recorded("test") == Names{"test"} && recorded("train") == Names{"train", "validation"}));
  settings.data = (folder / "published").string();  // both splits were trained on
  CHECK((recorded("test") == Names{"test"} && recorded("validation") == Names{"train", "validation"}));
  settings.clouds.published_validation = true;
  CHECK((recorded("train") == Names{"train"} && recorded("validation") == Names{"validation"}));
}

}  // namespace geosft::test::test_segment_experiment
