// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cpu/graph_edges.h"

#include <catch2/catch.hpp>

#include "tests/support.h"

namespace geosft::test::test_graph_edges {
namespace {

// Two items: nodes 0 to 3 with keys 0 to 2, nodes 4 and 5 with key 3. The edge 1 -> 4 runs between them.
struct Example {
  std::vector<int64_t> rowptr{0, 2, 4, 4, 5, 6, 6}, col{2, 2, 4, 0, 3, 5}, top{2, 0, 2, 4}, partner{0, 0, 3, 5};
  std::vector<int64_t> q_offsets{0, 4, 6}, k_offsets{0, 3, 4};
  EdgeArrays arrays() const {
    return {rowptr.data(), col.data(), top.data(), partner.data(), 6, static_cast<int64_t>(col.size()), 4};
  }
  SampledNodes sampled() const { return SampledNodes(arrays(), q_offsets, k_offsets); }
};

}  // namespace

TEST_CASE("SampledNodes lists the keys of a node within its item", "[graph_edges]") {
  const SampledNodes sampled = Example().sampled();
  std::vector<int64_t> codes;
  sampled.visit(2, 0, 3, [&](int64_t code) { codes.push_back(code); });
  sampled.visit(0, 0, 3, [&](int64_t code) { codes.push_back(code); });
  sampled.visit(4, 0, 3, [&](int64_t code) { codes.push_back(code); });
  sampled.visit(4, 3, 4, [&](int64_t code) { codes.push_back(code); });
  REQUIRE(codes == std::vector<int64_t>{0, 4, 1, 2, 3, 6});
}

TEST_CASE("TouchedBlock finds duplicates, repeated samples and no edge between items", "[graph_edges]") {
  const Example example;
  TouchedBlock block;
  block.find(example.arrays(), example.sampled(), 0, 4, 0, 3);
  // Edges (0, 2) twice: keys 0 and 2 through top. Edge (1, 0): key 0 through partner, key 1 through both. Edge (3, 3):
  // key 2 through partner.
  std::vector<std::vector<int64_t>> found;
  for (const Touch& touch : block.touches) found.push_back({touch.key, touch.query, touch.which, touch.edge});
  REQUIRE(found == std::vector<std::vector<int64_t>>{{0, 0, 0, 0},
                                                     {0, 0, 0, 1},
                                                     {0, 1, 1, 3},
                                                     {1, 1, 0, 3},
                                                     {1, 1, 1, 3},
                                                     {2, 0, 0, 0},
                                                     {2, 0, 0, 1},
                                                     {2, 3, 1, 4}});
  REQUIRE(block.pairs.size() == 5);
  REQUIRE(block.pairs[0].end - block.pairs[0].begin == 2);
  REQUIRE(block.first_pair(1) == 2);
  REQUIRE(block.first_pair(3) == 5);
}

TEST_CASE("SampledNodes names the index that is wrong", "[graph_edges]") {
  const auto refuses = [](std::vector<int64_t> Example::*member, size_t at, int64_t value, const char* name) {
    Example example;
    (example.*member)[at] = value;
    require_error([&] { example.sampled(); }, {name});
  };
  refuses(&Example::rowptr, 0, 1, "rowptr");
  refuses(&Example::rowptr, 2, 1, "rowptr");
  refuses(&Example::rowptr, 6, 7, "rowptr");
  refuses(&Example::col, 0, 6, "col");
  refuses(&Example::col, 0, -1, "col");
  refuses(&Example::top, 0, 4, "top");
  refuses(&Example::partner, 3, 3, "partner");
}

}  // namespace geosft::test::test_graph_edges
