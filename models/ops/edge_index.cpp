// SPDX-License-Identifier: Apache-2.0
#include "models/ops/edge_index.h"

#include <vector>

#include "geometry/device_offsets.h"
#include "geometry/packed.h"

namespace geosft {
namespace {

// Sorts on the CPU by counting: linear in the number of edges.
EdgeIndex counted(const at::Tensor& rowptr, const at::Tensor& col, int64_t columns) {
  EdgeIndex index{rowptr.contiguous(), col.contiguous(), at::empty_like(col), at::zeros({columns + 1}, col.options()),
                  at::empty_like(col)};
  check_edge_values(index.rowptr, index.col, columns, "rowptr", "col");
  const int64_t *begin = index.rowptr.const_data_ptr<int64_t>(), *to = index.col.const_data_ptr<int64_t>();
  int64_t *row = index.row.mutable_data_ptr<int64_t>(), *colptr = index.colptr.mutable_data_ptr<int64_t>(),
          *order = index.order.mutable_data_ptr<int64_t>();
  const int64_t edges = index.edges(), rows = index.rows();
  for (int64_t e = 0; e < edges; ++e) ++colptr[to[e] + 1];
  for (int64_t j = 0; j < columns; ++j) colptr[j + 1] += colptr[j];
  std::vector<int64_t> next(colptr, colptr + columns);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t e = begin[i]; e < begin[i + 1]; ++e) {
      row[e] = i;
      order[next[static_cast<size_t>(to[e])]++] = e;
    }
  }
  return index;
}

// Returns 0 … count - 1, as the result of an operator on the device.
at::Tensor counted_up(int64_t count, const at::TensorOptions& options) {
  return at::ones({count}, options).cumsum(0) - 1;
}

}  // namespace

void check_edge_shapes(const at::Tensor& rowptr, const at::Tensor& col, const char* ptr_name, const char* name) {
  TORCH_CHECK(rowptr.defined() && rowptr.scalar_type() == at::kLong && rowptr.dim() == 1 && rowptr.size(0) >= 1,
              ptr_name, " must be int64 with one dimension and at least one entry");
  TORCH_CHECK(col.defined() && col.scalar_type() == at::kLong && col.dim() == 1, name,
              " must be int64 with one dimension");
  TORCH_CHECK(rowptr.device() == col.device(), ptr_name, " and ", name, " must be on one device, got ", rowptr.device(),
              " and ", col.device());
}

void check_edge_values(const at::Tensor& rowptr, const at::Tensor& col, int64_t columns, const char* ptr_name,
                       const char* name) {
  check_offsets(rowptr.const_data_ptr<int64_t>(), rowptr.size(0) - 1, col.size(0), ptr_name,
                std::string("the number of entries of ") + name);
  check_indices(col.const_data_ptr<int64_t>(), col.size(0), columns, name);
}

void check_edge_rows(const at::Tensor& row, int64_t rows) {
  check_indices(row.const_data_ptr<int64_t>(), row.size(0), rows, "row");
}

EdgeIndex edge_index(const at::Tensor& rowptr, const at::Tensor& col, int64_t columns) {
  check_edge_shapes(rowptr, col, "rowptr", "col");
  TORCH_CHECK(columns >= 0, "columns must not be negative, got ", columns);
  if (col.device().is_cpu()) return counted(rowptr, col, columns);
  const auto [sorted, order] = col.sort(/*stable=*/true, 0, false);
  const at::Tensor edges = at::arange(col.size(0), col.options());
  return {rowptr.contiguous(), col.contiguous(),
          at::searchsorted(rowptr, edges, /*out_int32=*/false, /*right=*/true) - 1,
          at::searchsorted(sorted, at::arange(columns + 1, col.options())), order};
}

EdgeIndex edges_of_items(const std::optional<at::Tensor>& ptr, int64_t rows, at::Device device) {
  const auto index = at::TensorOptions().dtype(at::kLong).device(device);
  if (device.is_cpu()) {
    return edge_index(offsets_tensor(packed_offsets(ptr, rows, "ptr")), at::arange(rows, index), rows);
  }
  const at::Tensor offsets = given(ptr) ? ptr_on_device(ptr, device, "ptr") : at::arange(2, index) * rows;
  const at::Tensor all = counted_up(rows, index);
  return {offsets, all, item_of_row_on_device(ptr, rows, device), counted_up(rows + 1, index), all};
}

EdgeIndex edges_to_items(const EdgeIndex& of_items) {
  return {of_items.colptr, of_items.row, of_items.col, of_items.rowptr, of_items.order};
}

}  // namespace geosft
