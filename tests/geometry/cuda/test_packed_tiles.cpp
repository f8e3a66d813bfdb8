// SPDX-License-Identifier: Apache-2.0
#include "geometry/cuda/packed_tiles.h"

#include <catch2/catch.hpp>
#include <random>
#include <vector>

namespace geosft::test::test_packed_tiles {
namespace {

using cuda::PackedRows;
using cuda::PackedTile;

// The item of every row, as the tiles of all blocks have it; -1 where none has, and a failure where two have.
std::vector<int64_t> covered(const PackedRows& packed, int64_t tile) {
  std::vector<int64_t> item(static_cast<size_t>(packed.rows), -1);
  for (int64_t block = 0; block < cuda::tile_blocks(packed.rows, packed.items, tile); ++block) {
    const PackedTile found = cuda::packed_tile(packed, tile, block);
    REQUIRE(found.end - found.begin <= tile);
    for (int64_t row = found.begin; row < found.end; ++row) {
      REQUIRE(item.at(static_cast<size_t>(row)) == -1);
      item[static_cast<size_t>(row)] = found.item;
    }
  }
  return item;
}

}  // namespace

TEST_CASE("packed_tile covers every row once, with its item", "[packed_tiles]") {
  std::mt19937 random(7);
  for (int repeat = 0; repeat < 200; ++repeat) {
    const int64_t tile = 1 + static_cast<int64_t>(random() % 9), items = 1 + static_cast<int64_t>(random() % 7);
    std::vector<int64_t> ptr{0}, expected;
    for (int64_t b = 0; b < items; ++b) {
      const auto count = static_cast<int64_t>(random() % 3 ? random() % 20 : 0);
      ptr.push_back(ptr.back() + count);
      expected.insert(expected.end(), static_cast<size_t>(count), b);
    }
    REQUIRE(covered({ptr.data(), items, ptr.back()}, tile) == expected);
  }
}

TEST_CASE("packed_tile takes all rows for one item where there is no ptr", "[packed_tiles]") {
  REQUIRE(covered({nullptr, 1, 21}, 4) == std::vector<int64_t>(21, 0));
  REQUIRE(covered({nullptr, 1, 0}, 4).empty());
}

TEST_CASE("packed_tile stays inside the rows of its item whatever ptr says", "[packed_tiles]") {
  for (const std::vector<int64_t>& ptr :
       {std::vector<int64_t>{-5, 3, 90}, {0, 90, 4}, {7, 2, -1}, {50, 60, 70}, {6, 8, 10}, {10, 10, 10}}) {
    const PackedRows packed{ptr.data(), 2, 10};
    for (int64_t block = 0; block < cuda::tile_blocks(10, 2, 4); ++block) {
      const PackedTile found = cuda::packed_tile(packed, 4, block);
      REQUIRE(found.item < 2);
      if (found.begin >= found.end) continue;
      const cuda::RowRange rows = cuda::item_rows(packed, found.item);
      REQUIRE(found.item_begin == rows.begin);
      REQUIRE(found.begin >= rows.begin);
      REQUIRE(found.end <= rows.end);
    }
  }
}

}  // namespace geosft::test::test_packed_tiles
