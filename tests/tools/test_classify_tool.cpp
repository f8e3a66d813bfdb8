// SPDX-License-Identifier: Apache-2.0
// The tool end to end: train, eval, predict, info.
#include <catch2/catch.hpp>

#include "tests/tools/classify_tool.h"

namespace geosft::test::test_classify_tool {

namespace fs = std::filesystem;

namespace {

bool has_gnuplot() {
  return std::system("command -v gnuplot >/dev/null 2>&1") == 0;
}

void check_evaluation(const nlohmann::json& result, const std::string& rotation, int64_t repeats) {
  CHECK(result.at("task") == "classification");
  CHECK(result.at("split") == "test");
  CHECK(result.at("count") == 6);
  CHECK(result.at("rotation") == rotation);
  CHECK(result.at("repeats") == repeats);
  for (const char* share : {"accuracy", "mean_class_accuracy"}) {
    CHECK(result.at("metrics").at(share) >= 0.0);
    CHECK(result.at("metrics").at(share) <= 1.0);
  }
  CHECK(result.at("metrics").at("loss") > 0.0);
  CHECK(result.at("max_logit_difference").is_number());
}

}  // namespace

TEST_CASE("train leaves a complete run and prints the evaluation") {
  const Workshop shop;
  const ProcessResult result = shop.run_well(shop.train("run", {"--json", "--validation-fraction", "0.2"}));
  const Words printed = lines_of(result.out);
  REQUIRE(printed.size() == 1);
  check_evaluation(nlohmann::json::parse(printed[0]), "none", 1);
  const fs::path run = shop / "run";
  for (const char* name : {"config.toml", "classes.txt", "metrics.csv", "best.ckpt", "last.ckpt", "version"}) {
    CHECK(fs::file_size(run / name) > 0);
  }
  CHECK(read_text(run / "classes.txt") == "cube\nsphere\ntetrahedron\n");
  CHECK(read_text(run / "result.json") == printed[0] + "\n");
  CHECK_THAT(read_text(run / "config.toml"), Catch::Contains("width = 16") && Catch::Contains("seed = 3"));
  CHECK(lines_of(read_text(run / "metrics.csv")).size() == 1 + 3 + 1);
  if (!has_gnuplot()) WARN("no gnuplot: the pictures are not tested");
  for (const char* name : {"learning_curves.png", "learning_curves.svg", "confusion_none.png", "confusion_none.svg"}) {
    CHECK(fs::exists(run / name) == has_gnuplot());
  }
}

TEST_CASE("a run needs its folder alone to be trained again") {
  const Workshop shop;
  const fs::path config = fs::path(shop.trained()) / "config.toml";
  shop.run_well({"train", "--config", config.string(), "--out", (shop / "again").string()});
  CHECK(read_text(shop / "again" / "config.toml") == read_text(config));
  CHECK(read_text(shop / "again" / "best.ckpt") == read_text(fs::path(shop.trained()) / "best.ckpt"));
}

TEST_CASE("eval measures a run upright and rotated") {
  const Workshop shop;
  const std::string run = shop.trained();
  const auto evaluate = [&](const std::string& rotation, const std::string& repeats) {
    const ProcessResult result = shop.run_well({"eval", run, "--rotate", rotation, "--repeats", repeats, "--json"});
    REQUIRE(lines_of(result.out).size() == 1);
    return nlohmann::json::parse(result.out);
  };
  const nlohmann::json upright = evaluate("none", "1"), z = evaluate("z", "2"), so3 = evaluate("so3", "3");
  check_evaluation(upright, "none", 1);
  check_evaluation(z, "z", 2);
  check_evaluation(so3, "so3", 3);
  CHECK(upright.at("metrics") == nlohmann::json::parse(read_text(fs::path(run) / "result.json")).at("metrics"));
  for (const nlohmann::json& rotated : {z, so3}) {
    CHECK(rotated.at("metrics").at("accuracy") == upright.at("metrics").at("accuracy"));
    CHECK(rotated.at("max_unflipped_difference") < 1e-3);
    CHECK(rotated.at("prediction_agreement") == 1.0);
  }
  const std::string text = shop.run_well({"eval", run}).out;
  for (const char* word : {"6 clouds of the test set, upright", "accuracy", "cube", "sphere", "tetrahedron"}) {
    CHECK_THAT(text, Catch::Contains(word));
  }
  const std::string train = shop.run_well({"eval", run, "--split", "train", "--json", "--points", "32"}).out;
  CHECK(nlohmann::json::parse(train).at("count") == 15);
}

TEST_CASE("a model of absolute coordinates is seen to depend on the pose") {
  const Workshop shop;
  shop.run_well(shop.train("run", {"--tokens", "absolute", "--epochs", "1"}));
  const std::string out = shop.run_well({"eval", (shop / "run").string(), "--rotate", "so3", "--json"}).out;
  CHECK(nlohmann::json::parse(out).at("max_logit_difference") > 1e-2);
  CHECK(nlohmann::json::parse(out).at("flipped_share") > 0.5);
}

TEST_CASE("predict ranks the classes of every file") {
  const Workshop shop;
  const std::string run = shop.trained();
  const Words files = {(shop.data() / "test" / "cube" / "cube_5.off").string(),
                       (shop.data() / "test" / "sphere" / "sphere_6.xyz").string(), (shop / "bare.xyz").string()};
  write_text(files[2], sphere_xyz(1.0, 300, /*normals=*/false));
  const Words lines = lines_of(shop.run_well(Words{"predict", run} + files + Words{"--json", "--top", "2"}).out);
  REQUIRE(lines.size() == files.size());
  for (size_t i = 0; i < files.size(); ++i) {
    const nlohmann::json result = nlohmann::json::parse(lines[i]);
    CHECK(result.at("file") == files[i]);
    const nlohmann::json top = result.at("top");
    REQUIRE(top.size() == 2);
    CHECK(top[0][0] == result.at("class"));
    CHECK(top[0][1] == result.at("probability"));
    CHECK(top[0][1] >= top[1][1]);
    CHECK(top[0][1].get<double>() + top[1][1].get<double>() <= Approx(1.0));
  }
  const Words text = lines_of(shop.run_well(Words{"predict", run} + files).out);
  REQUIRE(text.size() == files.size());
  CHECK_THAT(text[0], Catch::StartsWith(files[0] + ":") && Catch::Contains("sphere") && Catch::Contains(" %"));
}

TEST_CASE("predict draws the importance of the points") {
  const Workshop shop;
  if (!has_gnuplot()) {
    WARN("no gnuplot: skipped");
    return;
  }
  const std::string file = (shop.data() / "test" / "cube" / "cube_5.off").string();
  shop.run_well({"predict", shop.trained(), file, "--picture", (shop / "cube").string()});
  CHECK(fs::file_size(shop / "cube.png") > 1000);
  CHECK(fs::file_size(shop / "cube.svg") > 1000);
}

TEST_CASE("degenerate clouds are classified all the same") {
  const Workshop shop;
  write_text(shop / "one.xyz", "1 2 3\n");
  write_text(shop / "equal.xyz", "1 2 3\n1 2 3\n1 2 3\n1 2 3\n1 2 3\n");
  write_text(shop / "line.xyz", "0 0 0\n1 1 1\n2 2 2\n3 3 3\n");
  const Words files = {(shop / "one.xyz").string(), (shop / "equal.xyz").string(), (shop / "line.xyz").string()};
  const Words lines = lines_of(shop.run_well(Words{"predict", shop.trained(), "--json"} + files).out);
  REQUIRE(lines.size() == 3);
  for (const std::string& line : lines) CHECK(nlohmann::json::parse(line).at("probability").is_number());
}

TEST_CASE("info describes runs, checkpoints and shapes") {
  const Workshop shop;
  const std::string run = shop.trained();
  for (const std::string& what : {run, run + "/last.ckpt"}) {
    CHECK_THAT(shop.run_well({"info", what}).out,
               Catch::Contains("width = 16") && Catch::Contains("cube sphere tetrahedron"));
  }
  const std::string mesh = shop.run_well({"info", (shop.data() / "test" / "cube" / "cube_5.off").string()}).out;
  CHECK_THAT(mesh, Catch::Contains("8 vertices and 12 triangles") && Catch::Contains("z from 0 to 1.3"));
  const std::string cloud = shop.run_well({"info", (shop.data() / "test" / "sphere" / "sphere_5.xyz").string()}).out;
  CHECK_THAT(cloud, Catch::Contains("200 points with normals"));
}

TEST_CASE("help fits a screen a verb") {
  const Workshop shop;
  for (const Words& verb : {Words{}, Words{"train"}, Words{"eval"}, Words{"predict"}, Words{"info"}}) {
    const ProcessResult result = shop.run_well(verb + Words{"--help"});
    CHECK(lines_of(result.out).size() > 5);
    CHECK(lines_of(result.out).size() <= 40);
    CHECK(result.err.empty());
  }
  CHECK_THAT(shop.run_well({"--version"}).out, Catch::StartsWith("geosft "));
  const std::string keys = shop.run_well({"train", "--list-keys"}).out;
  for (const char* key : {"--learning-rate", "--points-per-mesh", "--votes"}) CHECK_THAT(keys, Catch::Contains(key));
}

TEST_CASE("train works on the furniture set") {
  if (!fs::exists("/usr/share/sweethome3d")) {
    WARN("the package sweethome3d-furniture is not installed: skipped");
    return;
  }
  const TemporaryFolder folder;
  const Words model = {"--width", "16", "--heads", "2", "--layers", "1", "--bins", "16", "--head-bins", "32"};
  const ProcessResult result = run_process(
      GEOSFT_CLASSIFY,
      Words{"train", "--out", (folder / "run").string(), "--epochs", "2", "--points", "64", "--json"} + model);
  INFO(result.err);
  REQUIRE(result.exit == 0);
  CHECK(nlohmann::json::parse(result.out).at("count") > 50);
}

}  // namespace geosft::test::test_classify_tool
