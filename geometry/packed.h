// SPDX-License-Identifier: Apache-2.0
// Defines packed batches: the concatenated tokens of all items, [sum n_b, ...], with `ptr` int64 [B + 1]; item b has
// the rows ptr[b] … ptr[b + 1] - 1. Items may be empty, and a batch may have no items: ptr = [0]. No padding, no masks.
// Used by all folders.
#pragma once

#include <ATen/ATen.h>

#include <optional>
#include <string>
#include <vector>

namespace geosft {

// Returns whether an optional argument holds a defined tensor.
bool given(const std::optional<at::Tensor>& tensor);

// Returns the offsets of a packed batch. `ptr` must be int64 [B + 1], B >= 0, from 0 to `count`, non-decreasing;
// otherwise throws an error naming `name`. Without ptr, all `count` rows are one item. A batch of no items, ptr = [0],
// has no rows.
std::vector<int64_t> packed_offsets(const std::optional<at::Tensor>& ptr, int64_t count, const char* name);

// Checks offsets [items + 1], which do not decrease from 0 to `end`. Errors call them `name`, and the end `what`.
void check_offsets(const int64_t* offsets, int64_t items, int64_t end, const char* name, const std::string& what);
// Checks that `count` indices are in 0 … rows - 1. Errors call them `name`.
void check_indices(const int64_t* indices, int64_t count, int64_t rows, const char* name);

// Checks the `ptr` of packed `rows` without reading its values, also for meta tensors: int64 [B + 1], on the CPU or on
// the device of the rows, B >= 0, B >= 1 if there are rows. Accepts a missing ptr. Throws an error naming `name`.
void check_ptr(const std::optional<at::Tensor>& ptr, const char* name, const at::Tensor& rows);
// Checks a pair such as q_ptr and k_ptr: each must be a valid ptr of its rows, both given or neither, of equal length.
void check_ptr_pair(const std::optional<at::Tensor>& first, const char* first_name, const at::Tensor& first_rows,
                    const std::optional<at::Tensor>& second, const char* second_name, const at::Tensor& second_rows);

// Returns the number of items of `ptr`; 1 without ptr.
c10::SymInt item_count(const std::optional<at::Tensor>& ptr);

// The offsets of a pair such as q_ptr and k_ptr, checked like those of check_ptr_pair.
struct OffsetPair {
  std::vector<int64_t> first, second;
  int64_t items() const { return static_cast<int64_t>(first.size()) - 1; }
};
OffsetPair packed_offset_pair(const std::optional<at::Tensor>& first, int64_t first_count, const char* first_name,
                              const std::optional<at::Tensor>& second, int64_t second_count, const char* second_name,
                              at::Device rows = at::kCPU);

// Returns offsets as a tensor int64 [B + 1].
at::Tensor offsets_tensor(const std::vector<int64_t>& offsets);

// Returns the item of each packed row, int64 [offsets.back()].
at::Tensor item_of_row(const std::vector<int64_t>& offsets);

}  // namespace geosft
