// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/cloud_transforms.h"

#include <catch2/catch.hpp>

#include "geometry/augment.h"
#include "tests/support.h"
#include "tests/tools/experiment/example_shape.h"

namespace geosft::test::test_cloud_transforms {

namespace {

Shape example(bool normals = true) {
  Shape shape = example_shape(normals);
  shape.parts = at::arange(300, at::kLong);
  return shape;
}

// Two clouds of 300 and 40 points.
PointBatch example_batch() {
  const Shape shape = example();
  PointBatch batch{at::cat({shape.points, shape.points.slice(0, 0, 40)}),
                   at::cat({shape.normals, shape.normals.slice(0, 0, 40)}),
                   at::tensor({0, 300, 340}, at::kLong),
                   at::tensor({1, 2}, at::kLong),
                   at::tensor({5, 6}, at::kLong),
                   at::arange(340, at::kLong)};
  batch.seeds = at::tensor({7, 8}, at::kLong);
  return batch;
}

}  // namespace

TEST_CASE("rotations are named in messages") {
  CHECK(std::string(rotation_text(Rotation::none)) == "upright");
  CHECK(std::string(rotation_text(Rotation::so3)) == "rotated at random");
}

TEST_CASE("a shape in the canonical pose keeps its rows and, if it has any, its normals") {
  for (const bool normals : {true, false}) {
    Shape shape = example(normals), turned = shape;
    turn_into_canonical_pose(turned);
    CHECK(turned.points.scalar_type() == at::kDouble);
    const auto from_first = [](const Shape& one) { return (one.points - one.points[0]).norm(2, 1).to(at::kDouble); };
    test::require_close(from_first(turned), from_first(shape), 1e-5, "distances");
    test::require_equal(turned.parts, shape.parts, "parts");
    REQUIRE(turned.normals.defined() == normals);
    if (!normals) continue;
    const at::Tensor centre = shape.points.mean(0), moved = turned.points.mean(0);
    const at::Tensor inner = ((turned.points - moved) * turned.normals).sum(1);
    test::require_close(inner, ((shape.points - centre) * shape.normals).sum(1).to(at::kDouble), 1e-4, "angles");
  }
}

TEST_CASE("training clouds are those of augment_clouds, and their parts go along") {
  const AugmentSettings settings{0.5, 2.0, 0.02, 0.1, Rotation::so3, 0.25};
  const PointBatch before = example_batch(), after = augmentation({.points = 64}, settings)(before);
  const AugmentedClouds expected = augment_clouds(before.points, before.normals, before.ptr, before.seeds,
                                                  {64, 0.1, Rotation::so3, 0.5, 2.0, 0.02, 5 * 0.02, 0.25});
  test::require_equal(after.points, expected.points, "points");
  test::require_equal(after.normals, expected.normals, "normals");
  test::require_equal(after.ptr, at::tensor({0, 48, 78}, at::kLong), "ptr");
  test::require_equal(after.parts, expected.rows, "parts");
  CHECK((after.labels.is_same(before.labels) && after.index.is_same(before.index)));
  PointBatch bare = before;
  bare.normals = bare.parts = at::Tensor();
  const PointBatch less = augmentation({.points = 64}, settings)(bare);
  test::require_equal(less.points, expected.points, "points without parts");
  CHECK_FALSE((less.parts.defined() || less.normals.defined()));
}

TEST_CASE("plain clouds are as they were read, with normals as wanted") {
  at::Generator generator = test::generator(1);
  const Shape shape = example(), without = plain_clouds(false)(shape, generator);
  CHECK((without.points.is_same(shape.points) && without.parts.is_same(shape.parts)));
  CHECK_FALSE(without.normals.defined());
  CHECK(plain_clouds(true)(shape, generator).normals.is_same(shape.normals));
  test::require_error([&] { plain_clouds(true)(without, generator); }, {"example", "normals", "--no-normals"});
}

TEST_CASE("a subset keeps points, normals and parts together") {
  Shape shape = example();
  keep_subset(shape, 20, test::generator(4));
  const Shape whole = example();
  REQUIRE(shape.parts.size(0) == 20);
  test::require_equal(shape.points, whole.points.index_select(0, shape.parts), "points");
  test::require_equal(shape.normals, whole.normals.index_select(0, shape.parts), "normals");
  keep_subset(shape, 30, test::generator(4));
  CHECK(shape.points.size(0) == 20);
}

TEST_CASE("farthest points of a cloud are the same ones in any pose, with their normals and parts") {
  CloudSettings clouds{.points = 20, .point_sampling = PointSampling::fps};
  Shape shape = example();
  at::Generator generator = test::generator(1);
  const Shape kept = training_clouds(clouds)(shape, generator), whole = example();
  REQUIRE(kept.parts.size(0) == 20);
  test::require_equal(kept.points, whole.points.index_select(0, kept.parts), "points");
  test::require_equal(kept.normals, whole.normals.index_select(0, kept.parts), "normals");
  // The first point is the farthest from the centroid, the second the farthest from the first.
  const at::Tensor centroid = whole.points.to(at::kDouble).mean(0);
  CHECK(kept.parts[0].item<int64_t>() == (whole.points - centroid).norm(2, 1).argmax().item<int64_t>());
  CHECK(kept.parts[1].item<int64_t>() == (whole.points - kept.points[0]).norm(2, 1).argmax().item<int64_t>());
  set_precision(shape, at::kDouble);
  rotate_shape(shape, Rotation::so3, test::generator(9));
  keep_points(shape, clouds, test::generator(2));
  test::require_equal(shape.parts, kept.parts, "in another pose");
  keep_farthest(shape, 30);
  CHECK(shape.points.size(0) == 20);
  clouds.point_sampling = PointSampling::random;
  CHECK(training_clouds(clouds)(whole, generator).parts.size(0) == 300);
  Shape random = example(), subset = example();
  keep_points(random, clouds, test::generator(2));
  keep_subset(subset, 20, test::generator(2));
  test::require_equal(random.parts, subset.parts, "random");
}

TEST_CASE("normals are left out, demanded, or estimated") {
  Shape bare = example(false), full = example();
  test::require_error([&] { prepare_normals(bare, true); }, {"example", "normals", "--no-normals"});
  Shape unnamed = bare;
  unnamed.name = "";
  test::require_error([&] { prepare_normals(unnamed, true); }, {"the cloud: ", "normals, which prepare() estimates"});
  prepare_normals(full, false);
  CHECK_FALSE(full.normals.defined());
  std::vector<std::string> warnings;
  estimate_missing_normals(bare, NormalOrientation::outward, warnings);
  CHECK(bare.normals.sizes() == bare.points.sizes());
  CHECK(at::equal(bare.normals, estimate_normals(bare.points, 16, {}, NormalOrientation::outward)));
  CHECK(at::equal(estimated_normals(bare, NormalOrientation::consistent), estimate_normals(bare.points)));
  CHECK(warnings == std::vector<std::string>{"example: it has no normals: they are estimated"});
  estimate_missing_normals(bare, NormalOrientation::outward, warnings);
  CHECK(warnings.size() == 1);
}

TEST_CASE("a model that was trained on estimated normals alone takes no others") {
  CloudSettings clouds;
  AugmentSettings augment;
  Shape own = example();
  const at::Tensor normals = own.normals;
  std::vector<std::string> warnings;
  augment.estimated_normals = 0.5;
  complete_normals(own, clouds, augment, warnings);
  CHECK(at::equal(own.normals, normals));
  CHECK(warnings.empty());
  augment.estimated_normals = 1.0;
  complete_normals(own, clouds, augment, warnings);
  CHECK(at::equal(own.normals, estimated_normals(own, clouds.normal_orientation)));
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings[0], Catch::Contains("example") && Catch::Contains("trained on estimated normals alone"));
  Shape bare = example(false);
  complete_normals(bare, clouds, augment, warnings);
  CHECK(at::equal(bare.normals, own.normals));
  CHECK(warnings.back() == "example: it has no normals: they are estimated");
  clouds.normals = false;
  complete_normals(bare, clouds, augment, warnings);
  CHECK(warnings.size() == 2);
}

