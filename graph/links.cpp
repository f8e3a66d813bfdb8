// SPDX-License-Identifier: Apache-2.0
#include "graph/links.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "graph/csr_graph.h"

namespace geosft {
namespace {

// Returns the weights; empty if all are the same positive number, which cancels in every walk.
template <typename T>
std::vector<T> read_weights(const at::Tensor& tensor) {
  check_edge_weights(tensor);
  const at::Tensor contiguous = tensor.contiguous();
  const T* values = contiguous.template const_data_ptr<T>();
  std::vector<T> weight(values, values + contiguous.size(0));
  bool equal = true;
  for (const T w : weight) equal = equal && w == weight[0] && w > 0;
  if (equal) weight.clear();
  return weight;
}

template <typename T>
void sort_weighted_row(int32_t* to, T* weight, int64_t count, std::vector<std::pair<int32_t, T>>& row) {
  row.resize(static_cast<size_t>(count));
  for (int64_t e = 0; e < count; ++e) row[e] = {to[e], weight[e]};
  std::sort(row.begin(), row.end());
  for (int64_t e = 0; e < count; ++e) std::tie(to[e], weight[e]) = row[e];
}

template <typename T>
void sort_rows(Links<T>& links) {
  const std::vector<int64_t>& begin = links.structure.begin;
  at::parallel_for(0, links.structure.nodes(), 4096, [&](int64_t first, int64_t last) {
    std::vector<std::pair<int32_t, T>> row;
    for (int64_t i = first; i < last; ++i) {
      int32_t* to = links.structure.to.data() + begin[i];
      if (links.weight.empty()) {
        std::sort(to, to + (begin[i + 1] - begin[i]));
      } else {
        sort_weighted_row(to, links.weight.data() + begin[i], begin[i + 1] - begin[i], row);
      }
    }
  });
}

}  // namespace

template <typename T>
Links<T> read_links(const at::Tensor& rowptr, const at::Tensor& col, const std::optional<at::Tensor>& weight) {
  const at::Tensor rows = rowptr.contiguous(), columns = col.contiguous();
  check_csr_values(rows, columns);
  TORCH_CHECK(rows.size(0) < std::numeric_limits<int32_t>::max(), "rowptr must hold fewer than 2^31 entries, got ",
              rows.size(0));
  Links<T> links;
  if (weight.has_value() && weight->defined()) links.weight = read_weights<T>(*weight);
  const int64_t *begin = rows.const_data_ptr<int64_t>(), *to = columns.const_data_ptr<int64_t>();
  links.structure.begin.assign(begin, begin + rows.size(0));
  links.structure.to.assign(to, to + columns.size(0));
  sort_rows(links);
  return links;
}

template <typename T>
bool is_symmetric(const Links<T>& links) {
  const auto& [begin, to] = links.structure;
  const std::vector<T>& weight = links.weight;
  // Rows are visited in ascending order, so the links to j match the links of j in order.
  std::vector<int64_t> next(begin.begin(), begin.end());
  for (int64_t i = 0; i < links.structure.nodes(); ++i) {
    for (int64_t e = begin[i]; e < begin[i + 1]; ++e) {
      const int64_t j = to[e], partner = next[j]++;
      if (partner == begin[j + 1] || to[partner] != i) return false;
      if (!weight.empty() && weight[partner] != weight[e]) return false;
    }
  }
  return true;
}

template <typename T>
Links<T> transposed(const Links<T>& links) {
  const auto& [begin, to] = links.structure;
  Links<T> result;
  result.structure.begin.assign(begin.size(), 0);
  result.structure.to.resize(to.size());
  result.weight.resize(links.weight.size());
  for (const int32_t j : to) ++result.structure.begin[j + 1];
  std::partial_sum(result.structure.begin.begin(), result.structure.begin.end(), result.structure.begin.begin());
  std::vector<int64_t> next(result.structure.begin);
  for (int64_t i = 0; i < links.structure.nodes(); ++i) {
    for (int64_t e = begin[i]; e < begin[i + 1]; ++e) {
      const int64_t slot = next[to[e]]++;
      result.structure.to[slot] = static_cast<int32_t>(i);
      if (!links.weight.empty()) result.weight[slot] = links.weight[e];
    }
  }
  return result;
}

template <typename T>
std::vector<T> inverse_degrees(const Links<T>& links) {
  const std::vector<int64_t>& begin = links.structure.begin;
  std::vector<T> inverse(static_cast<size_t>(links.structure.nodes()));
  for (size_t i = 0; i < inverse.size(); ++i) {
    T degree = 0;
    if (links.weight.empty()) {
      degree = static_cast<T>(begin[i + 1] - begin[i]);
    } else {
      for (int64_t e = begin[i]; e < begin[i + 1]; ++e) degree += links.weight[e];
    }
    inverse[i] = degree == 0 ? T(0) : T(1) / degree;
    TORCH_CHECK(std::isfinite(degree) && std::isfinite(inverse[i]), "weight must have sums at nodes that, as their ",
                "inverses, are in the range of its type, but that of node ", i, " is ", degree);
  }
  return inverse;
}

#define GEOSFT_INSTANTIATE_LINKS(T)                                                                        \
  template struct Links<T>;                                                                                \
  template Links<T> read_links<T>(const at::Tensor&, const at::Tensor&, const std::optional<at::Tensor>&); \
  template bool is_symmetric<T>(const Links<T>&);                                                          \
  template Links<T> transposed<T>(const Links<T>&);                                                        \
  template std::vector<T> inverse_degrees<T>(const Links<T>&);
GEOSFT_INSTANTIATE_LINKS(float)
GEOSFT_INSTANTIATE_LINKS(double)

}  // namespace geosft
