// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/classification.h"

#include <catch2/catch.hpp>

#include "tests/environment.h"
#include "tests/support.h"
#include "tests/tools/classify/tiny_shapes.h"
#include "tests/tools/experiment/captured_stderr.h"
#include "tests/tools/experiment/example_shape.h"

namespace geosft::test::test_classification {

namespace {

ClassifySettings settings_of(int64_t points) {
  ClassifySettings settings;
  settings.clouds.points = points;
  return settings;
}

Shape transformed(const ShapeTransform& transform, uint64_t seed = 1, const Shape& shape = example_shape()) {
  at::Generator generator = test::generator(seed);
  return transform(shape, generator);
}

at::Tensor distances(const Shape& shape) {
  return at::cdist(shape.points.to(at::kDouble), shape.points.to(at::kDouble));
}

double largest_radius(const Shape& shape) {
  return shape.points.norm(2, 1).max().item<double>();
}

// A folder for data and cache.
struct Place {
  TemporaryFolder folder;
  EnvironmentVariable cache{"XDG_CACHE_HOME", (folder / "cache").string()};
  ClassifySettings settings;

  Place() { settings.data = (folder / "data").string(); }
};

}  // namespace

TEST_CASE("evaluation keeps the same points whatever the rotation") {
  const ClassifySettings settings = settings_of(64);
  const Shape upright = transformed(evaluation_transform(settings, Rotation::none, 3));
  CHECK(upright.points.sizes() == at::IntArrayRef{64, 3});
  CHECK(upright.normals.sizes() == at::IntArrayRef{64, 3});
  CHECK(upright.label == 2);
  CHECK(upright.points.mean(0).abs().max().item<double>() < 1e-6);
  CHECK(largest_radius(upright) == Approx(1.0));
  for (const Rotation rotation : {Rotation::z, Rotation::so3}) {
    const Shape moved = transformed(evaluation_transform(settings, rotation, 3), 9);
    test::require_close(distances(moved), distances(upright), 1e-5, "distances");
    CHECK((moved.points - upright.points).abs().max().item<double>() > 0.1);
    const at::Tensor inner = (moved.points * moved.normals).sum(1);
    test::require_close(inner, (upright.points * upright.normals).sum(1), 1e-5, "angles to the normals");
    const double raised = (moved.points - upright.points).select(1, 2).abs().max().item<double>();
    CHECK((raised < 1e-6) == (rotation == Rotation::z));
  }
}

TEST_CASE("the model sees rotated copies in one pose, equal in every bit, unless its tokens are absolute") {
  ClassifySettings settings = settings_of(64);
  const Shape upright = transformed(model_input_transform(settings, Rotation::none, 3));
  CHECK(upright.points.scalar_type() == at::kFloat);
  const Shape seen = transformed(evaluation_transform(settings, Rotation::none, 3));
  test::require_close(distances(upright), distances(seen), 1e-5, "distances");
  for (const uint64_t seed : {4, 5, 6}) {
    const Shape moved = transformed(model_input_transform(settings, Rotation::so3, 3), seed);
    test::require_equal(moved.points, upright.points, "points");
    test::require_close(moved.normals, upright.normals, 1e-6, "normals");
  }
  settings.model.tokens = PointTokens::absolute;
  const Shape absolute = transformed(model_input_transform(settings, Rotation::none, 3));
  test::require_equal(absolute.points, seen.points, "absolute tokens");
  settings.model.tokens = PointTokens::radial;
  settings.model.canonical_order = false;
  test::require_equal(transformed(model_input_transform(settings, Rotation::none, 3)).points, seen.points, "no order");
}

TEST_CASE("another vote sees other points, a small cloud is taken whole") {
  const ClassifySettings settings = settings_of(64);
  const Shape first = transformed(evaluation_transform(settings, Rotation::none, 0));
  const Shape second = transformed(evaluation_transform(settings, Rotation::none, 1));
  CHECK_FALSE(at::equal(first.points, second.points));
  CHECK(transformed(evaluation_transform(settings_of(1000), Rotation::none, 0)).points.size(0) == 300);
}

TEST_CASE("normals are left out or demanded as configured") {
  ClassifySettings settings = settings_of(64);
  const ShapeTransform with_normals = evaluation_transform(settings, Rotation::none, 0);
  test::require_error([&] { transformed(with_normals, 1, example_shape(false)); },
                      {"example", "normals", "--no-normals"});
  settings.clouds.normals = false;
  CHECK_FALSE(transformed(evaluation_transform(settings, Rotation::so3, 0)).normals.defined());
}

TEST_CASE("the settings decide what is opened") {
  Place place;
  write_tiny_dataset(place.settings.data);
  place.settings.clouds.points_per_mesh = 30;
  const CapturedStderr quiet;
  const auto train = open_dataset(place.settings, Split::train), test = open_dataset(place.settings, Split::test);
  CHECK(train->size() == 15);
  CHECK(test->size() == 6);
  CHECK(train->class_names() == std::vector<std::string>{"cube", "sphere", "tetrahedron"});
  CHECK(train->get(0).points.size(0) == 30);
  std::filesystem::rename(place.folder / "data/train", place.folder / "alone");
  place.settings.data = (place.folder / "alone").string();
  place.settings.clouds.test_every = 2;
  CHECK(open_dataset(place.settings, Split::test)->size() == 3 * 2);
  place.settings.clouds.test_every = 0;
  CHECK(open_dataset(place.settings, Split::test)->size() == 15);
}

TEST_CASE("reading shapes is shown, and done once") {
  Place place;
  write_tiny_dataset(place.settings.data);
  for (const bool first : {true, false}) {
    const CapturedStderr shown;
    open_dataset(place.settings, Split::test);
    INFO(shown.text());
    CHECK((shown.text().find("reading shapes 100 %  6/6") != std::string::npos) == first);
    CHECK(shown.text().empty() == !first);
  }
}

TEST_CASE("what a dataset leaves out is said") {
  Place place;
  write_text(place.folder / "data/modelnet40_shape_names.txt", "bed\nsofa\n");
  write_text(place.folder / "data/modelnet40_train.txt", "bed_0001\nbed_0002\nsofa_0001\n");
  write_text(place.folder / "data/bed/bed_0001.txt", "0,0,0,0,0,1\n");
  require_error([&] { open_dataset(place.settings, Split::train); }, {"bed_0002", "--allow-missing"});
  place.settings.clouds.allow_missing = true;
  const CapturedStderr shown;
  CHECK(open_dataset(place.settings, Split::train)->size() == 1);
  CHECK_THAT(shown.text(), Catch::Contains("1 of the 3 shapes") && Catch::EndsWith("\n"));
}

}  // namespace geosft::test::test_classification
