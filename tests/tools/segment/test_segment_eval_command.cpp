// SPDX-License-Identifier: Apache-2.0
// geosft-segment eval, end to end.
#include <catch2/catch.hpp>

#include "tests/tools/segment/segment_tool.h"

namespace geosft::test::test_segment_eval_command {

TEST_CASE("a model of parts is measured upright and rotated") {
  const SegmentShop shop;
  const std::string run = shop.trained();
  const auto evaluated = [&](const Words& words) {
    return nlohmann::json::parse(shop.run_well(Words{"eval", run, "--json"} + words).out);
  };
  const nlohmann::json upright = evaluated({}), turned = evaluated({"--rotate", "so3", "--repeats", "2"});
  CHECK(upright.at("metrics") == nlohmann::json::parse(read_text(run + "/result.json")).at("metrics"));
  CHECK(turned.at("rotation") == "so3");
  CHECK(turned.at("repeats") == 2);
  CHECK(turned.at("upright") == upright.at("metrics"));
  CHECK(turned.at("max_unflipped_difference") < 1e-4);
  CHECK(std::abs(turned.at("lost_points").get<double>()) < 1.0);
  CHECK(evaluated({"--split", "train"}).at("count") == 8);
  CHECK(evaluated({"--block", "20"}).at("metrics") != upright.at("metrics"));
  CHECK_THAT(shop.run_well({"eval", run, "--rotate", "z"}).out,
             Catch::Contains("4 clouds of the test set, rotated about z") && Catch::Contains("lost by rotating"));
}

TEST_CASE("eval of parts takes the shapes that a training held out, or those that it learned from") {
  const SegmentShop shop;
  const std::string run = (shop / "held_out").string();
  shop.run_well(shop.train("held_out") + Words{"--validation-fraction", "0.25"});
  for (const auto& [split, count] : {std::pair{"validation", 2}, {"train", 6}, {"test", 4}}) {
    INFO(split);
    CHECK(nlohmann::json::parse(shop.run_well({"eval", run, "--split", split, "--json"}).out).at("count") == count);
  }
}

TEST_CASE("eval and report of parts refuse test shapes that the training did not have, unless they are of other data") {
  const SegmentShop shop;
  const std::string run = shop.trained();
  write_part_set(shop.data(), 8, 3);
  for (const char* command : {"eval", "report"}) {
    shop.refuses({command, run}, 1,
                 {shop.data().string(), run + "/split.csv", "3 items in place of 4", "item 3 was 'ply_data_test0:3'",
                  "--other-data"});
  }
  CHECK(nlohmann::json::parse(shop.run_well({"eval", run, "--other-data", "--json"}).out).at("count") == 3);
  CHECK(nlohmann::json::parse(shop.run_well({"eval", run, "--split", "train", "--json"}).out).at("count") == 8);
  write_part_set(shop.data(), 9, 4);
  shop.run_well({"eval", run});
  shop.refuses({"eval", run, "--split", "train"}, 1, {"9 items in place of 8"});
}

TEST_CASE("eval and report of parts refuse options of reading files for arrays") {
  const SegmentShop shop;
  const std::string run = shop.trained(), data = shop.data().string();
  for (const char* command : {"eval", "report"}) {
    shop.refuses({command, run, "--columns", "x,y,z"}, 2, {"--columns is for tables", "not for " + data});
    shop.refuses({command, run, "--drop-invalid"}, 2, {"--drop-invalid is for files of points, not for " + data});
  }
}

TEST_CASE("eval of parts names what is wrong") {
  const SegmentShop shop;
  const std::string run = shop.trained();
  shop.refuses({"eval", run, "--rotate", "x"}, 2, {"--rotate"});
  shop.refuses({"eval", run, "--split", "validation"}, 1,
               {shop.data().string(), "clouds of the validation split", "none in " + run + "/split.csv"});
  shop.refuses({"eval", shop.data().string()}, 2, {"no run"});
  write_text(shop.data() / "parts.txt", "0 lamp top\n1 lamp pole\n2 lamp foot\n3 mug cup\n4 mug foot\n");
  shop.refuses({"eval", run}, 1, {"5 parts of the trained model", "does not know 1, mug/foot"});
}

}  // namespace geosft::test::test_segment_eval_command
