// SPDX-License-Identifier: Apache-2.0
#include "models/layers/sparse_masks.h"

#include <catch2/catch.hpp>
#include <functional>
#include <set>

#include "tests/models/training/emulated_gpu.h"
#include "tests/support.h"

namespace geosft::test::test_sparse_masks {
namespace {

const std::vector<int64_t> items{0, 7, 7, 8, 20};

int64_t item_of(int64_t token) {
  int64_t item = 0;
  while (items[static_cast<size_t>(item) + 1] <= token) ++item;
  return item;
}

// Requires that token i sees exactly the tokens j of its item for which sees(places of i and j, i, j) holds.
void require_mask(const SparseMask& mask, const std::function<bool(int64_t, int64_t)>& sees) {
  REQUIRE(mask.rowptr.size(0) == 21);
  for (int64_t i = 0; i < 20; ++i) {
    std::vector<int64_t> expected;
    for (int64_t j = 0; j < 20; ++j) {
      if (item_of(i) == item_of(j) && sees(i, j)) expected.push_back(j);
    }
    const at::Tensor row = mask.col.slice(0, mask.rowptr[i].item<int64_t>(), mask.rowptr[i + 1].item<int64_t>());
    require_equal(row, at::tensor(expected, at::kLong), "row " + std::to_string(i));
  }
}

int64_t place(int64_t token) {
  return token - items[static_cast<size_t>(item_of(token))];
}

}  // namespace

TEST_CASE("a window, strides and blocks of tokens", "[sparse_masks]") {
  for (const int64_t size : {int64_t{1}, int64_t{3}, int64_t{40}, int64_t{1} << 62}) {
    require_mask(window_mask(items, size), [&](int64_t i, int64_t j) { return std::abs(i - j) <= size; });
    require_mask(strided_mask(items, size),
                 [&](int64_t i, int64_t j) { return std::abs(i - j) < size || (i - j) % size == 0; });
    require_mask(block_mask(items, size), [&](int64_t i, int64_t j) { return place(i) / size == place(j) / size; });
  }
  require_mask(window_mask(items, 0), [](int64_t i, int64_t j) { return i == j; });
  require_mask(strided_mask(items, 0), [&](int64_t i, int64_t j) {
    const auto b = static_cast<size_t>(item_of(i));
    const int64_t stride = std::lround(std::sqrt(static_cast<double>(items[b + 1] - items[b])));
    return std::abs(i - j) < stride || (i - j) % stride == 0;
  });
  REQUIRE_FALSE(sequence_mask(MaskKind::neighbours, 3, items).rowptr.defined());
}

TEST_CASE("the nearest points of a token", "[sparse_masks]") {
  const at::Tensor points = at::randn({20, 3}, generator(1)), ptr = at::tensor(items, at::kLong);
  require_mask(nearest_mask(points, ptr, 3), [&](int64_t i, int64_t j) {
    const auto distance = [&](int64_t other) { return (points[i] - points[other]).square().sum().item<float>(); };
    int64_t nearer = 0;
    for (int64_t other = 0; other < 20; ++other)
      nearer += item_of(other) == item_of(i) && distance(other) < distance(j);
    return nearer < 3;
  });
}

TEST_CASE("the neighbours of a node, itself among them", "[sparse_masks]") {
  std::vector<int64_t> rowptr{0}, col;
  const auto edge = [](int64_t i, int64_t j) { return (i * 7 + j * 3) % 4 == 0; };
  for (int64_t i = 0; i < 20; ++i) {
    for (int64_t j = 19; j >= 0; --j) {
      if (item_of(i) == item_of(j) && edge(i, j)) col.insert(col.end(), 2, j);  // falling, and twice
    }
    rowptr.push_back(static_cast<int64_t>(col.size()));
  }
  const at::Tensor rows = at::tensor(rowptr, at::kLong), columns = at::tensor(col, at::kLong);
  require_mask(neighbour_mask(rows, columns, items), [&](int64_t i, int64_t j) { return i == j || edge(i, j); });
  require_error([&] { neighbour_mask(rows, columns, {0, 3, 20}); }, {"col must stay in the item"});
  require_error([&] { neighbour_mask(rows, columns, {0, 19}); }, {"rowptr"});
}

TEST_CASE("a query attends to a pooled group if it attends to one of its tokens", "[sparse_masks]") {
  const SparseMask mask = pooled_mask(window_mask({0, 5, 9}, 1), {0, 5, 9}, 2);
  require_equal(mask.rowptr, at::tensor({0, 1, 3, 5, 7, 9, 10, 12, 14, 15}, at::kLong), "rowptr");
  require_equal(mask.col, at::tensor({0, 0, 1, 0, 1, 1, 2, 1, 2, 3, 3, 4, 3, 4, 4}, at::kLong), "col");
}

TEST_CASE("a mask made on a GPU is the same, without synchronisation", "[sparse_masks]") {
  const auto require_same = [](const SparseMask& there, const SparseMask& here) {
    const at::Tensor col = there.col.cpu(), keys = col >= 0;
    const at::Tensor left = at::constant_pad_nd(keys.cumsum(0), {1, 0});
    require_equal(left.index_select(0, there.rowptr.cpu()), here.rowptr, "rowptr");
    require_equal(col.masked_select(keys), here.col, "col");
  };
  const auto made = [](at::Device device) {
    const at::Tensor ptr = at::tensor(items, at::kLong), points = at::randn({20, 3}, generator(1)).to(device);
    const at::Tensor rowptr =
        at::tensor({0, 4, 4, 6, 6, 6, 6, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 9, 9}, at::kLong).to(device);
    const at::Tensor col = at::tensor({6, 0, 6, 3, 1, 1, 7, 19, 8}, at::kLong).to(device);
    const emulated_gpu::NeverWaiting never;
    const SparseMask nearest = nearest_mask(points, ptr, 3);
    const SparseMask neighbours = neighbour_mask(rowptr, col, items);
    return std::vector<SparseMask>{nearest, nearest_mask(points, ptr, 1), neighbours, pooled_mask(nearest, items, 2),
                                   pooled_mask(neighbours, items, 3)};
  };
  const std::vector<SparseMask> here = made(at::kCPU), there = made(emulated_gpu::device);
  for (size_t i = 0; i < here.size(); ++i) require_same(there[i], here[i]);
}

TEST_CASE("masks of impossible sizes are refused", "[sparse_masks]") {
  require_error([] { window_mask(items, -1); }, {"radius", "-1"});
  require_error([] { strided_mask(items, -1); }, {"stride", "-1"});
  require_error([] { block_mask(items, 0); }, {"size", "0"});
}

}  // namespace geosft::test::test_sparse_masks
