// SPDX-License-Identifier: Apache-2.0
#include "geometry/packed.h"

namespace geosft {

std::vector<int64_t> packed_offsets(const std::optional<at::Tensor>& ptr, int64_t count, const char* name) {
  if (!ptr.has_value() || !ptr->defined()) return {0, count};
  TORCH_CHECK(ptr->scalar_type() == at::kLong, name, " must be int64, not ", ptr->scalar_type());
  TORCH_CHECK(ptr->dim() == 1 && ptr->size(0) >= 2, name, " must have one dimension and at least 2 entries, got shape ",
              ptr->sizes());
  const at::Tensor host = ptr->to(at::kCPU).contiguous();
  const int64_t* values = host.const_data_ptr<int64_t>();
  std::vector<int64_t> offsets(values, values + host.size(0));
  TORCH_CHECK(offsets.front() == 0, name, " must begin with 0, not ", offsets.front());
  for (size_t b = 1; b < offsets.size(); ++b) {
    TORCH_CHECK(offsets[b] >= offsets[b - 1], name, " must not decrease: entry ", b, " is ", offsets[b], " after ",
                offsets[b - 1]);
  }
  TORCH_CHECK(offsets.back() == count, name, " must end with the number of rows ", count, ", not ", offsets.back());
  return offsets;
}

OffsetPair packed_offset_pair(const std::optional<at::Tensor>& first, int64_t first_count, const char* first_name,
                              const std::optional<at::Tensor>& second, int64_t second_count, const char* second_name) {
  const bool has_first = first.has_value() && first->defined();
  const bool has_second = second.has_value() && second->defined();
  TORCH_CHECK(has_first == has_second, first_name, " and ", second_name, " must be given both or neither");
  OffsetPair offsets{packed_offsets(first, first_count, first_name), packed_offsets(second, second_count, second_name)};
  TORCH_CHECK(offsets.first.size() == offsets.second.size(), first_name, " and ", second_name,
              " must have the same number of entries, got ", offsets.first.size(), " and ", offsets.second.size());
  return offsets;
}

at::Tensor offsets_tensor(const std::vector<int64_t>& offsets) {
  return at::tensor(offsets, at::kLong);
}

at::Tensor item_of_row(const std::vector<int64_t>& offsets) {
  at::Tensor items = at::empty({offsets.back()}, at::kLong);
  int64_t* out = items.data_ptr<int64_t>();
  for (size_t b = 0; b + 1 < offsets.size(); ++b) {
    std::fill(out + offsets[b], out + offsets[b + 1], static_cast<int64_t>(b));
  }
  return items;
}

}  // namespace geosft
