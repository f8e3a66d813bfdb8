// SPDX-License-Identifier: Apache-2.0
#include "tools/segment/segment_evaluation.h"

#include <catch2/catch.hpp>

#include "tests/tools/segment/small_segmenter.h"

namespace geosft::test::test_segment_evaluation {
namespace {

SegmentEvaluation evaluated(const SegmentSettings& settings, Rotation rotation = Rotation::none, int64_t repeats = 1) {
  PointSegmenter model = small_segmenter(settings);
  return evaluate_parts(model, part_dataset(), settings, part_mask(small_parts(), 2), rotation, repeats);
}

}  // namespace

TEST_CASE("an evaluation counts every point of every shape, among the parts of its class") {
  const SegmentSettings settings = small_segment_settings();
  const SegmentScores scores = evaluated(settings).scores;
  PointSegmenter model = small_segmenter(settings);
  const at::Tensor mask = part_mask(small_parts(), 2);
  const PartClouds clouds(6, 50, 3);
  PartMetrics metrics(mask);
  double loss = 0;
  for (int64_t i = 0; i < 6; ++i) {
    const PackedClouds one{clouds.points[i], clouds.normals[i], at::tensor({0, 50}, at::kLong),
                           clouds.labels.slice(0, i, i + 1)};
    const at::Tensor logits = segment_clouds(model, settings, one, BlockKind::spread).logits;
    loss += at::cross_entropy_loss(logits, clouds.parts[i]).item<double>() / 6;
    const at::Tensor label = clouds.labels.slice(0, i, i + 1);
    const at::Tensor found = masked_logits(logits, mask.index_select(0, label)).argmax(1);
    metrics.add(count_parts(found, clouds.parts[i], at::zeros({50}, at::kLong), 1, 5), label);
  }
  const PartScores expected = metrics.scores();
  CHECK(scores.parts.instance_iou == Approx(expected.instance_iou));
  CHECK(scores.parts.class_iou == Approx(expected.class_iou));
  CHECK(scores.parts.accuracy == Approx(expected.accuracy));
  CHECK(scores.parts.classes[1].shapes == 3);
  CHECK(scores.loss == Approx(loss));
}

TEST_CASE("parts found by an invariant model stay under rotations, those of an absolute one change") {
  for (const std::string tokens : {"radial", "absolute"}) {
    SegmentSettings settings = small_segment_settings(tokens);
    settings.clouds.block = 20;
    const SegmentEvaluation found = evaluated(settings, Rotation::so3, 2);
    REQUIRE(found.upright.has_value());
    CHECK(found.upright->parts.instance_iou == Approx(evaluated(settings).scores.parts.instance_iou));
    CHECK(found.scores.parts.classes[0].shapes == 6);
    const bool same = found.invariance->max_unflipped_difference < 1e-4;
    CHECK(same == (tokens == "radial"));
    CHECK((found.invariance->prediction_agreement > 0.999) == (tokens == "radial"));
    CHECK((std::abs(found.scores.parts.instance_iou - found.upright->parts.instance_iou) < 1e-9) ==
          (tokens == "radial"));
  }
}

TEST_CASE("rotations follow from the seed") {
  SegmentSettings settings = small_segment_settings("absolute");
  const double first = evaluated(settings, Rotation::so3).scores.loss;
  CHECK(evaluated(settings, Rotation::so3).scores.loss == first);
  settings.seed = 9;
  CHECK(evaluated(settings, Rotation::so3).scores.loss != first);
}

TEST_CASE("progress is told the clouds of all passes, and shapes without parts are refused") {
  const SegmentSettings settings = small_segment_settings();
  PointSegmenter model = small_segmenter(settings);
  const at::Tensor mask = part_mask(small_parts(), 2);
  std::vector<int64_t> done;
  evaluate_parts(model, part_dataset(), settings, mask, Rotation::z, 2, [&](int64_t n) { done.push_back(n); });
  CHECK(done == std::vector<int64_t>{4, 8, 12, 14, 16, 18});
  const PartClouds clouds(2, 20, 3);
  const ArrayDataset bare({clouds.points, clouds.normals, {}, clouds.labels, {"a", "b"}, {}}, small_classes, "bare");
  require_error([&] { evaluate_parts(model, bare, settings, mask, Rotation::none, 1); }, {"parts"});
}

}  // namespace geosft::test::test_segment_evaluation
