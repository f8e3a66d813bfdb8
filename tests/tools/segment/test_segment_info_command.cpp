// SPDX-License-Identifier: Apache-2.0
// geosft-segment info, and what all its subcommands share.
#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/tools/segment/segment_tool.h"

namespace geosft::test::test_segment_info_command {

TEST_CASE("info of geosft-segment describes runs, datasets and files") {
  const SegmentShop shop;
  shop.require_info({"dim = 16", "2 classes, 5 parts", "mug: 3 cup 4 base"});
  CHECK_THAT(shop.run_well({"info", shop.data().string()}).out,
             Catch::StartsWith("8 shapes to train with, 4 to test with, with normals\n"));
  // Normals of one split alone are not those of all.
  write_part_set(shop / "bare", 6, 4, 64, /*with_normals=*/false);
  write_part_set(shop / "mixed", 6, 4, 64);
  const auto described = [&](const std::string& bare) {
    const std::string file = "ply_data_" + bare + "0.h5";
    std::filesystem::copy_file(shop / "bare" / file, shop / "mixed" / file,
                               std::filesystem::copy_options::overwrite_existing);
    return shop.run_well({"info", (shop / "mixed").string()}).out;
  };
  CHECK_THAT(described("test"), Catch::Contains(", with normals to train with alone\n"));
  CHECK_FALSE(nlohmann::json::parse(shop.run_well({"info", "--json", (shop / "mixed").string()}).out)
                  .at("normals")
                  .get<bool>());
  CHECK_THAT(described("train"), Catch::Contains(", without normals\n"));
  write_shapenet_text(shop / "text");
  CHECK_THAT(shop.run_well({"info", (shop / "text").string()}).out,
             Catch::StartsWith("3 shapes to train with, 1 to validate with, 1 to test with, with normals\n"));
  write_text(shop / "a.obj", tetrahedron_obj);
  CHECK_THAT(shop.run_well({"info", (shop / "a.obj").string(), "--seed", "1"}).out, Catch::Contains("4 vertices"));
  shop.refuses({"info", (shop / "none.obj").string()}, 1, {"none.obj"});
}

TEST_CASE("info of geosft-segment prints JSON") {
  const SegmentShop shop;
  const nlohmann::json run = nlohmann::json::parse(shop.run_well({"info", "--json", shop.trained()}).out);
  REQUIRE(run.at("classes") == nlohmann::json{"lamp", "mug"});
  REQUIRE(run.at("parts")[3] == nlohmann::json{{"id", 3}, {"class", "mug"}, {"part", "cup"}});
  const nlohmann::json data = nlohmann::json::parse(shop.run_well({"info", "--json", shop.data().string()}).out);
  REQUIRE(data.at("train") == 8);
  REQUIRE(data.at("test") == 4);
  REQUIRE(data.at("parts").size() == 5);
  REQUIRE_FALSE(data.contains("validation"));
  write_shapenet_text(shop / "text");
  REQUIRE(nlohmann::json::parse(shop.run_well({"info", "--json", (shop / "text").string()}).out).at("validation") == 1);
}

TEST_CASE("help of geosft-segment fits a screen a subcommand, and wrong use ends with 2") {
  const SegmentShop shop;
  shop.require_help({"train", "eval", "predict", "info"}, {"--block", "--category", "--published-validation"});
  shop.refuses(shop.train("run", {"--blok", "3"}), 2, {"'--blok'", "'--block'"});
}

}  // namespace geosft::test::test_segment_info_command
