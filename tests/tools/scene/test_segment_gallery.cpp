// SPDX-License-Identifier: Apache-2.0
#include "tools/scene/segment_gallery.h"

#include <catch2/catch.hpp>

#include "tests/tools/classify/tiny_shapes.h"
#include "tests/tools/segment/small_segmenter.h"
#include "tools/experiment/arguments.h"
#include "tools/experiment/report_texts.h"
#include "tools/scene/choices.h"
#include "tools/scene/cloud_gallery.h"

namespace geosft::test::test_segment_gallery {
using namespace view;
namespace {

// Four clouds of 64 points to test with, lamps and mugs in turns.
struct Parts {
  TemporaryFolder folder;
  SegmentSettings settings = small_segment_settings();

  Parts() { write_part_set(folder / "set"); }
  SegmentGallery gallery(std::optional<int64_t> points = {}) const {
    return {{}, open_part_dataset(folder / "set", PartSplit::test), small_segment_run(settings), {"", points}};
  }
};

}  // namespace

TEST_CASE("every point of a set's cloud has a part of its class, with what is right of them") {
  const Parts set;
  SegmentGallery gallery = set.gallery();
  REQUIRE(gallery.size() == 4);
  const Subject lamp = gallery.get(0, false), mug = gallery.get(1, false);
  CHECK(lamp.truth == "lamp");
  CHECK(mug.truth == "mug");
  REQUIRE(lamp.parts);
  CHECK(lamp.parts->labels.size(0) == 64);
  CHECK(lamp.parts->labels.max().item<int64_t>() <= 2);
  CHECK(mug.parts->labels.min().item<int64_t>() >= 3);
  CHECK(lamp.parts->colours.sizes() == at::IntArrayRef({64, 3}));
  const auto own = open_part_dataset(set.folder / "set", PartSplit::test);
  REQUIRE((lamp.true_parts && mug.true_parts));
  require_equal(mug.true_parts->labels, own->get(1).parts, "true parts");
  // They are shown without a model, too.
  const PointDatasetOptions plain;
  CloudGallery labelled({}, open_part_dataset(set.folder / "set", PartSplit::test), std::nullopt, plain);
  const Subject alone = labelled.get(1, true);
  CHECK((alone.truth == "mug" && !alone.parts));
  REQUIRE((alone.true_parts && alone.beside && alone.beside->true_parts));
  require_equal(alone.true_parts->labels, own->get(1).parts, "true parts");
  CHECK((alone.true_parts->names == mug.true_parts->names));
  CHECK(usual_colouring(alone) == Colouring::true_parts);
  CHECK_THAT(lamp.prediction, Catch::Contains("mean probability ") && Catch::Contains(" % of the points right"));
  REQUIRE_FALSE(mug.parts->names.empty());
  const int64_t first = mug.parts->labels.min().item<int64_t>();
  CHECK_THAT(mug.parts->names.front().first,
             Catch::StartsWith(std::to_string(first) + (first == 3 ? " cup, " : " base, ")) && Catch::EndsWith(" %"));
}

TEST_CASE("true points without a label are grey, have a name, and are neither right nor wrong") {
  const Parts set;
  const PartClouds clouds = PartClouds(4, 63, 5).remove_labels();
  write_hdf5(set.folder / "set/ply_data_test0.h5", clouds.arrays());
  SegmentGallery gallery = set.gallery();
  const Subject bare = gallery.get(0, false), mug = gallery.get(1, false);
  REQUIRE((mug.true_parts && bare.true_parts));
  require_equal(mug.true_parts->labels, clouds.parts[1], "true parts");
  CHECK(mug.true_parts->names.front().first == "unlabelled, 33.3 %");
  CHECK_THAT(mug.true_parts->names.at(1).first, Catch::StartsWith("3 cup, "));
  const auto [name, colour] = mug.true_parts->names.front();
  CHECK((colour[0] == colour[1] && colour[0] == colour[2]));
  const at::Tensor grey = at::tensor({colour[0], colour[1], colour[2]}, at::kDouble);
  const at::Tensor unlabelled = clouds.parts[1] == unlabelled_part;
  require_equal((mug.true_parts->colours == grey).all(1), unlabelled, "grey points");
  const at::Tensor right = (mug.parts->labels == clouds.parts[1]).masked_select(unlabelled.logical_not());
  CHECK_THAT(mug.prediction, Catch::EndsWith(", " + percent(right.to(at::kDouble).mean().item<double>()) +
                                             " of the labelled points right"));
  CHECK((bare.true_parts->names.size() == 1 && bare.prediction.find("right") == std::string::npos));
  CHECK_THAT(bare.true_parts->names.front().first, Catch::StartsWith("unlabelled, 100"));
  const PointDatasetOptions plain;
  CloudGallery alone({}, open_part_dataset(set.folder / "set", PartSplit::test), std::nullopt, plain);
  CHECK((alone.get(1, false).true_parts->names == mug.true_parts->names));
}

TEST_CASE("a model that sees all points at once can be looked into, one that sees blocks says which it could") {
  Parts set;
  const Subject whole = set.gallery().get(0, false);
  REQUIRE(whole.trace);
  CHECK(whole.layers() == 2);
  CHECK(whole.trace->layers[0].tokens == 64);
  set.settings.clouds.block = 20;
  const Subject blocks = set.gallery().get(0, false);
  CHECK_FALSE(blocks.trace);
  CHECK(blocks.parts->labels.size(0) == 64);
  CHECK_THAT(blocks.untraced, Catch::Contains("64 points in blocks of 20") && Catch::Contains("--points 20"));
  const Subject few = set.gallery(20).get(0, false);
  CHECK(few.points.size(0) == 20);
  CHECK(few.trace);
}

TEST_CASE("the rotated copy has the same logits and parts") {
  const Parts set;
  const Subject subject = set.gallery().get(2, true);
  REQUIRE(subject.beside);
  CHECK_FALSE(at::allclose(subject.points, subject.beside->points, 1e-3, 1e-3));
  require_close(at::pdist(subject.beside->points), at::pdist(subject.points), 1e-9, "distances");
  CHECK(subject.logit_difference == 0);  // both are seen in one pose
  require_equal(subject.beside->parts->labels, subject.parts->labels, "parts");
}

TEST_CASE("files need the class that the model is told, and a set must have its parts") {
  Parts set;
  write_text(set.folder / "ball.xyz", sphere_xyz(1.0, 90));
  const auto of_file = [&](const std::string& category) {
    return SegmentGallery({set.folder / "ball.xyz"}, nullptr, small_segment_run(set.settings), {category, {}});
  };
  const Subject ball = of_file("lamp").get(0, false);
  CHECK(ball.points.size(0) == 90);
  CHECK(ball.truth == "lamp");
  CHECK(ball.prediction.find("right") == std::string::npos);
  CHECK_THROWS_AS(of_file(""), UsageError);
  CHECK_THROWS_AS(of_file("sofa"), UsageError);
  set.settings.model.category = false;
  const Subject any = of_file("").get(0, false);
  CHECK(any.truth.empty());
  CHECK_THAT(any.parts->names.front().first, Catch::Contains("/"));  // of one of several classes
  write_text(set.folder / "set" / "parts.txt", "0 lamp top\n1 lamp pole\n2 lamp foot\n3 mug cup\n4 mug handle\n");
  require_error([&] { set.gallery(); }, {"parts of the trained model", "mug/handle"});
}

}  // namespace geosft::test::test_segment_gallery
