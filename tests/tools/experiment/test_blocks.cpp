// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/blocks.h"

#include <catch2/catch.hpp>

#include "tests/support.h"

namespace geosft::test::test_blocks {
namespace {

const at::Tensor ptr = at::tensor({0, 1, 24, 124}, at::kLong);

at::Tensor cloud() {
  return at::rand({124, 3}, generator(1)) * at::tensor({1.0f, 8.0f, 2.0f});
}

// Every row once, blocks within their clouds, ascending, of at most `size` rows and as even as can be.
void require_partition(const Blocks& blocks, int64_t size) {
  require_equal(std::get<0>(blocks.rows.sort()), at::arange(124, at::kLong), "every row once");
  for (int64_t block = 0; block < blocks.item.size(0); ++block) {
    const int64_t begin = blocks.ptr[block].item<int64_t>(), end = blocks.ptr[block + 1].item<int64_t>();
    const at::Tensor rows = blocks.rows.slice(0, begin, end);
    const int64_t item = blocks.item[block].item<int64_t>();
    CHECK(rows.min().item<int64_t>() >= ptr[item].item<int64_t>());
    CHECK(rows.max().item<int64_t>() < ptr[item + 1].item<int64_t>());
    CHECK((rows.diff() > 0).all().item<bool>());
    CHECK((size == 0 || end - begin <= size));
  }
  const at::Tensor sizes = blocks.ptr.diff().masked_select(blocks.item == 2);
  CHECK((sizes.max() - sizes.min()).item<int64_t>() <= 1);
}

}  // namespace

TEST_CASE("blocks are a partition of the rows, whatever their kind and size") {
  for (const BlockKind kind : {BlockKind::spread, BlockKind::near}) {
    for (const int64_t size : {0, 1, 7, 23, 99, 100, 1000}) {
      INFO("kind " << static_cast<int>(kind) << ", size " << size);
      const Blocks blocks = make_blocks(cloud(), ptr, size, kind, 5);
      require_partition(blocks, size);
      const int64_t expected = size == 0 ? 3 : (1 + size - 1) / size + (23 + size - 1) / size + (100 + size - 1) / size;
      CHECK(blocks.item.size(0) == expected);
    }
  }
}

TEST_CASE("a cloud in one block stays as it is") {
  require_equal(make_blocks(cloud(), ptr, 0, BlockKind::spread, 5).rows, at::arange(124, at::kLong), "rows");
}

TEST_CASE("spread blocks follow from seed and size alone, and reach all over the cloud") {
  const Blocks blocks = make_blocks(cloud(), ptr, 25, BlockKind::spread, 5);
  const at::Tensor moved = cloud().flip(1) * 3 + 1;
  require_equal(make_blocks(moved, ptr, 25, BlockKind::spread, 5).rows, blocks.rows, "of a moved cloud");
  CHECK_FALSE(at::equal(make_blocks(cloud(), ptr, 25, BlockKind::spread, 6).rows, blocks.rows));
  // Beside another cloud a cloud has the same blocks.
  const Blocks alone = make_blocks(cloud().slice(0, 24), at::tensor({0, 100}, at::kLong), 25, BlockKind::spread, 5);
  require_equal(alone.rows + 24, blocks.rows.slice(0, 24), "alone");
  for (const int64_t begin : {24, 49, 74, 99}) {
    const at::Tensor y = cloud().select(1, 1).index_select(0, blocks.rows.slice(0, begin, begin + 25));
    CHECK((y.max() - y.min()).item<float>() > 4);
  }
}

TEST_CASE("near blocks are slabs along the longest axis") {
  const Blocks blocks = make_blocks(cloud(), ptr, 25, BlockKind::near, 5);
  double before = -1;
  for (const int64_t begin : {24, 49, 74, 99}) {
    const at::Tensor y = cloud().select(1, 1).index_select(0, blocks.rows.slice(0, begin, begin + 25));
    CHECK(y.min().item<double>() > before);
    before = y.max().item<double>();
  }
}

TEST_CASE("equal points are cut too, and kinds have names") {
  require_partition(make_blocks(at::zeros({124, 3}), ptr, 7, BlockKind::near, 0), 7);
  CHECK(value_named<BlockKind>("near", "block_kind") == BlockKind::near);
  CHECK(value_named<BlockKind>("spread", "block_kind") == BlockKind::spread);
  require_error([] { value_named<BlockKind>("far", "block_kind"); }, {"far", "spread", "near"});
  require_error([] { make_blocks(cloud(), ptr, -1, BlockKind::near, 0); }, {"size", "-1"});
}

}  // namespace geosft::test::test_blocks
