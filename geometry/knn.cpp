// SPDX-License-Identifier: Apache-2.0
#include "geometry/knn.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "geometry/kd_tree.h"
#include "geometry/operator_checks.h"
#include "geometry/operators.h"
#include "geometry/packed.h"
#include "geometry/points.h"
#include "geometry/small_cloud_search.h"

namespace geosft {
namespace {

using OptionalTensor = std::optional<at::Tensor>;
using TensorPair = std::tuple<at::Tensor, at::Tensor>;

// Keeps the nearest rows seen so far: in a sorted array if they are few, which is faster, else in a heap.
template <typename scalar_t>
class NearestSet {
 public:
  void reset(size_t capacity) {
    capacity_ = capacity;
    found_.clear();
    found_.reserve(capacity);
  }

  scalar_t bound() const {
    if (found_.size() < capacity_) return std::numeric_limits<scalar_t>::infinity();
    return sorted() ? found_.back().dist2 : found_.front().dist2;
  }

  bool add(scalar_t dist2, int64_t row) {
    const Neighbour<scalar_t> candidate{dist2, row};
    if (found_.size() == capacity_) {
      if (!(candidate < (sorted() ? found_.back() : found_.front()))) return false;
      if (!sorted()) std::pop_heap(found_.begin(), found_.end());
      found_.pop_back();
    }
    found_.push_back(candidate);
    if (sorted()) {
      sift_down(candidate);
    } else {
      std::push_heap(found_.begin(), found_.end());
    }
    return true;
  }

  const std::vector<Neighbour<scalar_t>>& finish() {
    if (!sorted()) std::sort_heap(found_.begin(), found_.end());
    return found_;
  }

 private:
  bool sorted() const { return capacity_ <= 64; }

  void sift_down(const Neighbour<scalar_t>& candidate) {
    size_t slot = found_.size() - 1;
    for (; slot > 0 && candidate < found_[slot - 1]; --slot) found_[slot] = found_[slot - 1];
    found_[slot] = candidate;
  }

  size_t capacity_ = 0;
  std::vector<Neighbour<scalar_t>> found_;
};

template <typename scalar_t>
void search_queries(const scalar_t* points, const scalar_t* queries, int64_t k, const OffsetPair& offsets,
                    int64_t* index, scalar_t* dist2) {
  const KdTrees<scalar_t> trees =
      build_kd_trees(points, offsets, [k](int64_t count) { return SmallCloud<scalar_t>::suits(count, k); });
  at::parallel_for(0, offsets.second.back(), 64, [&](int64_t begin, int64_t end) {
    NearestSet<scalar_t> nearest;
    SmallCloud<scalar_t> cloud;
    int64_t loaded = -1;  // the item in `cloud`
    ItemCursor item(offsets.second);
    for (int64_t q = begin; q < end; ++q) {
      const int64_t b = item.of(q), first = offsets.first[b], count = offsets.first[b + 1] - first;
      const bool small = trees[b] == nullptr;
      if (small && loaded != b) cloud.assign(points + 3 * first, count, k);
      if (small) loaded = b;
      if (small && cloud.search(queries + 3 * q, index + q * k, dist2 + q * k)) {
        for (int64_t column = 0; column < k; ++column) index[q * k + column] += first;
        continue;
      }
      nearest.reset(static_cast<size_t>(std::min(k, count)));
      if (small) {
        for (int64_t row = 0; row < count; ++row) {
          nearest.add(squared_distance(queries + 3 * q, points + 3 * (first + row)), row);
        }
      } else {
        trees[b]->search(queries + 3 * q, nearest);
      }
      int64_t column = 0;
      for (const Neighbour<scalar_t>& neighbour : nearest.finish()) {
        index[q * k + column] = first + neighbour.row;
        dist2[q * k + column++] = neighbour.dist2;
      }
      std::fill(index + q * k + column, index + (q + 1) * k, int64_t{-1});
      std::fill(dist2 + q * k + column, dist2 + (q + 1) * k, std::numeric_limits<scalar_t>::infinity());
    }
  });
}

TensorPair knn_cpu(const at::Tensor& points, const at::Tensor& queries, int64_t k, const OptionalTensor& ptr,
                   const OptionalTensor& query_ptr) {
  check_knn(points, queries, k);
  const OffsetPair offsets =
      packed_offset_pair(ptr, points.size(0), "ptr", query_ptr, queries.size(0), "query_ptr", points.device());
  TORCH_CHECK(queries.size(0) == 0 || k <= std::numeric_limits<int64_t>::max() / 8 / queries.size(0), "k = ", k,
              " neighbours of ", queries.size(0), " queries do not fit into memory");
  const at::Tensor points_c = points.contiguous(), queries_c = queries.contiguous();
  check_finite(points_c, "points");
  check_finite(queries_c, "queries");
  check_squared_distances({{points_c, offsets.first, "points"}, {queries_c, offsets.second, "queries"}});
  at::Tensor index = at::empty({queries.size(0), k}, queries.options().dtype(at::kLong));
  at::Tensor dist2 = at::empty({queries.size(0), k}, queries.options());
  AT_DISPATCH_FLOATING_TYPES(points.scalar_type(), "knn", [&] {
    search_queries(points_c.const_data_ptr<scalar_t>(), queries_c.const_data_ptr<scalar_t>(), k, offsets,
                   index.data_ptr<int64_t>(), dist2.data_ptr<scalar_t>());
  });
  return {index, dist2};
}

TensorPair knn_meta(const at::Tensor& points, const at::Tensor& queries, int64_t k, const OptionalTensor& ptr,
                    const OptionalTensor& query_ptr) {
  check_knn(points, queries, k);
  check_ptr_pair(ptr, "ptr", points, query_ptr, "query_ptr", queries);
  return {at::empty_symint({queries.sym_size(0), k}, queries.options().dtype(at::kLong)),
          at::empty_symint({queries.sym_size(0), k}, queries.options())};
}

GEOSFT_OPERATORS(m) {
  define_operator<c10::DispatchKey::CPU, c10::DispatchKey::Meta>(
      m,
      "knn(Tensor points, Tensor queries, int k, Tensor? ptr=None, Tensor? query_ptr=None) "
      "-> (Tensor index, Tensor dist2)",
      knn_cpu, knn_meta);
}

}  // namespace

void check_knn(const at::Tensor& points, const at::Tensor& queries, int64_t k) {
  check_points(points, "points");
  check_points(queries, "queries");
  check_same_kind(points, "points", queries, "queries");
  TORCH_CHECK(k >= 1, "k must be at least 1, got ", k);
}

std::tuple<at::Tensor, at::Tensor> knn(const at::Tensor& points, const at::Tensor& queries, int64_t k,
                                       const std::optional<at::Tensor>& ptr,
                                       const std::optional<at::Tensor>& query_ptr) {
  static const auto op = find_operator<decltype(knn)>("knn");
  return op.call(points, queries, k, ptr, query_ptr);
}

}  // namespace geosft
