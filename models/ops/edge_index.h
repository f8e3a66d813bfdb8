// SPDX-License-Identifier: Apache-2.0
// The edges of packed graphs, sorted both by row and by column, for the operators that sum over edges. With both orders
// each sum is a loop over the edges of one node, so no operator needs atomics, and sums are in a fixed order.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <optional>

namespace geosft {

// The edges from R rows, which receive, to C columns, which send: for a graph both are its nodes. All int64, on one
// device.
struct EdgeIndex {
  at::Tensor rowptr;  // [R + 1]: row i has the edges rowptr[i] … rowptr[i + 1] - 1
  at::Tensor col;     // [E], column of each edge
  at::Tensor row;     // [E], row of each edge
  at::Tensor colptr;  // [C + 1]: column j has the edges order[colptr[j]] … order[colptr[j + 1] - 1]
  at::Tensor order;   // [E], edges by column, ascending within each

  int64_t rows() const { return rowptr.size(0) - 1; }
  int64_t columns() const { return colptr.size(0) - 1; }
  int64_t edges() const { return col.size(0); }
};

// Sorts the edges of a graph in CSR form, whose columns are 0 … columns - 1, by column. On the CPU wrong values of
// rowptr or col are an error that names the argument; on a GPU the host does not wait to see them.
EdgeIndex edge_index(const at::Tensor& rowptr, const at::Tensor& col, int64_t columns);

// Returns the edges of packed items to their `rows`: sums over them are sums over the rows of each item. `ptr` int64 [B
// + 1], or none for one item; the result is on `device`. On the CPU a wrong ptr is an error that names it.
EdgeIndex edges_of_items(const std::optional<at::Tensor>& ptr, int64_t rows, at::Device device);
// Returns the edges with rows and columns exchanged, for edges of items: sums over them copy the row of an item to its
// rows.
EdgeIndex edges_to_items(const EdgeIndex& of_items);

// Check, for the kernels, shapes and types; and, on the CPU, the values of a contiguous rowptr and col, or of colptr
// and order under these names.
void check_edge_shapes(const at::Tensor& rowptr, const at::Tensor& col, const char* ptr_name, const char* name);
void check_edge_values(const at::Tensor& rowptr, const at::Tensor& col, int64_t columns, const char* ptr_name,
                       const char* name);
// Checks the same for the values of a contiguous `row`.
void check_edge_rows(const at::Tensor& row, int64_t rows);

}  // namespace geosft
