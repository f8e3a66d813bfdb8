// SPDX-License-Identifier: Apache-2.0
// Training on graphs by several processes, against one with the batch that they have together.
#include <catch2/catch.hpp>

#include "tests/places.h"
#include "tests/tools/experiment/like_runs.h"
#include "tests/tools/experiment/mpirun.h"
#include "tests/tools/graph/graph_tool.h"

namespace geosft::test::test_graph_train_processes {

TEST_CASE("processes train on graphs as one does with their batches together", "[processes]") {
  if (!has_mpirun()) return;
  const GraphShop shop;
  // Two seeds: folders of their own, one after the other.
  const Words words = {"--validation-fraction", "0.2", "--encoding",  "lappe", "--beta2",  "0.9",
                       "--ema-decay",           "0.9", "--num-seeds", "2",     "--epochs", "4"};
  const Words table = lines_of(shop.run_well(shop.train("one", words + Words{"--batch-size", "4"})).out);
  const ProcessResult result = run_mpirun(2, program_path("geosft-graph"),
                                          shop.train("two", words + Words{"--batch-size", "2"}), shop.process());
  INFO(result.err);
  REQUIRE(result.exit == 0);
  CHECK(lines_of(result.out).size() == table.size());
  for (const char* run : {"seed_3", "seed_4"}) require_like_run(shop / "one" / run, shop / "two" / run, 1e-4);
  const ProcessResult again = run_mpirun(2, program_path("geosft-graph"),
                                         {"train", "--resume", "--out", (shop / "two").string()}, shop.process());
  INFO(again.err);
  CHECK(again.exit == 0);
  CHECK(again.out == result.out);
}

TEST_CASE("processes normalise the batch that they share", "[processes]") {
  if (!has_mpirun()) return;
  const GraphShop shop;
  const Words words = Words{"--validation-fraction", "0.2", "--epochs", "2", "--beta2", "0.9", "--attention", "none"} +
                      Words{"--local", "gatedgcn", "--normalization", "batch", "--encoding-channels", "4"} +
                      Words{"--virtual-node", "--head", "mean", "--head-layers", "2", "--depth", "2"};
  shop.run_well(shop.train("one", words + Words{"--batch-size", "4"}));
  const ProcessResult result = run_mpirun(2, program_path("geosft-graph"),
                                          shop.train("two", words + Words{"--batch-size", "2"}), shop.process());
  INFO(result.err);
  REQUIRE(result.exit == 0);
  // Weights before a normalisation have gradients that are nothing but rounding, which Adam makes steps of.
  const auto alone = read_metrics(shop / "one" / "metrics.csv"), together = read_metrics(shop / "two" / "metrics.csv");
  REQUIRE(alone.size() == together.size());
  for (size_t i = 0; i < alone.size(); ++i) REQUIRE(alone[i].loss == Approx(together[i].loss).epsilon(2e-3));
}

}  // namespace geosft::test::test_graph_train_processes
