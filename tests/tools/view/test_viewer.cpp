// SPDX-License-Identifier: Apache-2.0
#include "tools/view/viewer.h"

#include <catch2/catch.hpp>

#include "tests/data/files.h"
#include "tests/data/points/utm_chair.h"
#include "tests/tools/scene/looked_at.h"
#include "tools/experiment/arguments.h"

namespace geosft::test::test_viewer {
using namespace view;
namespace {

Viewer viewer_on(bool with_model, Colouring colouring, int64_t item = 0) {
  return {random_gallery(with_model), item, choose(colouring), false};
}

// Clouds of which every second one has no trace.
class HalfTraced : public Gallery {
 public:
  int64_t size() const override { return all_->size(); }
  Subject get(int64_t item, bool beside) override {
    Subject subject = all_->get(item, beside);
    if (item % 2 == 1) subject.trace.reset();
    return subject;
  }

 private:
  std::unique_ptr<CloudGallery> all_ = random_gallery(true);
};

}  // namespace

TEST_CASE("arrows go through the items, round and round") {
  Viewer viewer = viewer_on(false, Colouring::height, 9);
  CHECK_THAT(viewer.scene().title, Catch::StartsWith("item 9 of 10"));
  CHECK(viewer.press(Viewer::right) == Reaction::redraw);
  CHECK(viewer.item() == 0);
  viewer.press(Viewer::left);
  CHECK(viewer.item() == 9);
  CHECK_THROWS_WITH(viewer_on(false, Colouring::height, 10), Catch::Contains("0 … 9, found 10"));
  CHECK_THROWS_AS(viewer_on(false, Colouring::height, -1), UsageError);
}

TEST_CASE("by default the first item is coloured by what says most of it") {
  const Viewer importance(random_gallery(true), 0, choose(Colouring::height), false, /*usual=*/true);
  CHECK_THAT(importance.scene().legend.title, Catch::Contains("importance"));
  const Viewer height(random_gallery(false), 0, choose(Colouring::importance), false, /*usual=*/true);
  CHECK(height.scene().legend.title == "height");
}

TEST_CASE("C goes through all colourings and comes back") {
  Viewer viewer = viewer_on(true, Colouring::importance);
  const std::string first = viewer.scene().legend.title;
  std::vector<std::string> seen;
  for (int i = 0; i < 6; ++i) {
    viewer.press('C');
    seen.push_back(viewer.scene().legend.title);
  }
  CHECK(seen.back() == first);
  std::sort(seen.begin(), seen.end());
  CHECK(std::unique(seen.begin(), seen.end()) == seen.end());
}

TEST_CASE("keys step through layers, heads and maps, whose colours are shown") {
  Viewer viewer = viewer_on(true, Colouring::attention);
  const Subject subject = random_gallery(true)->get(0, false);
  Choices choices = choose(Colouring::attention);
  const auto require_shown_after = [&](char key) {
    CHECK(viewer.press(key) == Reaction::redraw);
    require_equal(viewer.scene().colours, scene_of(subject, choices).colours, std::string("after ") + key);
  };
  choices.layer = 1;
  require_shown_after(Viewer::up);
  choices.head = 1;
  require_shown_after('E');
  const at::Tensor before = viewer.scene().colours;
  choices.map = ColourMap::cividis;
  require_shown_after('M');
  CHECK_FALSE(at::equal(viewer.scene().colours, before));
  CHECK_THAT(viewer.scene().legend.title, Catch::Contains("layer 1, head 1"));
  viewer.press('D');
  viewer.press('D');
  viewer.press(Viewer::down);
  CHECK_THAT(viewer.scene().legend.title, Catch::Contains("layer 2, head 4"));
}

TEST_CASE("a click makes the point the query") {
  Viewer viewer = viewer_on(true, Colouring::importance);
  CHECK_THAT(viewer.pick(11), Catch::StartsWith("query 11 at "));
  CHECK_THAT(viewer.scene().legend.title, Catch::Contains("attention of point 11"));
  viewer.press('B');
  REQUIRE(viewer.scene().points.size(0) == 80);
  CHECK_THAT(viewer.pick(40 + 5), Catch::StartsWith("query 5 at "));  // in the copy
  Viewer bare = viewer_on(false, Colouring::height);
  CHECK(bare.pick(3).empty());
}

TEST_CASE("a click tells the coordinates of the file") {
  const TemporaryFolder folder;
  write_text(folder / "chair.xyz", double_cloud_text("xyz", utm_chair(40)));
  ClassifySettings settings = small_settings();
  settings.clouds.normals = false;
  std::optional<RunModel> trained = RunModel{{{"a", "b", "c"}}, settings, small_model(settings)};
  auto gallery = std::make_unique<CloudGallery>(std::vector<std::filesystem::path>{folder / "chair.xyz"}, nullptr,
                                                std::move(trained), PointDatasetOptions{});
  Viewer viewer(std::move(gallery), 0, choose(Colouring::importance), false);
  const std::string text = viewer.pick(7);
  std::istringstream words(text.substr(text.find(" at ") + 4));
  for (int64_t axis = 0; axis < 3; ++axis) {
    double value = 0;
    words >> value;
    CHECK(value - utm_offset()[axis].item<double>() ==
          Approx(chair_at_origin(40)[7][axis].item<double>()).margin(1e-5));
  }
}

TEST_CASE("help, turning, saving and leaving") {
  Viewer viewer = viewer_on(false, Colouring::height);
  CHECK_FALSE(viewer.help());
  viewer.press('H');
  CHECK(viewer.help());
  viewer.press('T');
  CHECK(viewer.turning());
  CHECK(viewer.press('P') == Reaction::save);
  CHECK(viewer.press('Q') == Reaction::quit);
  CHECK(viewer.press(Viewer::escape) == Reaction::quit);
  CHECK(viewer.press('7') == Reaction::none);
  CHECK(Viewer::keys().size() > 10);
}

TEST_CASE("O makes discs of points with normals, and L is for graphs") {
  Viewer viewer = viewer_on(false, Colouring::height);
  CHECK_FALSE(viewer.scene().normals.defined());
  CHECK(viewer.press('O') == Reaction::redraw);
  CHECK(viewer.scene().normals.defined());
  viewer.press('O');
  CHECK_FALSE(viewer.scene().normals.defined());
  CHECK(viewer.press('L') == Reaction::none);
}

TEST_CASE("keys that mean nothing to a cloud without a model leave it as it is") {
  Viewer viewer = viewer_on(false, Colouring::height);
  const at::Tensor before = viewer.scene().colours;
  for (const char key : {Viewer::up, Viewer::down, 'E', 'D', 'W', 'S'}) viewer.press(key);
  require_equal(viewer.scene().colours, before, "colours");
}

TEST_CASE("a head that was chosen does not bar the way to an item without a trace") {
  Viewer viewer(std::make_unique<HalfTraced>(), 0, choose(Colouring::attention), false);
  viewer.press('E');
  viewer.press('E');
  CHECK_THAT(viewer.scene().legend.title, Catch::Contains("head 2"));
  CHECK(viewer.press(Viewer::right) == Reaction::redraw);
  CHECK(viewer.item() == 1);
  CHECK(viewer.press(Viewer::right) == Reaction::redraw);
}

}  // namespace geosft::test::test_viewer
