// SPDX-License-Identifier: Apache-2.0
// geosft-graph sweep, end to end.
#include <catch2/catch.hpp>

#include "tests/tools/graph/graph_tool.h"

namespace geosft::test::test_graph_sweep_command {
namespace fs = std::filesystem;

TEST_CASE("sweep trains every configuration, tabulates them, and goes on where it was") {
  const GraphShop shop;
  write_text(shop / "tiny.toml",
             "[splits]\nfolds = 4\n[model]\nwidth = 16\nheads = 2\nlayers = 1\nbins = 4\n[train]\nbatch_size = 8\n");
  const fs::path out = shop / "sweep";
  const Words words = {"sweep",  (shop / "tiny.toml").string(),
                       "--data", shop.data().string(),
                       "--out",  out.string(),
                       "--set",  "epochs=1",
                       "--set",  "repeats=2",
                       "--vary", "score=maxout,dot"};
  const Words table = lines_of(shop.run_well(words).out);
  REQUIRE(table.size() == 2 + 2);
  CHECK_THAT(table[2], Catch::StartsWith("| tiny score=maxout |") && Catch::Contains(" ± "));
  CHECK_THAT(table[3], Catch::StartsWith("| tiny score=dot |"));
  CHECK_THAT(table[0], Catch::EndsWith("| accuracy less the first's (%) |"));
  CHECK_THAT(table[2], Catch::EndsWith("| |"));
  CHECK_THAT(table[3], !Catch::EndsWith("| |"));
  CHECK(lines_of(read_text(out / "table.md")) == table);
  CHECK(fs::exists(out / "tiny_score=dot" / "seed_1" / "best.ckpt"));
  fs::remove_all(out / "tiny_score=dot" / "seed_1");
  CHECK(lines_of(shop.run_well(words).out) == table);
  CHECK(lines_of(shop.run_well(words + Words{"--csv"}).out)[0] == lines_of(read_text(out / "table.csv"))[0]);
  const Words lines = lines_of(shop.run_well(words + Words{"--json"}).out);
  REQUIRE(lines.size() == 2);
  const nlohmann::json first = nlohmann::json::parse(lines[0]), second = nlohmann::json::parse(lines[1]);
  CHECK(first.at("configuration") == "tiny score=maxout");
  CHECK(first.at("repeats") == 2);
  CHECK_FALSE(first.contains("differences"));
  double difference = 0;
  for (int run : {0, 1}) {
    const auto accuracy = [&](const nlohmann::json& json) {
      return json.at("runs")[run].at("metrics").at("accuracy").get<double>();
    };
    difference += (accuracy(second) - accuracy(first)) / 2;
  }
  CHECK(second.at("differences").at("accuracy").get<double>() == Approx(difference).margin(1e-12));
  CHECK(second.at("difference_deviations").at("accuracy").is_number());
  shop.refuses(words + Words{"--seed", "5"}, 2, {"another configuration"});
  shop.refuses(words + Words{"--set", "epochs=2"}, 2, {"another configuration"});
}

TEST_CASE("sweep refuses wrong use in a line") {
  const GraphShop shop;
  const std::string data = shop.data().string(), out = (shop / "sweep").string();
  shop.refuses({"sweep", "--data", data}, 2, {"--out"});
  shop.refuses({"sweep", "--out", out}, 2, {"--data"});
  shop.refuses({"sweep", "--data", data, "--out", out, "--vary", "scroe=dot"}, 2, {"'scroe'", "'score'"});
  shop.refuses({"sweep", "--data", data, "--out", out, "--vary", "bins=4,4"}, 2, {"two configurations"});
  shop.refuses({"sweep", "--data", data, "--out", out, "--json", "--csv"}, 2, {"--csv"});
  CHECK_FALSE(fs::exists(out));
}

}  // namespace geosft::test::test_graph_sweep_command
