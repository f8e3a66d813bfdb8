// SPDX-License-Identifier: Apache-2.0
// Training of parts by several processes, against one with the batch that they have together.
#include <catch2/catch.hpp>

#include "tests/places.h"
#include "tests/tools/experiment/like_runs.h"
#include "tests/tools/experiment/mpirun.h"
#include "tests/tools/segment/segment_tool.h"

namespace geosft::test::test_segment_train_processes {

TEST_CASE("processes train on parts as one does with their batches together", "[processes]") {
  if (!has_mpirun()) return;
  const SegmentShop shop;
  // 6 of 8 clouds in batches of 4: the last has two, for four processes.
  const Words words = {"--drop-token-rate",     "0.1", "--jitter", "0.01", "--beta2", "0.9",
                       "--validation-fraction", "0.25"};
  shop.run_well(shop.train("one", words + Words{"--batch-size", "4"}));
  const ProcessResult result =
      run_mpirun(4, program_path("geosft-segment"), shop.train("four", words + Words{"--batch-size", "1", "--json"}),
                 shop.process());
  INFO(result.err);
  REQUIRE(result.exit == 0);
  require_like_run(shop / "one", shop / "four", 1e-4);
  CHECK(nlohmann::json::parse(result.out).at("task") == "segmentation");
}

TEST_CASE("processes train on unlabelled points as one does, also where one has no labelled point", "[processes]") {
  if (!has_mpirun()) return;
  const SegmentShop shop;
  PartClouds clouds = PartClouds(8, 64, 1).remove_labels();
  clouds.parts.slice(0, 1, 8, 2).slice(1, 30).fill_(unlabelled_part);  // four clouds have a third of the others' labels
  write_hdf5(shop.data() / "ply_data_train0.h5", clouds.arrays());
  shop.run_well(shop.train("one", {"--batch-size", "4"}));
  const ProcessResult result = run_mpirun(4, program_path("geosft-segment"),
                                          shop.train("four", {"--batch-size", "1", "--json"}), shop.process());
  INFO(result.err);
  REQUIRE(result.exit == 0);
  require_like_run(shop / "one", shop / "four", 1e-4);
}

}  // namespace geosft::test::test_segment_train_processes
