// SPDX-License-Identifier: Apache-2.0
#include "tools/segment/segment_evaluation.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "data/seeds.h"
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

TEST_CASE("an evaluation sees unlabelled points, and counts the labelled ones alone") {
  SegmentSettings settings = small_segment_settings();
  settings.evaluation.evaluation_batch = 2;
  PointSegmenter model = small_segmenter(settings);
  const at::Tensor mask = part_mask(small_parts(), 2);
  const PartClouds whole(6, 50, 3), clouds = PartClouds(6, 50, 3).remove_labels();
  const SegmentEvaluation found = evaluate_parts(model, part_dataset(clouds), settings, mask, Rotation::so3, 2);
  const SegmentScores& scores = *found.upright;
  PartMetrics metrics(mask);
  double loss = 0;
  int64_t points = 0;
  for (int64_t i = 1; i < 6; ++i) {  // the first has no labelled point
    const at::Tensor label = clouds.labels.slice(0, i, i + 1);
    const PackedClouds one{clouds.points[i], clouds.normals[i], at::tensor({0, 50}, at::kLong), label};
    const at::Tensor logits = segment_clouds(model, settings, one, BlockKind::spread).logits;
    const at::Tensor rows = (clouds.parts[i] >= 0).nonzero().squeeze(1), truth = whole.parts[i].index_select(0, rows);
    const at::Tensor labelled = logits.index_select(0, rows);
    loss += at::cross_entropy_loss(labelled, truth, {}, at::Reduction::Sum).item<double>();
    points += rows.size(0);
    const at::Tensor parts = masked_logits(labelled, mask.index_select(0, label)).argmax(1);
    metrics.add(count_parts(parts, truth, at::zeros_like(rows), 1, 5), label);
  }
  const PartScores expected = metrics.scores();
  CHECK(scores.parts.instance_iou == Approx(expected.instance_iou));
  CHECK(scores.parts.class_iou == Approx(expected.class_iou));
  CHECK(scores.parts.accuracy == Approx(expected.accuracy));
  CHECK(scores.parts.mean_part_accuracy == Approx(expected.mean_part_accuracy));
  CHECK((scores.parts.classes[0].shapes == 2 && scores.parts.classes[1].shapes == 3));
  CHECK(scores.loss == Approx(loss / static_cast<double>(points)).epsilon(1e-5));
  CHECK(found.scores.parts.classes[1].shapes == 6);
  CHECK((found.labels.clouds == 6 && found.labels.unlabelled_clouds == 1));
  CHECK((found.labels.labelled() == points && found.labels.unlabelled == 300 - points));
  CHECK(found.scores.parts.instance_iou == Approx(scores.parts.instance_iou));
  PartClouds none = whole;
  none.parts = at::full_like(whole.parts, unlabelled_part);
  require_error([&] { evaluate_parts(model, part_dataset(none), settings, mask, Rotation::none, 1); },
                {"no shapes with labelled points"});
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

TEST_CASE("repeats are those of an evaluation shape by shape, each with a rotation of its own") {
  SegmentSettings settings = small_segment_settings("absolute");
  settings.seed = 4;
  settings.evaluation.votes = 2;
  settings.clouds.block = 20;
  // Shapes that are all the same one, so that they differ in their rotations alone.
  const PartClouds cloud(1, 50, 3);
  const int64_t shapes = 3, repeats = 2;
  const CloudArrays arrays{cloud.points.repeat({shapes, 1, 1}),
                           cloud.normals.repeat({shapes, 1, 1}),
                           {},
                           cloud.labels.repeat({shapes}),
                           {"a", "b", "c"},
                           cloud.parts.repeat({shapes, 1})};
  const ArrayDataset dataset(arrays, small_classes, "one shape");
  PointSegmenter model = small_segmenter(settings);
  const at::Tensor mask = part_mask(small_parts(), 2);
  for (const Rotation rotation : {Rotation::z, Rotation::so3}) {
    INFO(name_of(rotation));
    const SegmentEvaluation found = evaluate_parts(model, dataset, settings, mask, rotation, repeats);
    PartMetrics metrics(mask);
    std::vector<double> losses;
    for (int64_t repeat = 1; repeat <= repeats; ++repeat) {
      for (int64_t row = 0; row < shapes; ++row) {
        Shape shape;
        shape.points = cloud.points[0].to(at::kDouble);
        shape.normals = cloud.normals[0].to(at::kDouble);
        // 3: the stream of these rotations. Another one would change what an evaluation has reported before.
        rotate_shape(shape, rotation,
                     make_generator(
                         combine_seeds({3, settings.seed, static_cast<uint64_t>(repeat), static_cast<uint64_t>(row)})));
        const PackedClouds one{shape.points, shape.normals, at::tensor({0, 50}, at::kLong), cloud.labels};
        const at::Tensor logits = segment_clouds(model, settings, one, BlockKind::spread).logits;
        losses.push_back(at::cross_entropy_loss(logits, cloud.parts[0]).item<double>());
        const at::Tensor parts = masked_logits(logits, mask.index_select(0, cloud.labels)).argmax(1);
        metrics.add(count_parts(parts, cloud.parts[0], at::zeros({50}, at::kLong), 1, 5), cloud.labels);
      }
    }
    double loss = 0;
    for (const double each : losses) loss += each / static_cast<double>(losses.size());
    CHECK(found.scores.loss == Approx(loss).epsilon(1e-5));
    CHECK(found.scores.parts.instance_iou == Approx(metrics.scores().instance_iou));
    CHECK(found.scores.parts.classes[0].shapes == shapes * repeats);
    std::sort(losses.begin(), losses.end());
    CHECK(std::adjacent_find(losses.begin(), losses.end()) == losses.end());  // no two rotations are one
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