TEST_CASE("normals that point inward or do not fit are said, and none are used where all are to be estimated") {
  const CloudSettings clouds;
  const AugmentSettings augment;
  const auto warnings_of = [&](const at::Tensor& normals, bool all = false) {
    Shape shape = example(false);
    shape.normals = normals.clone();
    std::vector<std::string> warnings;
    complete_normals(shape, clouds, augment, warnings, all);
    CHECK(at::equal(shape.normals, all ? estimated_normals(shape, clouds.normal_orientation) : normals));
    return warnings;
  };
  const Shape shape = example(false);
  const at::Tensor offset = shape.points - shape.points.mean(0), outward = offset / offset.norm(2, 1, true);
  CHECK(warnings_of(outward).empty());
  CHECK(warnings_of(example().normals).empty());
  Shape plane = example(false);
  plane.points.select(1, 2).fill_(0.3);
  plane.normals = at::tensor({0.0F, 0.0F, 1.0F}).expand_as(plane.points).contiguous();
  std::vector<std::string> of_plane;
  for (const int sign : {1, -1}) {
    plane.normals = plane.normals * sign;
    complete_normals(plane, clouds, augment, of_plane);
  }
  CHECK(of_plane.empty());
  const std::vector<std::string> inward = warnings_of(-outward);
  REQUIRE(inward.size() == 1);
  CHECK_THAT(inward[0], Catch::StartsWith("example: its normals point inward on the whole, 100 % of them") &&
                            Catch::Contains("--estimated-normals"));
  // Little more than half of them do in a hollow ball, whose cavity has almost the area of its outside.
  at::Tensor hollow = at::randn({4000, 3}, test::generator(5));
  hollow = hollow / hollow.norm(2, 1, true);
  for (const int sign : {1, -1}) {
    Shape ball = example(false);
    const at::Tensor inside = (at::arange(4000) % 20 < 9).unsqueeze(1);
    ball.points = hollow * at::where(inside, 0.9F, 1.0F);
    ball.normals = hollow * at::where(inside, -1.0F, 1.0F) * sign;
    std::vector<std::string> of_ball;
    complete_normals(ball, clouds, augment, of_ball);
    CHECK(of_ball.empty() == (sign > 0));
  }
  Shape reordered = example(false);
  reordered.points = reordered.points - reordered.points.mean(0);
  reordered.points = reordered.points / reordered.points.norm(2, 1, true);
  reordered.normals = reordered.points.flip(0);  // of another order of the points
  std::vector<std::string> of_others;
  reordered.from_mesh = true;  // whose faces have such normals
  complete_normals(reordered, clouds, augment, of_others);
  CHECK(of_others.empty());
  reordered.from_mesh = false;
  complete_normals(reordered, clouds, augment, of_others);
  REQUIRE(of_others.size() == 1);
  CHECK_THAT(of_others[0],
             Catch::StartsWith("example: its normals do not fit its points") && Catch::Contains("--estimated-normals"));
  CHECK(warnings_of(-outward, /*all=*/true) ==
        std::vector<std::string>{"example: its own normals are not used, but estimated ones"});
}

