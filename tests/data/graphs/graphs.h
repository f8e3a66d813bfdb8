// SPDX-License-Identifier: Apache-2.0
// Comparison of packed graphs.
#pragma once

#include <catch2/catch.hpp>

#include "data/packed_items.h"
#include "tests/support.h"

namespace geosft::test {

// Members are undefined in both or equal in both, NaN to NaN.
inline void require_same(const PackedItems& actual, const PackedItems& expected) {
  CHECK(actual.schema == expected.schema);
  CHECK(actual.warnings == expected.warnings);
  CHECK(actual.smiles == expected.smiles);
  CHECK(actual.names == expected.names);
  const auto members = [](const PackedItems& p) {
    return std::vector<at::Tensor>{
        p.graphs.ptr,  p.graphs.graph.rowptr, p.graphs.graph.col, p.graphs.graph.weight, p.node_categories,
        p.node_values, p.edge_categories,     p.edge_values,      p.coordinates,         p.target,
        p.node_split};
  };
  const auto left = members(actual), right = members(expected);
  for (size_t i = 0; i < left.size(); ++i) {
    INFO("member " << i);
    REQUIRE(left[i].defined() == right[i].defined());
    if (!left[i].defined()) continue;
    REQUIRE(left[i].scalar_type() == right[i].scalar_type());
    CHECK(at::allclose(left[i], right[i], 0, 0, /*equal_nan=*/true));
  }
  REQUIRE(actual.split.has_value() == expected.split.has_value());
  if (!actual.split) return;
  CHECK(actual.split->train == expected.split->train);
  CHECK(actual.split->validation == expected.split->validation);
  CHECK(actual.split->test == expected.split->test);
}

}  // namespace geosft::test
