// SPDX-License-Identifier: Apache-2.0
// geosft-segment predict, end to end.
#include <catch2/catch.hpp>

#include "data/formats/ply.h"
#include "tests/tools/segment/segment_tool.h"

namespace geosft::test::test_segment_predict_command {
namespace {

std::string line_of_points(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += std::to_string(i * 0.01) + " " + std::to_string(i % 7 * 0.05) + " 0.5 0 0 1\n";
  }
  return text;
}

}  // namespace

TEST_CASE("parts of a file are printed, and written for viewers and programs") {
  const SegmentShop shop;
  const std::string run = shop.trained(), cloud = (shop / "cloud.xyz").string();
  write_text(cloud, line_of_points(90));
  const std::string ply = (shop / "out.ply").string(), labels = (shop / "out.txt").string();
  const ProcessResult result =
      shop.run_well({"predict", run, cloud, "--category", "mug", "--ply", ply, "--labels", labels, "--json"});
  const nlohmann::json json = nlohmann::json::parse(result.out);
  CHECK(json.at("file") == cloud);
  CHECK(json.at("points") == 90);
  int64_t total = 0;
  for (const auto& part : json.at("parts")) {
    CHECK_THAT(part.at("part").get<std::string>(), Catch::StartsWith("mug/"));
    total += part.at("points").get<int64_t>();
  }
  CHECK(total == 90);
  const Words lines = lines_of(read_text(labels));
  REQUIRE(lines.size() == 90);
  CHECK(std::all_of(lines.begin(), lines.end(), [](const std::string& line) { return line == "3" || line == "4"; }));
  const std::string bytes = read_text(ply);
  CHECK_THAT(bytes, Catch::Contains("property uchar red\n") && Catch::Contains("property int part\n"));
  const FileShape shape = read_ply(bytes, ply);
  REQUIRE(shape.mesh.vertices.size(0) == 90);
  const size_t row = bytes.find("end_header\n") + 11;
  for (size_t i = 0; i < 90; ++i) {
    CHECK(shape.mesh.vertices[static_cast<int64_t>(i)][0].item<double>() == Approx(0.01 * static_cast<double>(i)));
    CHECK(bytes.substr(row + 19 * i + 15, 4) == raw<int32_t>(std::stoi(lines[i])));
  }
  const std::string picture = (shop / "parts").string();
  CHECK_THAT(shop.run_well({"predict", run, cloud, cloud, "--category", "lamp", "--picture", picture}).out,
             Catch::Contains("cloud.xyz: 90 points:  lamp/"));
  CHECK(std::filesystem::exists(picture + ".png") == has_gnuplot());
}

TEST_CASE("a cloud is labelled in blocks, each point once") {
  const SegmentShop shop;
  const std::string run = shop.trained(), cloud = (shop / "cloud.xyz").string();
  write_text(cloud, line_of_points(900));
  const Words common = {"predict", run, cloud, "--category", "mug", "--labels", (shop / "out.txt").string()};
  for (const Words& block : {Words{"--block", "64"}, Words{"--block", "64", "--block-kind", "near"}}) {
    shop.run_well(common + block);
    CHECK(lines_of(read_text(shop / "out.txt")).size() == 900);
  }
}

TEST_CASE("predict of parts names what is wrong") {
  const SegmentShop shop;
  const std::string run = shop.trained(), cloud = (shop / "cloud.xyz").string();
  write_text(cloud, line_of_points(20));
  require_segment_failure(shop.run({"predict", run, cloud}), 2, {"--category is required", "lamp mug"});
  require_segment_failure(shop.run({"predict", run, cloud, "--category", "sofa"}), 2, {"sofa", "lamp mug"});
  require_segment_failure(shop.run({"predict", run, cloud, "--category", "mug", "--block-kind", "far"}), 2, {"near"});
  require_segment_failure(shop.run({"predict", run, (shop / "none.ply").string(), "--category", "mug"}), 1,
                          {"none.ply"});
}

}  // namespace geosft::test::test_segment_predict_command
