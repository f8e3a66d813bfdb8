// SPDX-License-Identifier: Apache-2.0
// tools/random_graph.py.
#include <catch2/catch.hpp>

#include "data/graphs/graph_dataset.h"
#include "tests/places.h"
#include "tests/support.h"
#include "tests/tools/experiment/command_line.h"
#include "tests/tools/experiment/python.h"

namespace geosft::test::test_random_graph {

TEST_CASE("random_graph: one graph whose nodes have classes and a split") {
  const std::string interpreter = find_python();
  if (interpreter.empty()) return;
  const TemporaryFolder folder;
  const std::vector<std::string> line = {
      source_path("tools/random_graph.py"), "--out", folder / "made", "--nodes", "500", "--edges", "1000"};
  const ProcessResult made = python(interpreter, line);
  INFO(made.err);
  REQUIRE(made.exit == 0);
  const PackedItems packed = read_ogb_dataset(folder / "made", {folder / "cache"});
  CHECK(packed.schema.task == GraphTask::node_classification);
  CHECK(packed.size() == 1);
  CHECK(packed.schema.node_values == 4);
  require_equal(packed.node_split.bincount(), at::tensor({400, 50, 50}, at::kLong), "split");
  const ProcessResult again = python(interpreter, line);
  CHECK(again.exit == 2);
  CHECK_THAT(again.err, Catch::Contains("made is there already"));
}

}  // namespace geosft::test::test_random_graph
