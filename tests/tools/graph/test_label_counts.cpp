// SPDX-License-Identifier: Apache-2.0
#include "tools/graph/label_counts.h"

#include <catch2/catch.hpp>
#include <limits>

namespace geosft::test::test_label_counts {

TEST_CASE("labels are counted, known and unknown, by class and by split", "[label_counts]") {
  constexpr float unknown = std::numeric_limits<float>::quiet_NaN();
  PackedItems graphs;
  graphs.schema.task = GraphTask::multi_label;
  graphs.schema.output_names = {"active", "toxic"};
  graphs.target = at::tensor({1.F, 0.F, 0.F, unknown, unknown, 1.F, 1.F, 1.F}).view({4, 2});
  using Lines = std::vector<std::string>;
  CHECK(label_lines(graphs, std::nullopt, 9) ==
        Lines{"\"active\": 3 known (2 of 1, 1 of 0), 1 unknown", "\"toxic\": 3 known (2 of 1, 1 of 0), 1 unknown"});
  const DatasetSplit split{{0, 1}, {}, {2, 3}};
  CHECK(label_lines(graphs, split, 1) ==
        Lines{"\"active\": 3 known (2 of 1, 1 of 0), 1 unknown; train 2 (1 of 1), validation 0, test 1 (1 of 1)"});
  graphs.schema.task = GraphTask::regression;
  CHECK(label_lines(graphs, split, 1) == Lines{"\"active\": 3 known, 1 unknown; train 2, validation 0, test 1"});
  graphs.schema.task = GraphTask::classification;
  CHECK(label_lines(graphs, split, 1).empty());
}

}  // namespace geosft::test::test_label_counts