TEST_CASE("clouds without a form, or with a small part of the points that a model sees, are said") {
  const auto warnings_of = [](const at::Tensor& points, int64_t seen) {
    Shape shape;
    shape.points = points;
    std::vector<std::string> warnings;
    warn_of_points(shape, seen, warnings);
    return warnings.empty() ? "" : warnings.front();
  };
  const at::Tensor points = example().points;
  CHECK(warnings_of(points, 4800).empty());
  CHECK(warnings_of(points, 4801) == "the cloud: 300 points only, where the model sees 4801 of each shape");
  CHECK(warnings_of(points.slice(0, 0, 1).expand({20, 3}), 64) == "the cloud: all of its 20 points are equal");
  CHECK(warnings_of(points.slice(0, 0, 1) * at::arange(20).unsqueeze(1), 64) ==
        "the cloud: all of its 20 points lie on one line");
  CHECK_THAT(warnings_of(at::cat({points, points.new_zeros({30, 3})}), 64),
             Catch::StartsWith("the cloud: 30 of its 330 points are at one place, (0, 0, 0)"));
}

TEST_CASE("clouds are rotated as they are told") {
  for (const Rotation rotation : {Rotation::none, Rotation::z, Rotation::so3}) {
    Shape shape = example();
    set_precision(shape, at::kDouble);
    const at::Tensor before = shape.points, normals = shape.normals;
    rotate_shape(shape, rotation, test::generator(6));
    CHECK(at::equal(shape.points, before) == (rotation == Rotation::none));
    test::require_close((shape.points * shape.normals).sum(1), (before * normals).sum(1), 1e-12, "angles");
    CHECK(at::equal(shape.points.select(1, 2), before.select(1, 2)) == (rotation != Rotation::so3));
  }
}

TEST_CASE("a batch on a device keeps ptr, seeds and rows where they are") {
  PointBatch batch = example_batch();
  batch.normals = at::Tensor();
  const PointBatch there = on_device(batch, at::kCPU);
  test::require_equal(there.parts, batch.parts, "parts");
  CHECK_FALSE(there.normals.defined());
  CHECK((there.index.is_same(batch.index) && there.seeds.is_same(batch.seeds)));
  const auto named = batch_tensors(batch);
  CHECK(named.size() == 5);
  CHECK(named.at("parts").is_same(batch.parts));
  CHECK(batch_tensors(std::nullopt).empty());
}

}  // namespace geosft::test::test_cloud_transforms
