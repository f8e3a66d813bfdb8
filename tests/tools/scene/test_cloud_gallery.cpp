// SPDX-License-Identifier: Apache-2.0
#include "tools/scene/cloud_gallery.h"

#include <catch2/catch.hpp>

#include "tests/data/files.h"
#include "tests/data/points/utm_chair.h"
#include "tests/tools/classify/tiny_shapes.h"
#include "tests/tools/scene/looked_at.h"

namespace geosft::test::test_cloud_gallery {
using view::Subject;

TEST_CASE("without a model all points are shown, with the class that the set names") {
  auto gallery = random_gallery(false);
  REQUIRE(gallery->size() == 10);
  const Subject subject = gallery->get(4, false);
  CHECK(subject.points.size(0) == 50);
  CHECK(subject.normals.size(0) == 50);
  CHECK(subject.truth == "b");
  CHECK(subject.name == "4");
  CHECK(subject.prediction.empty());
  CHECK_FALSE(subject.trace.has_value());
}

TEST_CASE("with a model there are its prediction and its trace") {
  const Subject subject = random_gallery(true)->get(4, false);
  CHECK(subject.points.size(0) == 40);
  CHECK(subject.trace->layers.size() == 2);
  CHECK_THAT(subject.prediction, Catch::Contains(" %"));
  CHECK_FALSE(subject.beside);
}

TEST_CASE("the rotated copy has the same shape, and nearly the same logits") {
  for (const bool with_model : {false, true}) {
    const Subject subject = random_gallery(with_model)->get(2, true);
    REQUIRE(subject.beside);
    CHECK_FALSE(at::allclose(subject.points, subject.beside->points, 1e-3, 1e-3));
    require_close(at::pdist(subject.beside->points), at::pdist(subject.points), 1e-5, "distances");
    if (with_model) CHECK(subject.beside->prediction == subject.prediction);
    CHECK(subject.logit_difference < 1e-3);
  }
}

TEST_CASE("the coordinates of the file are shown, also of what a model saw") {
  const TemporaryFolder folder;
  write_text(folder / "chair.xyz", double_cloud_text("xyz", utm_chair(40)));
  for (const bool with_model : {false, true}) {
    std::optional<RunModel> trained;
    ClassifySettings settings = small_settings();
    settings.clouds.normals = false;
    if (with_model) trained = RunModel{{{"a", "b", "c"}}, settings, small_model(settings)};
    view::CloudGallery gallery({folder / "chair.xyz"}, nullptr, std::move(trained), {});
    const Subject subject = gallery.get(0, true);
    require_close(subject.points, utm_chair(40), 1e-6, "points");
    const view::Scene scene = view::scene_of(subject, choose(view::Colouring::height));
    CHECK(scene.legend.bar->second.high > 5155487.4);
  }
}

TEST_CASE("files are read one by one") {
  const TemporaryFolder folder;
  write_text(folder / "ball.xyz", sphere_xyz(1.0, 90));
  write_text(folder / "cube.off", cube_off(1.0));
  view::CloudGallery gallery({folder / "ball.xyz", folder / "cube.off"}, nullptr, std::nullopt,
                             {.points_per_mesh = 70});
  REQUIRE(gallery.size() == 2);
  CHECK(gallery.get(0, false).points.size(0) == 90);
  CHECK(gallery.get(1, false).points.size(0) == 70);
  CHECK(gallery.get(1, false).truth.empty());
}

}  // namespace geosft::test::test_cloud_gallery
