// SPDX-License-Identifier: Apache-2.0
#include "geometry/pairwise.h"

#include <vector>

#include "geometry/packed.h"
#include "geometry/points.h"

namespace geosft {
namespace {

std::vector<at::Tensor> split_items(const at::Tensor& rows, const std::vector<int64_t>& offsets) {
  std::vector<int64_t> sizes;
  for (size_t b = 0; b + 1 < offsets.size(); ++b) sizes.push_back(offsets[b + 1] - offsets[b]);
  return rows.split_with_sizes(sizes);
}

// Applies function([nq, 1, 3], [1, nk, 3]) -> [nq, nk] to each item.
template <typename Function>
at::Tensor for_all_pairs(const at::Tensor& queries, const char* name, const at::Tensor& keys, const char* key_name,
                         const std::optional<at::Tensor>& q_ptr, const std::optional<at::Tensor>& k_ptr,
                         Function function) {
  check_points(queries, name);
  check_points(keys, key_name);
  check_same_kind(queries, name, keys, key_name);
  const OffsetPair offsets =
      packed_offset_pair(q_ptr, queries.size(0), "q_ptr", k_ptr, keys.size(0), "k_ptr", queries.device());
  const auto pairs = [&](const at::Tensor& q, const at::Tensor& k) {
    return function(q.unsqueeze(1), k.unsqueeze(0)).flatten();
  };
  if (offsets.items() == 0) return pairs(queries, keys);  // there are no rows
  const std::vector<at::Tensor> rows = split_items(queries, offsets.first), columns = split_items(keys, offsets.second);
  std::vector<at::Tensor> results;
  results.reserve(rows.size());
  for (size_t b = 0; b < rows.size(); ++b) results.push_back(pairs(rows[b], columns[b]));
  return at::cat(results);
}

}  // namespace

at::Tensor squared_distances(const at::Tensor& x, const at::Tensor& xs, const std::optional<at::Tensor>& q_ptr,
                             const std::optional<at::Tensor>& k_ptr) {
  return for_all_pairs(x, "x", xs, "xs", q_ptr, k_ptr,
                       [](const at::Tensor& a, const at::Tensor& b) { return (a - b).square().sum(-1); });
}

at::Tensor normal_products(const at::Tensor& m, const at::Tensor& ms, const std::optional<at::Tensor>& q_ptr,
                           const std::optional<at::Tensor>& k_ptr) {
  return for_all_pairs(m, "m", ms, "ms", q_ptr, k_ptr,
                       [](const at::Tensor& a, const at::Tensor& b) { return (a * b).sum(-1); });
}

}  // namespace geosft
