// SPDX-License-Identifier: Apache-2.0
#include "geometry/radius_search.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "geometry/kd_tree.h"
#include "geometry/packed.h"
#include "geometry/points.h"

namespace geosft {
namespace {

// Number of queries per block; each block has its own list of neighbours.
constexpr int64_t block_queries = 256;

template <typename scalar_t>
struct WithinRadius {
  scalar_t radius2;
  std::vector<Neighbour<scalar_t>>& found;
  scalar_t bound() const { return radius2; }
  bool add(scalar_t dist2, int64_t row) {
    if (!(dist2 <= radius2)) return false;
    found.push_back({dist2, row});
    return true;
  }
};

template <typename scalar_t>
using Blocks = std::vector<std::vector<Neighbour<scalar_t>>>;

// Finds the neighbours of all queries, block by block; sets counts[q + 1] to the number of neighbours of query q.
template <typename scalar_t>
Blocks<scalar_t> search_blocks(const scalar_t* points, const scalar_t* queries, scalar_t radius2,
                               const OffsetPair& offsets, int64_t* counts) {
  const KdTrees<scalar_t> trees = build_kd_trees(points, offsets);
  const int64_t query_count = offsets.second.back();
  Blocks<scalar_t> blocks(static_cast<size_t>((query_count + block_queries - 1) / block_queries));
  at::parallel_for(0, static_cast<int64_t>(blocks.size()), 1, [&](int64_t begin, int64_t end) {
    ItemCursor item(offsets.second);
    for (int64_t q = begin * block_queries; q < std::min(end * block_queries, query_count); ++q) {
      std::vector<Neighbour<scalar_t>>& found = blocks[q / block_queries];
      const size_t before = found.size();
      WithinRadius<scalar_t> within{radius2, found};
      const int64_t b = item.of(q), first = offsets.first[b];
      trees[b]->search(queries + 3 * q, within);
      std::sort(found.begin() + static_cast<int64_t>(before), found.end());
      for (size_t i = before; i < found.size(); ++i) found[i].row += first;
      counts[q + 1] = static_cast<int64_t>(found.size() - before);
    }
  });
  return blocks;
}

template <typename scalar_t>
void copy_blocks(const Blocks<scalar_t>& blocks, const int64_t* rowptr, int64_t* col, scalar_t* dist2) {
  at::parallel_for(0, static_cast<int64_t>(blocks.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      int64_t entry = rowptr[block * block_queries];
      for (const Neighbour<scalar_t>& neighbour : blocks[block]) {
        col[entry] = neighbour.row;
        dist2[entry++] = neighbour.dist2;
      }
    }
  });
}

}  // namespace

RadiusNeighbours radius_search(const at::Tensor& points, const at::Tensor& queries, double radius,
                               const std::optional<at::Tensor>& ptr, const std::optional<at::Tensor>& query_ptr) {
  check_points(points, "points");
  check_points(queries, "queries");
  check_same_kind(points, "points", queries, "queries");
  TORCH_CHECK(std::isfinite(radius) && radius >= 0, "radius must be finite and not negative, got ", radius);
  const OffsetPair offsets =
      packed_offset_pair(ptr, points.size(0), "ptr", query_ptr, queries.size(0), "query_ptr", points.device());
  const at::Tensor points_c = points.contiguous(), queries_c = queries.contiguous();
  check_finite(points_c, "points");
  check_finite(queries_c, "queries");
  check_squared_distances({{points_c, offsets.first, "points"}, {queries_c, offsets.second, "queries"}});
  RadiusNeighbours result;
  result.rowptr = at::zeros({queries.size(0) + 1}, queries.options().dtype(at::kLong));
  AT_DISPATCH_FLOATING_TYPES(points.scalar_type(), "radius_search", [&] {
    int64_t* rowptr = result.rowptr.data_ptr<int64_t>();
    const scalar_t radius2 = static_cast<scalar_t>(radius) * static_cast<scalar_t>(radius);
    const auto blocks = search_blocks(points_c.const_data_ptr<scalar_t>(), queries_c.const_data_ptr<scalar_t>(),
                                      radius2, offsets, rowptr);
    for (int64_t q = 0; q < queries.size(0); ++q) rowptr[q + 1] += rowptr[q];
    result.col = at::empty({rowptr[queries.size(0)]}, result.rowptr.options());
    result.dist2 = at::empty({rowptr[queries.size(0)]}, points.options());
    copy_blocks(blocks, rowptr, result.col.data_ptr<int64_t>(), result.dist2.data_ptr<scalar_t>());
  });
  return result;
}

}  // namespace geosft
