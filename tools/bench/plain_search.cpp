// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/composites.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <nanoflann.hpp>
#include <vector>

namespace geosft::bench {
namespace {

struct Cloud {
  const float* points;
  size_t count;
  size_t kdtree_get_point_count() const { return count; }
  float kdtree_get_pt(size_t row, size_t axis) const { return points[3 * row + axis]; }
  template <typename Box>
  bool kdtree_get_bbox(Box&) const {
    return false;
  }
};
using Tree = nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<float, Cloud>, Cloud, 3>;

}  // namespace

at::Tensor plain_farthest_points(const at::Tensor& points, int64_t m) {
  const int64_t n = points.size(0), count = std::min(m, n);
  at::Tensor rows = at::empty({count}, at::TensorOptions().dtype(at::kLong));
  // Separate coordinate arrays let the compiler vectorize.
  const at::Tensor columns = points.t().contiguous();
  const float *x = columns.const_data_ptr<float>(), *y = x + n, *z = y + n;
  std::vector<float> nearest(static_cast<size_t>(n), std::numeric_limits<float>::infinity());
  int64_t last = 0;
  for (int64_t i = 0; i < count; ++i) {
    rows.mutable_data_ptr<int64_t>()[i] = last;
    for (int64_t j = 0; j < n; ++j) {
      const float dx = x[j] - x[last], dy = y[j] - y[last], dz = z[j] - z[last];
      nearest[j] = std::min(nearest[j], dx * dx + dy * dy + dz * dz);
    }
    nearest[last] = -1.0F;
    last = std::max_element(nearest.begin(), nearest.end()) - nearest.begin();
  }
  return rows;
}

at::Tensor plain_neighbour_distances(const at::Tensor& points, int64_t k) {
  const int64_t n = points.size(0);
  const Cloud cloud{points.const_data_ptr<float>(), static_cast<size_t>(n)};
  const Tree tree(3, cloud);
  at::Tensor distances = at::empty({n, k}, points.options());
  float* const out = distances.mutable_data_ptr<float>();
  at::parallel_for(0, n, 64, [&](int64_t begin, int64_t end) {
    std::vector<uint32_t> index(static_cast<size_t>(k));
    for (int64_t i = begin; i < end; ++i) {
      tree.knnSearch(cloud.points + 3 * i, static_cast<size_t>(k), index.data(), out + i * k);
    }
  });
  return distances;
}

}  // namespace geosft::bench
