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

TEST_CASE("eval of parts names what is wrong") {
  const SegmentShop shop;
  const std::string run = shop.trained();
  shop.refuses({"eval", run, "--rotate", "x"}, 2, {"--rotate"});
  shop.refuses({"eval", run, "--split", "validation"}, 1, {"val"});
  shop.refuses({"eval", shop.data().string()}, 2, {"no run"});
  write_text(shop.data() / "parts.txt", "0 lamp top\n1 lamp pole\n2 lamp foot\n3 mug cup\n4 mug foot\n");
  shop.refuses({"eval", run}, 1, {"5 parts of the trained model", "other names"});
}

}  // namespace geosft::test::test_segment_eval_command
