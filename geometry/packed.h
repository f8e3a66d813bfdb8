// SPDX-License-Identifier: Apache-2.0
// Packed batches: the tokens of all items one after the other, [sum n_b, ...], with `ptr` int64 [B + 1] where item b
// owns rows ptr[b] … ptr[b + 1] - 1. No padding, no masks. This header is shared by every folder.
#pragma once

#include <ATen/ATen.h>

#include <optional>
#include <vector>

namespace geosft {

// True when an optional argument is there.
bool given(const std::optional<at::Tensor>& tensor);

// The offsets of a packed batch as numbers. `ptr` must be int64 [B + 1], B >= 1, from 0 to `count`, non-decreasing;
// without ptr there is one item of `count` rows. Throws an error naming `name` otherwise.
std::vector<int64_t> packed_offsets(const std::optional<at::Tensor>& ptr, int64_t count, const char* name);

// What can be known of `ptr` without its values, so on meta tensors too: int64 [B + 1], B >= 1, on the CPU or on the
// device of the rows; nothing to check without ptr. Throws an error naming `name`.
void check_ptr(const std::optional<at::Tensor>& ptr, const char* name, at::Device rows);
// Of a pair such as q_ptr and k_ptr: each a ptr, both given or neither, of one length.
void check_ptr_pair(const std::optional<at::Tensor>& first, const char* first_name,
                    const std::optional<at::Tensor>& second, const char* second_name, at::Device rows);

// The items that `ptr` describes, 1 without it.
c10::SymInt item_count(const std::optional<at::Tensor>& ptr);

// Offsets of a pair such as q_ptr and k_ptr, which check_ptr_pair accepts.
struct OffsetPair {
  std::vector<int64_t> first, second;
  int64_t items() const { return static_cast<int64_t>(first.size()) - 1; }
};
OffsetPair packed_offset_pair(const std::optional<at::Tensor>& first, int64_t first_count, const char* first_name,
                              const std::optional<at::Tensor>& second, int64_t second_count, const char* second_name,
                              at::Device rows = at::kCPU);

// Offsets as a tensor int64 [B + 1].
at::Tensor offsets_tensor(const std::vector<int64_t>& offsets);

// Item of every packed row, int64 [offsets.back()].
at::Tensor item_of_row(const std::vector<int64_t>& offsets);

}  // namespace geosft
