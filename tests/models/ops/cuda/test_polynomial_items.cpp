// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cuda/polynomial_arrays.h"

#include <catch2/catch.hpp>
#include <random>

#include "models/ops/cuda/polynomial_host.h"

namespace geosft::test::test_polynomial_items {
namespace {

// A task of these offsets as kernels see it, c = cv = 2 and degree 2.
cuda::PolynomialTask<float> task_of(const std::vector<int64_t>& row_offsets, const std::vector<int64_t>& column_offsets,
                                    int64_t rows, cuda::Reach reach) {
  const auto items = static_cast<int64_t>(row_offsets.size()) - 1;
  const cuda::PolynomialPlan plan =
      cuda::polynomial_plan(cuda::table_shape(2, 2), 2, 2, 2, reach, 256, {nullptr, nullptr, items, rows, rows, 1});
  cuda::PolynomialTask<float> task{};
  task.row_tokens.rows = {row_offsets.data(), items, rows};
  task.column_tokens.rows = {column_offsets.data(), items, rows};
  task.reach = reach;
  task.costs = plan.costs;
  task.chunks = plan.chunks;
  return task;
}

}  // namespace

TEST_CASE("tiles cover every row of the items that go by monomials once", "[polynomial_items]") {
  const std::vector<int64_t> offsets{0, 700, 703, 703, 960, 1500, 1510, 2000};
  const auto task = task_of(offsets, offsets, 2000, cuda::Reach::kAll);
  std::vector<int> seen(2000, 0);
  for (int64_t block = 0; block < cuda::tile_blocks(2000, 7, task.costs.tile); ++block) {
    const cuda::PackedTile tile = cuda::monomial_tile(task, block);
    for (int64_t row = tile.begin; row < tile.end; ++row) {
      ++seen[static_cast<size_t>(row)];
      REQUIRE(row >= offsets[static_cast<size_t>(tile.item)]);
      REQUIRE(row < offsets[static_cast<size_t>(tile.item) + 1]);
    }
  }
  for (int64_t item = 0; item < 7; ++item) {
    for (int64_t row = offsets[item]; row < offsets[item + 1]; ++row) {
      REQUIRE(seen[static_cast<size_t>(row)] == (cuda::by_monomials(task, item) ? 1 : 0));
    }
  }
  CHECK(cuda::by_monomials(task, 0));
  CHECK_FALSE(cuda::by_monomials(task, 1));
}

TEST_CASE("under a mask a tile meets the state of the chunks before or after its own", "[polynomial_items]") {
  const std::vector<int64_t> offsets{0, 100, 1000};
  for (const cuda::Reach reach : {cuda::Reach::kBefore, cuda::Reach::kAfter}) {
    const auto task = task_of(offsets, offsets, 1000, reach);
    REQUIRE(task.chunks.rows == 256);  // the second item has four
    const int64_t first = 100 / task.chunks.spacing;
    const auto place = [&](int64_t number) {
      return cuda::state_place(task, {1, 100 + 256 * number, 356 + 256 * number, 100});
    };
    const bool before = reach == cuda::Reach::kBefore;
    CHECK(place(0) == (before ? -1 : first));
    CHECK(place(1) == first + 1);
    CHECK(place(3) == (before ? first + 3 : -1));
  }
}

TEST_CASE("offsets that point anywhere lead to no row and no state beyond the arrays", "[polynomial_items]") {
  std::mt19937_64 random(5);
  for (int trial = 0; trial < 200; ++trial) {
    const int64_t rows = 3000;
    std::vector<int64_t> row_offsets(6), column_offsets(6);
    for (std::vector<int64_t>* offsets : {&row_offsets, &column_offsets}) {
      for (int64_t& offset : *offsets) offset = static_cast<int64_t>(random() % 6000) - 1000;
    }
    for (const cuda::Reach reach : {cuda::Reach::kAll, cuda::Reach::kBefore, cuda::Reach::kAfter}) {
      const auto task = task_of(row_offsets, column_offsets, rows, reach);
      const int64_t places = task.chunks.count(task.column_tokens.rows);
      for (int64_t block = 0; block < cuda::tile_blocks(rows, 5, task.costs.tile); ++block) {
        const cuda::PackedTile tile = cuda::monomial_tile(task, block);
        if (tile.begin >= tile.end) continue;
        REQUIRE(tile.begin >= 0);
        REQUIRE(tile.end <= rows);
        REQUIRE(cuda::state_place(task, tile) >= -1);
        REQUIRE(cuda::state_place(task, tile) < places);
      }
      for (int64_t place = 0; place < places; ++place) {
        const cuda::Chunk chunk = cuda::chunk_at(task, place);
        if (chunk.rows.begin >= chunk.rows.end) continue;
        REQUIRE(chunk.rows.begin >= 0);
        REQUIRE(chunk.rows.end <= rows);
        const cuda::RowRange all = cuda::item_rows(task.column_tokens.rows, chunk.item);
        REQUIRE(place - chunk.number + cuda::chunk_count(all, task.chunks) <= places);
      }
    }
  }
}

}  // namespace geosft::test::test_polynomial_items
