// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/blocks.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <vector>

#include "data/seeds.h"
#include "geometry/packed.h"

namespace geosft {
namespace {

using Rows = std::vector<int64_t>;

// Appends a cloud's rows as blocks.
class BlockList {
 public:
  void append_even(Rows& rows, int64_t blocks, int64_t item) {
    const auto count = static_cast<int64_t>(rows.size());
    for (int64_t i = 0; i < blocks; ++i) {
      append(rows.begin() + count * i / blocks, rows.begin() + count * (i + 1) / blocks, item);
    }
  }
  void append(Rows::iterator begin, Rows::iterator end, int64_t item) {
    std::sort(begin, end);
    rows_.insert(rows_.end(), begin, end);
    offsets_.push_back(static_cast<int64_t>(rows_.size()));
    items_.push_back(item);
  }
  Blocks finish() const {
    return {at::tensor(rows_, at::kLong), offsets_tensor(offsets_), at::tensor(items_, at::kLong)};
  }

 private:
  Rows rows_, offsets_ = {0}, items_;
};

Rows shuffled_rows(int64_t first, int64_t count, uint64_t seed) {
  const at::Tensor order = at::randperm(count, make_generator(combine_seeds({seed, static_cast<uint64_t>(count)})),
                                        at::TensorOptions().dtype(at::kLong)) +
                           first;
  const int64_t* begin = order.const_data_ptr<int64_t>();
  return Rows(begin, begin + count);
}

int longest_axis(const double* points, Rows::const_iterator begin, Rows::const_iterator end) {
  std::array<double, 3> low, high;
  low.fill(std::numeric_limits<double>::infinity());
  high.fill(-std::numeric_limits<double>::infinity());
  for (auto row = begin; row != end; ++row) {
    for (size_t axis = 0; axis < 3; ++axis) {
      const double value = points[*row * 3 + static_cast<int64_t>(axis)];
      low[axis] = std::min(low[axis], value);
      high[axis] = std::max(high[axis], value);
    }
  }
  int longest = 0;
  for (int axis = 1; axis < 3; ++axis) {
    const auto a = static_cast<size_t>(axis), b = static_cast<size_t>(longest);
    if (high[a] - low[a] > high[b] - low[b]) longest = axis;
  }
  return longest;
}

// Splits the rows recursively by a plane across the longest axis; each side gets half of the blocks.
void append_near(const double* points, Rows::iterator begin, Rows::iterator end, int64_t blocks, int64_t item,
                 BlockList& list) {
  if (blocks == 1) return list.append(begin, end, item);
  const int axis = longest_axis(points, begin, end);
  const auto middle = begin + (end - begin) * (blocks / 2) / blocks;
  std::nth_element(begin, middle, end, [&](int64_t a, int64_t b) {
    const double left = points[a * 3 + axis], right = points[b * 3 + axis];
    return left != right ? left < right : a < b;
  });
  append_near(points, begin, middle, blocks / 2, item, list);
  append_near(points, middle, end, blocks - blocks / 2, item, list);
}

}  // namespace

Blocks make_blocks(const at::Tensor& points, const at::Tensor& ptr, int64_t size, BlockKind kind, uint64_t seed) {
  TORCH_CHECK(size >= 0, "size of a block must be 0 or more, got ", size);
  const at::Tensor coordinates = points.to(at::kDouble).contiguous();
  const std::vector<int64_t> offsets = packed_offsets(ptr, points.size(0), "ptr");
  BlockList list;
  for (size_t item = 0; item + 1 < offsets.size(); ++item) {
    const int64_t first = offsets[item], count = offsets[item + 1] - first;
    const int64_t blocks = size == 0 ? 1 : std::max<int64_t>(1, (count + size - 1) / size);
    Rows rows(static_cast<size_t>(count));
    std::iota(rows.begin(), rows.end(), first);
    const auto label = static_cast<int64_t>(item);
    if (kind == BlockKind::near) {
      append_near(coordinates.const_data_ptr<double>(), rows.begin(), rows.end(), blocks, label, list);
    } else {
      if (blocks > 1) rows = shuffled_rows(first, count, seed);
      list.append_even(rows, blocks, label);
    }
  }
  return list.finish();
}

}  // namespace geosft
