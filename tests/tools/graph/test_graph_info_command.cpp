// SPDX-License-Identifier: Apache-2.0
// geosft-graph info, and what all its subcommands share.
#include <catch2/catch.hpp>

#include "tests/tools/graph/graph_tool.h"

namespace geosft::test::test_graph_info_command {

TEST_CASE("info describes graph runs, checkpoints and datasets") {
  const GraphShop shop;
  const std::string run = shop.trained();
  for (const std::string& what : {run, run + "/last.ckpt"}) {
    CHECK_THAT(shop.run_well({"info", what}).out, Catch::Contains("dim = 16") &&
                                                      Catch::Contains("\"output_names\":[\"-1\",\"1\"]") &&
                                                      Catch::Contains("encoder.layers.0.attention"));
  }
  const std::string data = shop.run_well({"info", shop.data().string(), "--threads", "1", "--seed", "7"}).out;
  CHECK_THAT(data, Catch::Contains("24 graphs") && Catch::Contains("-1 (12), 1 (12)") &&
                       Catch::Contains("1 to 8 nodes") && Catch::Contains("node categories: columns of 3"));
  write_text(shop / "g.csv", "0,5\n5,9\n9,5\n");
  const auto of_graph = [&](const Words& more) {
    return shop.run_well(Words{"info", (shop / "g.csv").string()} + more).out;
  };
  CHECK_THAT(of_graph({}),
             Catch::Contains("one graph without labels, 3 nodes, 4 directed edges; 1 to 2 edges a node") &&
                 Catch::Contains("weights: no"));
  CHECK_THAT(of_graph({"--directed"}), Catch::Contains("3 nodes, 3 directed edges"));
  shop.refuses({"info", (shop / "absent").string()}, 1, {"absent"});
  shop.refuses({"info", run, "--device", "cuda"}, 2, {"cuda", "cpu"});
}

TEST_CASE("the graph tool's help fits a screen a subcommand") {
  const GraphShop shop;
  for (const char* subcommand : {"", "train", "eval", "predict", "info", "encode", "sweep"}) {
    const ProcessResult result = shop.run_well((*subcommand == 0 ? Words{} : Words{subcommand}) + Words{"--help"});
    CHECK(lines_of(result.out).size() > 5);
    CHECK(lines_of(result.out).size() <= 40);
    CHECK(result.err.empty());
  }
  CHECK_THAT(shop.run_well({"--version"}).out, Catch::StartsWith("geosft "));
  const std::string keys = shop.run_well({"train", "--list-keys"}).out;
  for (const char* key : {"--lr", "--encoding-columns", "--cross-validation"}) {
    CHECK_THAT(keys, Catch::Contains(key));
  }
  shop.refuses({}, 2, {"subcommand"});
  shop.refuses({"trian"}, 2, {"trian", "train"});
}

}  // namespace geosft::test::test_graph_info_command
