// SPDX-License-Identifier: Apache-2.0
#include "geometry/packed.h"

#include <numeric>

namespace geosft {

bool given(const std::optional<at::Tensor>& tensor) {
  return tensor.has_value() && tensor->defined();
}

namespace {

void check_form(const std::optional<at::Tensor>& ptr, const char* name) {
  if (!given(ptr)) return;
  TORCH_CHECK(ptr->layout() == at::kStrided, name, " must be a strided tensor, not ", ptr->layout());
  TORCH_CHECK(ptr->scalar_type() == at::kLong, name, " must be int64, not ", ptr->scalar_type());
  TORCH_CHECK(ptr->dim() == 1, name, " must have one dimension and at least 1 entry, got shape ", ptr->sym_sizes());
  TORCH_SYM_CHECK(ptr->sym_size(0).sym_ge(1), name, " must have one dimension and at least 1 entry, got shape ",
                  ptr->sym_sizes());
}

void check_device(const std::optional<at::Tensor>& ptr, const char* name, at::Device rows) {
  TORCH_CHECK(!given(ptr) || ptr->is_cpu() || ptr->device() == rows, name, " must be on the CPU or on ", rows, ", not ",
              given(ptr) ? ptr->device() : rows);
}

void check_pair(const std::optional<at::Tensor>& first, const char* first_name, const std::optional<at::Tensor>& second,
                const char* second_name) {
  TORCH_CHECK(given(first) == given(second), first_name, " and ", second_name, " must be given both or neither");
  if (!given(first)) return;
  TORCH_SYM_CHECK(first->sym_size(0).sym_eq(second->sym_size(0)), first_name, " and ", second_name,
                  " must have the same number of entries, got ", first->sym_size(0), " and ", second->sym_size(0));
}

}  // namespace

void check_ptr(const std::optional<at::Tensor>& ptr, const char* name, const at::Tensor& rows) {
  check_form(ptr, name);
  check_device(ptr, name, rows.device());
  if (!given(ptr)) return;
  TORCH_SYM_CHECK(ptr->sym_size(0).sym_ge(2).sym_or(rows.sym_size(0).sym_eq(0)), name, " must have an item for the ",
                  rows.sym_size(0), " rows, got shape ", ptr->sym_sizes());
}

void check_ptr_pair(const std::optional<at::Tensor>& first, const char* first_name, const at::Tensor& first_rows,
                    const std::optional<at::Tensor>& second, const char* second_name, const at::Tensor& second_rows) {
  check_ptr(first, first_name, first_rows);
  check_ptr(second, second_name, second_rows);
  check_pair(first, first_name, second, second_name);
}

c10::SymInt item_count(const std::optional<at::Tensor>& ptr) {
  return given(ptr) ? ptr->sym_size(0) - 1 : c10::SymInt(1);
}

void check_offsets(const int64_t* offsets, int64_t items, int64_t end, const char* name, const std::string& what) {
  TORCH_CHECK(offsets[0] == 0, name, " must begin with 0, not ", offsets[0]);
  for (int64_t i = 1; i <= items; ++i) {
    TORCH_CHECK(offsets[i] >= offsets[i - 1], name, " must not decrease: entry ", i, " is ", offsets[i], " after ",
                offsets[i - 1]);
  }
  TORCH_CHECK(offsets[items] == end, name, " must end with ", what, ", ", end, ", not ", offsets[items]);
}

void check_indices(const int64_t* indices, int64_t count, int64_t rows, const char* name) {
  for (int64_t i = 0; i < count; ++i) {
    TORCH_CHECK(indices[i] >= 0 && indices[i] < rows, name, " must hold 0 … ", rows - 1, ", but entry ", i, " is ",
                indices[i]);
  }
}

std::vector<int64_t> packed_offsets(const std::optional<at::Tensor>& ptr, int64_t count, const char* name) {
  if (!given(ptr)) return {0, count};
  check_form(ptr, name);
  const at::Tensor host = ptr->to(at::kCPU).contiguous();
  const int64_t* values = host.const_data_ptr<int64_t>();
  std::vector<int64_t> offsets(values, values + host.size(0));
  const uint64_t sum = std::accumulate(offsets.begin(), offsets.end(), uint64_t{0});  // of any numbers
  const bool sizes = sum == static_cast<uint64_t>(count);
  TORCH_CHECK(offsets.front() == 0, name, " must begin with 0, not ", offsets.front(),
              sizes ? ": it looks like the sizes of the items, whose offsets are their sums" : "");
  check_offsets(offsets.data(), static_cast<int64_t>(offsets.size()) - 1, count, name, "the number of rows");
  return offsets;
}

OffsetPair packed_offset_pair(const std::optional<at::Tensor>& first, int64_t first_count, const char* first_name,
                              const std::optional<at::Tensor>& second, int64_t second_count, const char* second_name,
                              at::Device rows) {
  check_form(first, first_name);
  check_device(first, first_name, rows);
  check_form(second, second_name);
  check_device(second, second_name, rows);
  check_pair(first, first_name, second, second_name);
  return {packed_offsets(first, first_count, first_name), packed_offsets(second, second_count, second_name)};
}

at::Tensor offsets_tensor(const std::vector<int64_t>& offsets) {
  return at::tensor(offsets, at::kLong);
}

at::Tensor item_of_row(const std::vector<int64_t>& offsets) {
  TORCH_CHECK(!offsets.empty(), "offsets must begin with 0, got none");
  at::Tensor items = at::empty({offsets.back()}, at::kLong);
  int64_t* out = items.data_ptr<int64_t>();
  for (size_t b = 0; b + 1 < offsets.size(); ++b) {
    std::fill(out + offsets[b], out + offsets[b + 1], static_cast<int64_t>(b));
  }
  return items;
}

}  // namespace geosft
