// SPDX-License-Identifier: Apache-2.0
// Stores a graph in plain arrays for algorithms: 32-bit nodes, every row sorted.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace geosft {

// Adjacency lists: the neighbours of node i are to[begin[i]] … to[begin[i + 1] - 1], ascending; duplicates remain.
struct LinkStructure {
  std::vector<int64_t> begin;
  std::vector<int32_t> to;
  int64_t nodes() const { return static_cast<int64_t>(begin.size()) - 1; }
};

template <typename T>
struct Links {
  LinkStructure structure;
  std::vector<T> weight;  // per link; duplicates by ascending weight. Empty: all weights are 1
};

// Reads a CSR graph with checked shapes. Checks the values (check_csr_values, check_edge_weights). Omits weights that
// are all the same positive number.
template <typename T>
Links<T> read_links(const at::Tensor& rowptr, const at::Tensor& col, const std::optional<at::Tensor>& weight);

// Returns whether links i -> j and j -> i are equal in number and weights (bitwise), for all i and j. O(E).
template <typename T>
bool is_symmetric(const Links<T>& links);

template <typename T>
Links<T> transposed(const Links<T>& links);

// Returns 1 / (sum of the weights of the links of each node), 0 if the sum is 0. Throws c10::Error, naming weight and
// node, for a sum that leaves the range of T, or whose inverse does.
template <typename T>
std::vector<T> inverse_degrees(const Links<T>& links);

}  // namespace geosft
