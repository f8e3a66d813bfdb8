// SPDX-License-Identifier: Apache-2.0
#include "models/training/part_metrics.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/support.h"

namespace geosft::test::test_part_metrics {
namespace {

at::Tensor numbers(const std::vector<int64_t>& values) {
  return at::tensor(values, at::kLong);
}

// Class 0 has parts 0, 1 and 2, class 1 has 3 and 4, class 2 has 5.
at::Tensor mask() {
  return at::tensor({1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 1}, at::kLong).to(at::kBool).view({3, 6});
}

// Two shapes of class 0 and one of class 1, 4, 2 and 5 points.
PartCounts counts() {
  const at::Tensor shape = numbers({0, 0, 0, 0, 1, 1, 2, 2, 2, 2, 2});
  const at::Tensor truth = numbers({0, 0, 1, 1, 0, 0, 3, 3, 3, 4, 4});
  const at::Tensor found = numbers({0, 1, 1, 1, 0, 0, 3, 3, 4, 3, 4});
  return count_parts(found, truth, shape, 3, 6);
}

}  // namespace

TEST_CASE("points of parts are counted for every shape") {
  const PartCounts found = counts();
  require_equal(found.there, numbers({2, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 3, 2, 0}).view({3, 6}), "there");
  require_equal(found.found, numbers({1, 3, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 3, 2, 0}).view({3, 6}), "found");
  require_equal(found.both, numbers({1, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 0}).view({3, 6}), "both");
  require_error([] { count_parts(numbers({0}), numbers({0, 1}), numbers({0, 0}), 1, 2); }, {"[1]", "[2]"});
}

TEST_CASE("IoU of shapes by hand, with parts that are absent from both counted as 1") {
  // Measured: the same bits where 1e-15 is allowed.
  // Shape 0: 1/2, 2/3 and 1; shape 1: 1, 1 and 1; shape 2: 2/4 and 1/3.
  const double first = (0.5 + 2.0 / 3 + 1) / 3, third = (0.5 + 1.0 / 3) / 2;
  const at::Tensor allowed = mask().index_select(0, numbers({0, 0, 1}));
  require_close(shape_ious(counts(), allowed), at::tensor({first, 1.0, third}, at::kDouble), 1e-15, "IoU");

  PartMetrics metrics(mask());
  metrics.add(counts(), numbers({0, 0, 1}));
  const PartScores scores = metrics.scores();
  CHECK(scores.instance_iou == Approx((first + 1 + third) / 3));
  const double mean = scores.instance_iou;
  const double squares = std::pow(first - mean, 2) + std::pow(1 - mean, 2) + std::pow(third - mean, 2);
  CHECK(scores.instance_iou_error == Approx(std::sqrt(squares / 2 / 3)));
  CHECK(scores.class_iou == Approx(((first + 1) / 2 + third) / 2));  // class 2 has no shape
  CHECK(scores.accuracy == Approx(8.0 / 11));
  // Part 0: 3 of 4, part 1: 2 of 2, part 3: 2 of 3, part 4: 1 of 2; parts 2 and 5 have no points.
  CHECK(scores.mean_part_accuracy == Approx((0.75 + 1 + 2.0 / 3 + 0.5) / 4));
  REQUIRE(scores.classes.size() == 3);
  CHECK(scores.classes[0].shapes == 2);
  CHECK(scores.classes[0].iou == Approx((first + 1) / 2));
  CHECK(scores.classes[0].accuracy == Approx(5.0 / 6));
  CHECK(scores.classes[1].iou == Approx(third));
  CHECK(scores.classes[2].shapes == 0);
  CHECK(std::isnan(scores.classes[2].iou));
  REQUIRE(scores.parts.size() == 6);
  CHECK(scores.parts[0].iou == Approx((0.5 + 1) / 2));
  CHECK(scores.parts[1].iou == Approx((2.0 / 3 + 1) / 2));
  CHECK(scores.parts[2].iou == 1.0);
  CHECK(scores.parts[4].iou == Approx(1.0 / 3));
  CHECK(scores.parts[0].accuracy == 0.75);
  CHECK((std::isnan(scores.parts[2].accuracy) && std::isnan(scores.parts[5].iou)));
}

TEST_CASE("a part that is found where there is none counts as 0, and scores add up over batches") {
  // A shape of class 0 without part 2, which is found once.
  const PartCounts wrong = count_parts(numbers({0, 1, 2}), numbers({0, 1, 1}), numbers({0, 0, 0}), 1, 6);
  CHECK(shape_ious(wrong, mask().slice(0, 0, 1)).item<double>() == Approx((1 + 0.5 + 0) / 3));
  PartMetrics together(mask()), apart(mask());
  together.add(counts(), numbers({0, 0, 1}));
  together.add(wrong, numbers({0}));
  apart.add(wrong, numbers({0}));
  apart.add(counts(), numbers({0, 0, 1}));
  CHECK(together.scores().instance_iou == Approx(apart.scores().instance_iou));
  CHECK(together.scores().classes[0].shapes == 3);
}

TEST_CASE("points and shapes without a label count in no metric") {
  // 12 shapes of 30 points, half of them without a label, and all of the first and the last shape.
  const int64_t shapes = 12, each = 30;
  const at::Tensor category = at::arange(shapes, at::kLong) % 2, first = 3 * category.unsqueeze(1);
  const at::Tensor sizes = 3 - category.unsqueeze(1);  // parts of each class
  const at::Tensor random = at::randint(1 << 20, {3, shapes, each}, generator(4), at::kLong);
  const at::Tensor found = first + random[0] % sizes;
  at::Tensor truth = (first + random[1] % sizes).masked_fill(random[2] % 2 == 0, -1);
  for (const int64_t shape : {int64_t{0}, shapes - 1}) truth[shape].fill_(-1);
  const at::Tensor shape = at::arange(shapes, at::kLong).repeat_interleave(each);
  const PartCounts all = count_parts(found.flatten(), truth.flatten(), shape, shapes, 6);
  CHECK(all.there.sum().item<int64_t>() == (truth >= 0).sum().item<int64_t>());
  PartMetrics metrics(mask()), reference(mask());
  metrics.add(all, category);
  // The reference sees the labelled points of the other shapes alone.
  for (int64_t i = 1; i + 1 < shapes; ++i) {
    const at::Tensor rows = (truth[i] >= 0).nonzero().squeeze(1);
    reference.add(
        count_parts(found[i].index_select(0, rows), truth[i].index_select(0, rows), at::zeros_like(rows), 1, 6),
        category.slice(0, i, i + 1));
  }
  const PartScores scores = metrics.scores(), expected = reference.scores();
  CHECK(scores.instance_iou == Approx(expected.instance_iou));
  CHECK(scores.instance_iou_error == Approx(expected.instance_iou_error));
  CHECK(scores.class_iou == Approx(expected.class_iou));
  CHECK(scores.accuracy == Approx(expected.accuracy));
  CHECK(scores.mean_part_accuracy == Approx(expected.mean_part_accuracy));
  for (size_t label = 0; label < 2; ++label) {
    CHECK(scores.classes[label].shapes == 5);
    CHECK(scores.classes[label].iou == Approx(expected.classes[label].iou));
    CHECK(scores.classes[label].accuracy == Approx(expected.classes[label].accuracy));
  }
  for (size_t part = 0; part < 5; ++part) {
    CHECK(scores.parts[part].iou == Approx(expected.parts[part].iou));
    CHECK(scores.parts[part].accuracy == Approx(expected.parts[part].accuracy));
  }
  PartMetrics none(mask());
  none.add(count_parts(numbers({0, 1}), numbers({-1, -1}), numbers({0, 0}), 1, 6), numbers({0}));
  require_error([&] { none.scores(); }, {"no shapes with labelled points"});
}

TEST_CASE("errors of part metrics name the argument") {
  require_error([] { PartMetrics(at::ones({3}, at::kBool)).scores(); }, {"mask"});
  require_error([] { PartMetrics(at::zeros({2, 3}, at::kBool)).scores(); }, {"mask", "a part"});
  require_error([] { PartMetrics(mask()).scores(); }, {"no shapes"});
  require_error([] { shape_ious(counts(), mask().slice(0, 0, 2)); }, {"allowed", "[3, 6]", "[2, 6]"});
}

}  // namespace geosft::test::test_part_metrics
