// SPDX-License-Identifier: Apache-2.0
// Training on sequences by several processes, against one with the batch that they have together.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/tools/experiment/like_runs.h"
#include "tests/tools/experiment/mpirun.h"
#include "tests/tools/sequence/sequence_tool.h"

namespace geosft::test::test_sequence_train_processes {

TEST_CASE("processes train on sequences as one does with their batches together", "[processes]") {
  if (!has_mpirun()) return;
  const SequenceShop shop;
  const Words words = {"--attention", "bn_sh", "--epochs", "6", "--ema-decay", "0.9", "--json"};
  shop.run_well(shop.train("one", words + Words{"--batch-size", "8"}));
  const ProcessResult result =
      run_mpirun(2, shop.program(), shop.train("two", words + Words{"--batch-size", "4"}), shop.process());
  INFO(result.err);
  REQUIRE(result.exit == 0);
  require_like_run(shop / "one", shop / "two", 1e-4);
  CHECK(nlohmann::json::parse(result.out).at("count") == 20);
}

}  // namespace geosft::test::test_sequence_train_processes
