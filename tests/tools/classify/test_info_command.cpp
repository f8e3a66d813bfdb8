// SPDX-License-Identifier: Apache-2.0
// geosft-classify info, end to end.
#include <catch2/catch.hpp>

#include "tests/tools/classify/classify_tool.h"

namespace geosft::test::test_info_command {
namespace fs = std::filesystem;

TEST_CASE("info describes runs, checkpoints and shapes") {
  const ClassifyShop shop;
  shop.require_info({"dim = 16", "cube, sphere, tetrahedron"});
  CHECK_THAT(shop.run_well({"info", shop.trained()}).out,
             Catch::Contains("\nresult.json: 6 items of the test split: accuracy ") &&
                 Catch::EndsWith("; of best.ckpt, epoch 3, chosen by: last epoch\n"));
  CHECK_THAT(shop.run_well({"info", shop.trained() + "/last.ckpt"}).out, !Catch::Contains("result.json"));
  const std::string mesh = shop.run_well({"info", (shop.data() / "test" / "cube" / "cube_5.off").string()}).out;
  CHECK_THAT(mesh, Catch::Contains("8 vertices and 12 triangles") && Catch::Contains("z from 0 to 1.3"));
  const std::string cloud = shop.run_well({"info", (shop.data() / "test" / "sphere" / "sphere_5.xyz").string()}).out;
  CHECK_THAT(cloud, Catch::Contains("200 points with normals"));
}

TEST_CASE("info counts the clouds of a dataset") {
  const ClassifyShop shop;
  const std::string data = shop.data().string();
  const Words lines = lines_of(shop.run_well({"info", data}).out);
  REQUIRE(lines == Words{data + ": a folder for each class, 15 clouds to train with, 6 to test with", "3 classes:",
                         "  cube: 5 to train with, 2 to test with", "  sphere: 5 to train with, 2 to test with",
                         "  tetrahedron: 5 to train with, 2 to test with"});
  const std::string flat = (shop.data() / "train").string();
  CHECK_THAT(shop.run_well({"info", flat}).out, Catch::Contains("12 clouds to train with, 3 to test with"));
  CHECK_THAT(shop.run_well({"info", flat, "--test-every", "2"}).out,
             Catch::Contains("9 clouds to train with, 6 to test with"));
  fs::remove_all(shop.data() / "test" / "cube");
  const nlohmann::json json = nlohmann::json::parse(shop.run_well({"info", "--json", data}).out);
  REQUIRE(json.at("train") == 15);
  REQUIRE(json.at("test") == 4);
  REQUIRE(json.at("normals").is_null());
  REQUIRE(json.at("classes")[0] == nlohmann::json{{"name", "cube"}, {"train", 5}, {"test", 0}});
  REQUIRE(json.at("warnings").size() == 1);
  REQUIRE_THAT(json.at("warnings")[0].get<std::string>(), Catch::Contains("test with: cube"));
  shop.refuses({"info", (shop / "cache").parent_path().string() + "/none"}, 1,
               {"none", "RUN folder", "or a folder", "nothing of this name"});
}

TEST_CASE("info prints JSON of runs and shapes") {
  const ClassifyShop shop;
  const std::string run = shop.trained();
  const nlohmann::json trained = nlohmann::json::parse(shop.run_well({"info", "--json", run}).out);
  REQUIRE(trained.at("run") == run);
  const nlohmann::json result = nlohmann::json::parse(read_text(fs::path(run) / "result.json"));
  REQUIRE(trained.at("result") == result);
  REQUIRE(trained.at("classes") == nlohmann::json{"cube", "sphere", "tetrahedron"});
  REQUIRE(trained.at("parameters") > 100);
  REQUIRE_THAT(trained.at("config").get<std::string>(), Catch::Contains("dim = 16"));
  const std::string cube = (shop.data() / "test" / "cube" / "cube_5.off").string();
  nlohmann::json mesh = nlohmann::json::parse(shop.run_well({"info", cube, "--json"}).out);
  REQUIRE(mesh.at("surface_area").get<double>() == Approx(7.2));
  mesh.erase("surface_area");
  REQUIRE(mesh == nlohmann::json{{"file", cube},
                                 {"vertices", 8},
                                 {"triangles", 12},
                                 {"low", {0.0, 0.0, 0.0}},
                                 {"high", {1.0, 1.0, 1.3}},
                                 {"warnings", nlohmann::json::array()}});
  write_text(shop / "holes.xyz", "0 0 0\nnan 0 0\n");
  const nlohmann::json holes =
      nlohmann::json::parse(shop.run_well({"info", (shop / "holes.xyz").string(), "--json"}).out);
  REQUIRE(holes.at("warnings").size() == 1);
  REQUIRE_THAT(holes.at("warnings")[0].get<std::string>(), Catch::Contains("1 of its 2 points"));
  const std::string sphere = (shop.data() / "test" / "sphere" / "sphere_5.xyz").string();
  const nlohmann::json cloud = nlohmann::json::parse(shop.run_well({"info", sphere, "--json"}).out);
  REQUIRE(cloud.at("points") == 200);
  REQUIRE(cloud.at("normals") == true);
}

TEST_CASE("info takes the options that every command has") {
  const ClassifyShop shop;
  const std::string file = (shop.data() / "test" / "cube" / "cube_5.off").string();
  const std::string plain = shop.run_well({"info", file}).out;
  CHECK(shop.run_well({"info", file, "--threads", "1", "--seed", "7", "--device", "cpu"}).out == plain);
  shop.refuses({"info", file, "--device", "cuda"}, 2, {"cuda", "cpu"});
  shop.refuses({"info", (shop / "absent.off").string()}, 1, {"absent.off"});
}

TEST_CASE("info --check reads all files, names the broken ones and fails; without it info says that it only counts") {
  const ClassifyShop shop;
  const std::string data = shop.data().string();
  CHECK_THAT(shop.run_well({"info", data}).err, Catch::Contains("--check reads them"));
  const ProcessResult sound = shop.run_well({"info", data, "--check"});
  CHECK_THAT(sound.out, Catch::EndsWith("21 files, 0 broken\n"));
  CHECK(sound.err.empty());
  write_text(shop.data() / "train" / "cube" / "cube_1.off", "OFF\n");
  const ProcessResult broken = shop.run({"info", data, "--check"});
  CHECK(broken.exit == 1);
  CHECK_THAT(lines_of(broken.err).back(),
             Catch::StartsWith("geosft-classify: error: 1 of 21 files are broken") && Catch::Contains("--skip-broken"));
  CHECK_THAT(broken.out, Catch::Contains("cube_1.off:1: expected") && Catch::Contains("15 clouds to train with"));
  const nlohmann::json json = nlohmann::json::parse(shop.run({"info", data, "--check", "--json"}).out);
  CHECK(json.at("check").at("files") == 21);
  CHECK(json.at("check").at("broken").size() == 1);
}

}  // namespace geosft::test::test_info_command
