// SPDX-License-Identifier: Apache-2.0
// geosft-segment info, and what all its subcommands share.
#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/tools/segment/segment_tool.h"

namespace geosft::test::test_segment_info_command {

TEST_CASE("info of geosft-segment describes runs, datasets and files") {
  const SegmentShop shop;
  shop.require_info({"dim = 16", "2 classes, 5 parts", "mug: 3 cup, 4 base"});
  CHECK_THAT(shop.run_well({"info", shop.data().string()}).out,
             Catch::StartsWith("8 shapes to train with, 4 to test with, with normals\n"));
  for (const Words& option : {Words{"--columns", "x,y,z"}, Words{"--drop-invalid"}}) {
    shop.refuses(Words{"info", shop.data().string()} + option, 2, {option.front() + " is for", "not for "});
  }
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

TEST_CASE("info --check of geosft-segment tells parts without points and test clouds that are training clouds") {
  const SegmentShop shop;
  const auto said = [&](const Words& more) { return shop.run_well(Words{"info", shop.data().string()} + more).out; };
  CHECK_THAT(said({"--check"}), !Catch::Contains("have the coordinates") && !Catch::Contains("no point"));
  std::filesystem::copy_file(shop.data() / "ply_data_train0.h5", shop.data() / "ply_data_test0.h5",
                             std::filesystem::copy_options::overwrite_existing);
  const std::string copies = ": 8 of the 8 clouds to test with have the coordinates of one to train with\n";
  CHECK_THAT(said({"--check"}), Catch::Contains(copies));
  CHECK_THAT(said({}), !Catch::Contains(copies));
  CHECK_THAT(shop.run_well(shop.train("run", {"--validation-fraction", "0.25"})).err,
             Catch::Contains("(8 of them also train the model or choose its checkpoint)"));
  write_hdf5(shop.data() / "ply_data_test0.h5", PartClouds(2, 64, 11).arrays());
  write_hdf5(shop.data() / "ply_data_val0.h5", PartClouds(3, 64, 11).arrays());
  CHECK_THAT(said({"--check"}), Catch::Contains(": 2 of the 2 clouds to test with have the coordinates"));
  write_text(shop.data() / "parts.txt", read_text(shop.data() / "parts.txt") + "5 mug handle\n");
  CHECK_THAT(said({"--check"}), Catch::Contains("(train): 1 of 6 parts has no point: mug handle"));
  CHECK_THAT(said({}), !Catch::Contains("no point"));
}

TEST_CASE("info --check of geosft-segment counts the points without a label") {
  const SegmentShop shop;
  write_hdf5(shop.data() / "ply_data_test0.h5", PartClouds(4, 63, 5).remove_labels().arrays());
  const Words words = {"info", shop.data().string()};
  const std::string said = "(test): 126 of 252 points have no label, and 1 of 4 clouds has no labelled point";
  const std::string checked = shop.run_well(words + Words{"--check"}).out;
  CHECK_THAT(checked, Catch::Contains(said));
  CHECK(count_of(checked, " no label") == 2);  // in this line alone
  CHECK_THAT(shop.run_well(words).out, !Catch::Contains("no label"));
  const auto json = nlohmann::json::parse(shop.run_well(words + Words{"--check", "--json"}).out);
  CHECK(json.at("unlabelled_points") == nlohmann::json{{"train", 0}, {"test", 126}});
  CHECK_FALSE(nlohmann::json::parse(shop.run_well(words + Words{"--json"}).out).contains("unlabelled_points"));
  PartClouds none(4, 63, 5);
  none.parts.fill_(unlabelled_part);
  write_hdf5(shop.data() / "ply_data_test0.h5", none.arrays());
  const std::string bare = shop.run_well(words + Words{"--check"}).out;
  CHECK_THAT(bare, Catch::Contains("(test): none of its 252 points has a label: the parts can only be predicted"));
  CHECK_THAT(bare, !Catch::Contains("has no") && !Catch::Contains("have no"));  // nor are all its parts listed
}

TEST_CASE("info --check of geosft-segment checks clouds without parts, and names their split") {
  const SegmentShop shop;
  std::map<std::string, at::Tensor> arrays = PartClouds(8, 64, 1).arrays();  // the clouds to train with
  arrays.erase("pid");
  write_hdf5(shop.data() / "ply_data_test0.h5", arrays);
  const std::string bare = shop.data().string() + " (test): its files have no array pid: the parts can only be";
  for (const Words& more : {Words{}, Words{"--check"}}) {
    const std::string said = shop.run_well(Words{"info", shop.data().string()} + more).out;
    CHECK_THAT(said, Catch::Contains(bare) && !Catch::Contains("(train): its files"));
    const bool checked = said.find("8 of the 8 clouds to test with have the coordinates") != std::string::npos;
    CHECK(checked == !more.empty());
  }
}

TEST_CASE("info of geosft-segment prints JSON") {
  const SegmentShop shop;
  const nlohmann::json run = nlohmann::json::parse(shop.run_well({"info", "--json", shop.trained()}).out);
  REQUIRE(run.at("classes") == nlohmann::json{"lamp", "mug"});
  REQUIRE(run.at("parts")[3] == nlohmann::json{{"id", 3}, {"class", "mug"}, {"label", 3}, {"part", "cup"}});
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
