// SPDX-License-Identifier: Apache-2.0
// Packed batches: the tokens of all items one after the other, [sum n_b, ...], with `ptr` int64 [B + 1]; item b has the
// rows ptr[b] … ptr[b + 1] - 1. No padding, no masks. All folders use this header.
#pragma once

#include <ATen/ATen.h>

#include <optional>
#include <vector>

namespace geosft {

// True if an optional argument holds a defined tensor.
bool given(const std::optional<at::Tensor>& tensor);

// The offsets of a packed batch as numbers. `ptr` must be int64 [B + 1], B >= 1, from 0 to `count`, non-decreasing;
// without ptr there is one item of `count` rows. Throws an error naming `name` otherwise.
std::vector<int64_t> packed_offsets(const std::optional<at::Tensor>& ptr, int64_t count, const char* name);

// Checks `ptr` without reading its values, so on meta tensors too: int64 [B + 1], B >= 1, on the CPU or on the device
// of the rows. Accepts a missing ptr. Throws an error naming `name`.
void check_ptr(const std::optional<at::Tensor>& ptr, const char* name, at::Device rows);
// Checks a pair such as q_ptr and k_ptr: each must be a valid ptr, both given or neither, of one length.
void check_ptr_pair(const std::optional<at::Tensor>& first, const char* first_name,
                    const std::optional<at::Tensor>& second, const char* second_name, at::Device rows);

// The number of items that `ptr` describes; 1 without ptr.
c10::SymInt item_count(const std::optional<at::Tensor>& ptr);

// The offsets of a pair such as q_ptr and k_ptr, checked by check_ptr_pair.
struct OffsetPair {
  std::vector<int64_t> first, second;
  int64_t items() const { return static_cast<int64_t>(first.size()) - 1; }
};
OffsetPair packed_offset_pair(const std::optional<at::Tensor>& first, int64_t first_count, const char* first_name,
                              const std::optional<at::Tensor>& second, int64_t second_count, const char* second_name,
                              at::Device rows = at::kCPU);

// Offsets as a tensor int64 [B + 1].
at::Tensor offsets_tensor(const std::vector<int64_t>& offsets);

// The item of each packed row, int64 [offsets.back()].
at::Tensor item_of_row(const std::vector<int64_t>& offsets);

}  // namespace geosft
