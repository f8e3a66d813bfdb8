// SPDX-License-Identifier: Apache-2.0
// geosft-graph predict, end to end.
#include <catch2/catch.hpp>

#include "tests/tools/graph/graph_tool.h"

namespace geosft::test::test_graph_predict_command {

TEST_CASE("predict ranks the classes of every graph") {
  const GraphShop shop;
  const std::string run = shop.trained();
  const Words all = lines_of(shop.run_well({"predict", run, "--json"}).out);
  REQUIRE(all.size() == 24);
  for (size_t i = 0; i < all.size(); ++i) {
    const nlohmann::json line = nlohmann::json::parse(all[i]);
    CHECK(line.at("graph") == i);
    CHECK(line.at("file") == shop.data().string());
    REQUIRE(line.at("top").size() == 2);
    CHECK(line.at("top")[0][0] == line.at("class"));
    CHECK(line.at("top")[0][1] == line.at("probability"));
    CHECK(line.at("probability") >= 0.5);
  }
  const Words some = lines_of(shop.run_well({"predict", run, "--graphs", "11,3", "--json"}).out);
  REQUIRE(some.size() == 2);
  CHECK(nlohmann::json::parse(some[0]).at("graph") == 11);
  CHECK(nlohmann::json::parse(some[1]).at("class") == nlohmann::json::parse(all[3]).at("class"));
  CHECK(lines_of(shop.run_well({"predict", run, "--split", "test"}).out).size() == 6);
  CHECK(lines_of(shop.run_well({"predict", run, "--json", "--seed", "12"}).out) == all);
  CHECK_THAT(shop.run_well({"predict", "--help"}).out, !Catch::Contains("renumbering"));
  CHECK_THAT(shop.run_well({"predict", run, "--graphs", "5"}).out, Catch::StartsWith("5:  ") && Catch::Contains(" %"));
}

TEST_CASE("predict refuses graphs that are not there") {
  const GraphShop shop;
  const std::string run = shop.trained();
  shop.refuses({"predict", run, "--graphs", "24"}, 2, {"--graphs", "0 … 23", "24"});
  shop.refuses({"predict", run, "--graphs=-1"}, 2, {"--graphs"});
  shop.refuses({"predict", run, "--split", "validation"}, 2, {"validation"});
  shop.refuses({"predict", run, "--data", (shop / "absent").string()}, 1, {"absent"});
}

}  // namespace geosft::test::test_graph_predict_command
