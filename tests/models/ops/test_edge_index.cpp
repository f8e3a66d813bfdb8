// SPDX-License-Identifier: Apache-2.0
#include "models/ops/edge_index.h"

#include <catch2/catch.hpp>

#include "tests/models/ops/edge_cases.h"
#include "tests/models/training/emulated_gpu.h"

namespace geosft::test::test_edge_index {

TEST_CASE("an edge index sorts the edges by column and keeps their order", "[edge_index]") {
  const EdgeIndex index = edge_index(longs({0, 2, 2, 5}), longs({3, 0, 0, 3, 0}), 4);
  require_equal(index.row, longs({0, 0, 2, 2, 2}), "row");
  require_equal(index.colptr, longs({0, 3, 3, 3, 5}), "colptr");
  require_equal(index.order, longs({1, 2, 4, 0, 3}), "order");
  REQUIRE(index.rows() == 3);
  REQUIRE(index.columns() == 4);
  REQUIRE(index.edges() == 5);
  const EdgeIndex none = edge_index(longs({0}), longs({}), 0);
  REQUIRE(none.rows() == 0);
  REQUIRE(none.columns() == 0);
  REQUIRE(none.order.numel() == 0);
}

TEST_CASE("an edge index is the same on a GPU, which is not waited for", "[edge_index]") {
  const RandomEdges edges(9, 7, 30, 1);
  const EdgeIndex expected = edges.index();
  const at::Tensor rowptr = edges.rowptr.to(emulated_gpu::device), col = edges.col.to(emulated_gpu::device);
  const at::Tensor ptr = longs({0, 4, 4, 9});
  const emulated_gpu::NeverWaiting never;
  const EdgeIndex there = edge_index(rowptr, col, 7);
  const EdgeIndex items = edges_of_items(ptr, 9, emulated_gpu::device), here = edges_of_items(ptr, 9, at::kCPU);
  for (const auto member :
       {&EdgeIndex::rowptr, &EdgeIndex::col, &EdgeIndex::row, &EdgeIndex::colptr, &EdgeIndex::order}) {
    require_equal(emulated_gpu::seen_by_cpu((there.*member).contiguous()), expected.*member, "of edges");
    require_equal(emulated_gpu::seen_by_cpu((items.*member).contiguous()), here.*member, "of items");
  }
}

TEST_CASE("the rows of items are edges that go both ways", "[edge_index]") {
  const EdgeIndex of_items = edges_of_items(longs({0, 2, 2, 5}), 5, at::kCPU), to_items = edges_to_items(of_items);
  require_equal(of_items.row, longs({0, 0, 2, 2, 2}), "items");
  require_equal(of_items.col, longs({0, 1, 2, 3, 4}), "rows");
  require_equal(to_items.rowptr, longs({0, 1, 2, 3, 4, 5}), "an edge per row");
  require_equal(to_items.col, of_items.row, "to its item");
  require_equal(to_items.colptr, of_items.rowptr, "items as columns");
  REQUIRE(edges_of_items(std::nullopt, 3, at::kCPU).rows() == 1);
  require_error([] { edges_of_items(longs({0, 4}), 5, at::kCPU); }, {"ptr", "5", "4"});
}

TEST_CASE("an edge index names the argument that is wrong", "[edge_index]") {
  const at::Tensor rowptr = longs({0, 1, 2}), col = longs({1, 0});
  require_error([&] { edge_index(rowptr.to(at::kFloat), col, 2); }, {"rowptr must be int64"});
  require_error([&] { edge_index(rowptr, col.to(at::kInt), 2); }, {"col must be int64"});
  require_error([&] { edge_index(rowptr.slice(0, 0, 0), col, 2); }, {"rowptr", "at least one entry"});
  require_error([&] { edge_index(longs({1, 1, 2}), col, 2); }, {"rowptr must begin with 0, not 1"});
  require_error([&] { edge_index(longs({0, 2, 1}), col, 2); }, {"rowptr must not decrease"});
  require_error([&] { edge_index(longs({0, 1, 3}), col, 2); }, {"rowptr must end with", "2", "3"});
  require_error([&] { edge_index(rowptr, longs({1, 2}), 2); }, {"col must hold 0 … 1, but entry 1 is 2"});
  require_error([&] { edge_index(rowptr, longs({-1, 0}), 2); }, {"col", "-1"});
  require_error([&] { edge_index(rowptr, col, -1); }, {"columns", "-1"});
}

}  // namespace geosft::test::test_edge_index
