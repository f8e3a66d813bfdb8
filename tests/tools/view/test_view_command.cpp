// SPDX-License-Identifier: Apache-2.0
// The command line of geosft-view, with a display that only remembers what it was asked for; errors end to end.
#include "tools/view/view_command.h"

#include <catch2/catch.hpp>

#include "data/read_file.h"
#include "tests/data/graphs/molecules.h"
#include "tests/tools/scene/looked_at.h"
#include "tests/tools/segment/segment_tool.h"
#include "tests/tools/view/view_tool.h"
#include "tests/tools/view/virtual_screen.h"
#include "tools/experiment/arguments.h"

namespace geosft::test::test_view_command {
using namespace view;
namespace {

struct RememberingDisplay : Display {
  std::vector<Camera> cameras;
  std::vector<std::filesystem::path> files;
  int64_t points = 0;
  std::string title;
  std::vector<std::string> titles;
  ContactSheet sheet;
  int shown = 0, measured = 0;

  void render(const Scene& scene, const PictureSize&, const std::vector<Camera>& from,
              const std::vector<std::filesystem::path>& to) override {
    points = scene.points.size(0);
    title = scene.legend.title;
    cameras = from;
    files = to;
  }
  void render_frames(const std::vector<Scene>& scenes, const PictureSize&, const Camera& from,
                     const std::vector<std::filesystem::path>& to) override {
    for (const Scene& scene : scenes) titles.push_back(scene.legend.title);
    cameras = {from};
    files = to;
    for (const auto& file : to) write_text(file, "no picture");
  }
  void render_sheet(const ContactSheet& of, const PictureSize&, const Camera& from,
                    const std::filesystem::path& to) override {
    sheet = of;
    cameras = {from};
    files = {to};
  }
  FrameRates measure(const Scene& scene, const PictureSize&, const Camera&) override {
    ++measured;
    return {scene.points.size(0), 1, 10.0, 20.0};
  }
  void show(Viewer& viewer, const PictureSize&, const Camera&,
            const std::function<void(const std::string&)>&) override {
    ++shown;
    title = viewer.scene().legend.title;
  }
};

int run_with(Display& display, const Words& words) {
  std::vector<const char*> arguments = {"geosft-view"};
  for (const std::string& word : words) arguments.push_back(word.c_str());
  return run_view(static_cast<int>(arguments.size()), arguments.data(), display);
}

}  // namespace

TEST_CASE("a file is shown in a window, or drawn, from where the options say") {
  const ClassifyShop shop;
  write_text(shop / "ball.xyz", sphere_xyz(1.0, 60));
  RememberingDisplay display;
  REQUIRE(run_with(display, {(shop / "ball.xyz").string()}) == 0);
  CHECK(display.shown == 1);
  CHECK(display.title == "height");
  REQUIRE(run_with(display, {(shop / "ball.xyz").string(), "--screenshot", "x.png", "--view", "10,-20,2", "--colour",
                             "normals"}) == 0);
  CHECK(display.shown == 1);
  CHECK(display.points == 60);
  CHECK(display.cameras.at(0).azimuth == 10);
  CHECK(display.cameras.at(0).distance == 2);
  CHECK(display.files.at(0) == "x.png");
  REQUIRE(run_with(display, {(shop / "ball.xyz").string(), "--frame-rate"}) == 0);
  CHECK(display.measured == 1);
  const std::string cube = (shop.data() / "test" / "cube" / "cube_5.off").string();
  REQUIRE(run_with(display, {cube, "--points", "77", "--screenshot", "x.png"}) == 0);
  CHECK(display.points == 77);
}

TEST_CASE("molecules of one's own are drawn in the plane, from the front, with what a model predicts") {
  if (!has_rdkit()) return;
  const GraphShop shop;
  write_text(shop / "mine.smi", "CCO ethanol\nc1ccccc1C(=O)O\n");
  const std::string file = (shop / "mine.smi").string();
  RememberingDisplay display;
  REQUIRE(run_with(display, {"--graph", "--smiles", "CCO", "--smiles", "C", "--screenshot", "x.png"}) == 0);
  CHECK((display.points == 3 && display.cameras.at(0).azimuth == 0 && display.cameras.at(0).elevation == 0));
  REQUIRE(run_with(display, {"--graph", file, "--item", "1", "--screenshot", "x.png", "--view", "10,20"}) == 0);
  CHECK((display.points == 9 && display.cameras.at(0).azimuth == 10));
  write_text(shop / "train.csv", "drug,active\nCCO,1\nCCN,0\nCCC,1\nCC,0\nCCCC,1\nCCCN,0\n");
  shop.run_well(shop.train("run", {"--data", (shop / "train.csv").string(), "--split", "folds", "--folds", "2"}));
  const Words run = {"--graph", "--run", (shop / "run").string(), "--ply", (shop / "p.ply").string()};
  const ProcessResult told = run_view_tool(run + Words{file}, shop.process());
  CHECK_THAT(told.out, Catch::Contains("CCO ethanol") && Catch::Contains("active"));
  CHECK(told.exit == 0);
  require_view_failure(run_view_tool({"--graph", "--data", file, "--ply", "x.ply"}, shop.process()), 1,
                       {"mine.smi", "with labels", "SMILES without"});
  require_view_failure(run_view_tool({"--graph", file, "--smiles", "C", "--ply", "x.ply"}, shop.process()), 2,
                       {"one FILE, or --smiles"});
}

TEST_CASE("points without finite coordinates of a dataset are left out where the options ask for it") {
  const ClassifyShop shop;
  RememberingDisplay display;
  const std::string run = shop.trained();
  write_text(shop.data() / "test" / "sphere" / "a_hole.xyz", sphere_xyz(1.0) + "nan nan nan 0 0 1\n");
  const Words hole = {"--run", run, "--item", "2", "--ply", (shop / "x.ply").string()};
  CHECK(run_with(display, hole + Words{"--drop-invalid"}) == 0);
  CHECK_THROWS_WITH(run_with(display, hole), Catch::Contains("a_hole.xyz") && Catch::Contains("--drop-invalid"));
}

TEST_CASE("a turntable goes round once") {
  const std::vector<Camera> cameras = turntable({30, 10, 1}, 4);
  REQUIRE(cameras.size() == 4);
  CHECK(cameras[0].azimuth == 30);
  CHECK(cameras[3].azimuth == Approx(300));
  CHECK(cameras[3].elevation == 10);
  const ClassifyShop shop;
  write_text(shop / "ball.xyz", sphere_xyz(1.0, 60));
  RememberingDisplay display;
  REQUIRE(run_with(display, {(shop / "ball.xyz").string(), "--turntable", (shop / "turn").string(), "--frames", "3"}) ==
          0);
  REQUIRE(display.files.size() == 3);
  CHECK(display.files[2].filename() == "frame_0002.png");
}

TEST_CASE("a contact sheet is drawn from an item on, and said line by line") {
  const ClassifyShop shop;
  RememberingDisplay display;
  const Words run = {"--run", shop.trained(), "--item", "1", "--grid", "3x1", "--view", "10,-20"};
  REQUIRE(run_with(display, run + Words{"--screenshot", "x.png", "--colour", "attention"}) == 0);
  REQUIRE(display.sheet.scenes.size() == 3);
  CHECK(display.sheet.grid.columns == 3);
  CHECK(display.cameras.at(0).azimuth == 10);
  CHECK(display.files.at(0) == "x.png");
  const auto refuse = [&](const Words& words, const std::string& expected) {
    INFO(expected);
    CHECK_THROWS_WITH(run_with(display, run + words), Catch::Contains(expected));
  };
  refuse({}, "--grid is for --screenshot and --html");
  const Words drawn = {"--screenshot", "x.png"};
  refuse(drawn + Words{"--beside"}, "--beside is for one picture");
  refuse(drawn + Words{"--ply", (shop / "x.ply").string()}, "--ply is for one item");
  refuse(drawn + Words{"--query", "3"}, "--query is for --colour attention");
}

TEST_CASE("an animation shows the layers in turn, the head last, and needs a colouring that has some") {
  const ClassifyShop shop;
  write_text(shop / "ball.xyz", sphere_xyz(1.0, 100));
  RememberingDisplay display;
  const std::string film = (shop / "film.gif").string(), ball = (shop / "ball.xyz").string();
  const Words of_run = {"--run", shop.trained(), ball, "--animation"};
  // What is drawn here is no picture, so that the program that joins the frames fails.
  CHECK_THROWS_WITH(run_with(display, of_run + Words{film, "--colour", "samples"}), Catch::StartsWith("--animation: "));
  REQUIRE(display.titles.size() == 2);
  CHECK_THAT(display.titles[0], Catch::Contains("layer 1"));
  CHECK_THAT(display.titles[1], Catch::Contains("head"));
  CHECK(display.files[1].filename() == "frame_0001.png");
  CHECK_FALSE(std::filesystem::exists(film));
  CHECK_THROWS_WITH(run_with(display, of_run + Words{film, "--colour", "height"}),
                    Catch::Contains("--animation") && Catch::Contains("not height"));
  CHECK_THROWS_WITH(run_with(display, of_run + Words{(shop / "film.avi").string()}), Catch::Contains(".webm or .mp4"));
}

TEST_CASE("the coloured points are written without a display, and so are graphs with their edges") {
  const ClassifyShop shop;
  const Environment nowhere("DISPLAY", std::nullopt);
  const std::string run = shop.trained();
  const Words item = {"--run", run, "--item", "1", "--colour", "attention", "--query", "3", "--head", "2"};
  const ProcessResult cloud = run_view_tool(item + Words{"--ply", (shop / "a.ply").string()}, shop.process());
  INFO(cloud.err);
  REQUIRE(cloud.exit == 0);
  CHECK_THAT(cloud.out, Catch::Contains("predicted: ") && Catch::Contains("is: "));
  CHECK_THAT(read_file(shop / "a.ply"),
             Catch::Contains("element vertex 64\n") && Catch::Contains("property float value"));
  const GraphShop graphs;
  const Words graph = {"--graph", "--run", graphs.trained(), "--item", "2", "--colour", "importance"};
  const ProcessResult nodes = run_view_tool(graph + Words{"--ply", (shop / "g.ply").string()}, shop.process());
  INFO(nodes.err);
  REQUIRE(nodes.exit == 0);
  CHECK_THAT(read_file(shop / "g.ply"), Catch::Contains("element edge "));
}

TEST_CASE("runs whose attention is over all tokens can be looked into") {
  const ClassifyShop shop;
  shop.run_well(shop.train("linear", {"--attention", "linear_sh", "--epochs", "1"}));
  const auto looked = [&](const Words& words) {
    return run_view_tool(words + Words{"--ply", (shop / "a.ply").string()}, shop.process());
  };
  const Words cloud = {"--run", (shop / "linear").string(), "--item", "1", "--colour"};
  for (const char* colour : {"attention", "diversity", "importance"}) {
    const ProcessResult result = looked(cloud + Words{colour});
    INFO(result.err);
    CHECK(result.exit == 0);
  }
  const GraphShop graphs;
  graphs.run_well(graphs.train("softmax", {"--attention", "softmax", "--epochs", "1"}));
  const Words graph = {"--graph", "--run", (graphs / "softmax").string(), "--item", "2"};
  CHECK(looked(graph).exit == 0);
  require_view_failure(looked(graph + Words{"--colour", "importance"}), 2, {"--colour importance", "does not sample"});
}

TEST_CASE("a run of parts shows them, by default, of a set's item or of a file of a class") {
  const ClassifyShop shop;
  const SegmentShop parts;
  const Environment nowhere("DISPLAY", std::nullopt);
  write_text(shop / "ball.xyz", sphere_xyz(1.0, 60));
  const std::string run = parts.trained(), ball = (shop / "ball.xyz").string();
  const auto looked = [&](const Words& words) {
    return run_view_tool(words + Words{"--ply", (shop / "p.ply").string()}, parts.process());
  };
  const ProcessResult item = looked({"--run", run, "--item", "1"});
  INFO(item.err);
  REQUIRE(item.exit == 0);
  CHECK_THAT(item.out, Catch::Contains("is: mug") && Catch::Contains("parts, mean probability") &&
                           Catch::Contains("of the points right"));
  CHECK_THAT(read_file(shop / "p.ply"),
             Catch::Contains("element vertex 64\n") && Catch::Contains("property int part\n"));
  REQUIRE(looked({"--run", run, ball, "--category", "lamp", "--points", "40", "--colour", "attention"}).exit == 0);
  CHECK_THAT(read_file(shop / "p.ply"), Catch::Contains("element vertex 40\n"));
  require_view_failure(looked({"--run", run, ball}), 2, {"--category is required", "lamp mug"});
  require_view_failure(looked({"--run", run, "--item", "4"}), 2, {"--item", "0 … 3", "found 4"});
  require_view_failure(looked({"--run", run, "--colour", "samples", "--layer", "0"}), 2, {"--layer", "1 … 1"});
  require_view_failure(looked({"--run", run, "--graph"}), 1, {"geosft-segment"});
  // Labelled parts need no model.
  const ProcessResult labelled = looked({"--data", parts.data().string(), "--item", "1"});
  REQUIRE(labelled.exit == 0);
  CHECK_THAT(labelled.out, Catch::Contains("is: mug") && !Catch::Contains("predicted"));
  CHECK_THAT(read_file(shop / "p.ply"),
             Catch::Contains("element vertex 64\n") && Catch::Contains("property int part\n"));
  require_view_failure(looked({"--data", parts.data().string(), "--colour", "parts"}), 2, {"--colour parts"});
  write_labelled_tree(shop / "tree");
  CHECK_THAT(looked({"--data", (shop / "tree").string(), "--item", "1"}).out, Catch::Contains("is: mug"));
  CHECK_THAT(read_file(shop / "p.ply"),
             Catch::Contains("element vertex 57\n") && Catch::Contains("property int part\n"));
  require_view_failure(looked({ball, "--colour", "true_parts"}), 2, {"labelled parts"});
  const std::string classifier = shop.trained();
  const Words no_parts = {"--run", classifier, "--colour", "parts", "--ply", (shop / "p.ply").string()};
  require_view_failure(run_view_tool(no_parts, shop.process()), 2, {"--colour parts", "geosft-segment"});
  require_view_failure(looked({ball, "--colour", "parts"}), 2, {"--colour parts", "geosft-segment"});
  require_view_failure(looked({"--run", classifier, "--category", "lamp"}), 2, {"--category", "geosft-segment"});
}

TEST_CASE("what cannot be looked at is refused in one line") {
  const ClassifyShop shop;
  const Environment nowhere("DISPLAY", std::nullopt);
  const std::string run = shop.trained(), picture = (shop / "x.png").string();
  const auto refuse = [&](const Words& words, int exit, const Words& expected) {
    require_view_failure(run_view_tool(words + Words{"--screenshot", picture}, shop.process()), exit, expected);
  };
  const Words first = {"--run", run, "--item", "0"};
  refuse({"--run", (shop / "absent").string()}, 2, {"--run", "absent"});
  refuse({"--run", run, "--item", "600"}, 2, {"--item", "0 … 5", "600"});
  refuse(first + Words{"--colour", "attention", "--query", "64"}, 2, {"--query", "0 … 63", "64"});
  refuse(first + Words{"--colour", "attention", "--head", "3"}, 2, {"--head", "0 … 2", "3"});
  refuse(first + Words{"--layer", "2"}, 2, {"--layer", "0 … 1", "2"});
  refuse(first + Words{"--colour", "jet"}, 2, {"--colour", "importance", "jet"});
  refuse(first + Words{"--device", "cuda:99"}, 2, {"--device cuda:99"});
  refuse({}, 2, {"nothing to look at"});
  refuse({"--run", run, "--graph"}, 1, {run});
  refuse({(shop / "absent.off").string()}, 1, {"absent.off"});
  const std::string cube = (shop.data() / "test" / "cube" / "cube_5.off").string();
  refuse({cube, "--colour", "importance"}, 2, {"--run RUN"});
  refuse({cube, "--head", "1"}, 2, {"--head is for --colour attention", "height"});
  refuse({cube, "--layout", "spring"}, 2, {"--layout is for --graph"});
  refuse({cube, "--view", "1,2,3,4"}, 2, {"--view"});
  refuse({cube, "--size", "0x9"}, 2, {"--size"});
  refuse({cube, "--ply", (shop / "no" / "x.ply").string()}, 2, {"--ply", "there is no folder"});
  const GraphShop graphs;
  const Words graph = {"--graph", "--data", graphs.data().string()};
  refuse(graph + Words{"--item", "24"}, 2, {"--item", "0 … 23", "24"});
  refuse(graph + Words{"--item", "2", "--component", "9"}, 2, {"--component", "1 … 8", "9"});
  refuse(graph + Words{"--item", "2", "--layout", "coordinates"}, 2, {"--layout coordinates"});
  refuse(graph + Words{"--beside"}, 2, {"--beside"});
  CHECK_FALSE(std::filesystem::exists(picture));
}

TEST_CASE("options that what is looked at does not use are refused, with what they are for") {
  const ClassifyShop shop;
  const GraphShop graphs;
  const SegmentShop parts;
  const auto refuse = [](const Words& words, const std::string& expected) {
    RememberingDisplay display;
    INFO(expected);
    CHECK_THROWS_WITH(run_with(display, words), Catch::Contains(expected));
    CHECK(display.files.empty());
  };
  const Words file = {(shop.data() / "test" / "cube" / "cube_5.off").string(), "--screenshot", "x.png"};
  refuse(file + Words{"--split", "train"}, "--split is for clouds of a dataset");
  refuse(file + Words{"--layout", "spring"}, "--layout is for --graph");
  refuse(file + Words{"--votes", "3"}, "--votes is for a --run");
  refuse(file + Words{"--evaluation", "greedy"}, "--evaluation is for a --run");
  refuse(file + Words{"--frames", "9"}, "--frames is for --turntable");
  refuse(file + Words{"--head", "1"}, "--head is for --colour attention, not for height");
  refuse(file + Words{"--colour", "normals", "--map", "cividis"}, "--map is for --colour height, importance,");
  const Words coloured = {file.front(), "--ply", (shop / "x.ply").string()};
  refuse(coloured + Words{"--size", "80x60"}, "--size is for pictures and windows");
  refuse(coloured + Words{"--view", "10,20"}, "--view is for pictures, pages and windows");
  CHECK_FALSE(std::filesystem::exists(shop / "x.ply"));
  const Words run = {"--run", shop.trained(), "--item", "0", "--screenshot", "x.png"};
  refuse(run + Words{"--query", "3"}, "--query is for --colour attention, not for importance");
  refuse(run + Words{"--colour", "attention", "--component", "3"}, "--component is for --colour walks");
  refuse(file + Words{"--test-every", "2"}, "--test-every is for clouds of a folder of classes");
  const Words graph = {"--graph", "--data", graphs.data().string(), "--item", "2", "--screenshot", "x.png"};
  refuse(graph + Words{"--columns", "x,y,z"}, "--columns is for clouds, not for --graph");
  refuse(graph + Words{"--points", "9"}, "--points is for clouds, not for --graph");
  refuse(graph + Words{"--split", "train"}, "--split is for clouds of a dataset");
  refuse(graph + Words{"--layer", "1"},
         "--layer is for --colour importance, samples, attention, diversity, not for walks");
  const Words segmented = {"--run", parts.trained(), "--item", "1", "--screenshot", "x.png"};
  refuse(segmented + Words{"--category", "mug"}, "--category is for a FILE with a --run of geosft-segment");
  const Words arrays = {"--data", parts.data().string(), "--item", "1", "--screenshot", "x.png"};
  refuse(arrays + Words{"--columns", "x,y,z"}, "--columns is for tables of text and NumPy arrays, not for ");
  refuse(arrays + Words{"--drop-invalid"}, "--drop-invalid is for files of points, not for ");
}

}  // namespace geosft::test::test_view_command
