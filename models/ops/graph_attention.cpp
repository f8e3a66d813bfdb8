// SPDX-License-Identifier: Apache-2.0
#include "models/ops/graph_attention.h"

#include "models/ops/attention_operator.h"

namespace geosft {

using Optional = std::optional<at::Tensor>;

at::Tensor graph_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& leak,
                           const at::Tensor& rowptr, const at::Tensor& col, const at::Tensor& edge_attr,
                           const at::Tensor& top, const at::Tensor& partner, const at::Tensor& weight,
                           const at::Tensor& w_mul, const at::Tensor& b_mul, const at::Tensor& w_add,
                           const at::Tensor& b_add, const Optional& q_ptr, const Optional& k_ptr, double eps) {
  return attend<GraphInputs>(
      {q, k, v, leak, rowptr, col, edge_attr, top, partner, weight, w_mul, b_mul, w_add, b_add, q_ptr, k_ptr}, eps);
}

void GraphInputs::check() const {
  check_attention(*this);
  check_index(rowptr(), "rowptr", q());
  check_index(col(), "col", q());
  check_index(top(), "top", q());
  check_index(partner(), "partner", q());
  check_like(edge_attr(), "edge_attr", q());
  check_like(weight(), "weight", q());
  check_sizes(rowptr(), "rowptr", {q().sym_size(0) + 1}, "[Nq + 1]");
  TORCH_CHECK(edge_attr().dim() == 2, "edge_attr must be [E, r], got shape ", edge_attr().sym_sizes());
  check_sizes(edge_attr(), "edge_attr", {col().sym_size(0), edge_attr().sym_size(1)}, "[E, r]");
  check_sizes(top(), "top", {k().sym_size(0)}, "[Nk]");
  check_sizes(partner(), "partner", {k().sym_size(0)}, "[Nk]");
  check_sizes(weight(), "weight", {k().sym_size(0)}, "[Nk]");
  check_relative_weights(*this, edge_attr().sym_size(1));
}

GEOSFT_OPERATORS(m) {
  define_attention<GraphInputs>(
      m,
      "graph_attention(Tensor q, Tensor k, Tensor v, Tensor leak, Tensor rowptr, Tensor col, Tensor "
      "edge_attr, Tensor top, Tensor partner, Tensor weight, Tensor w_mul, Tensor b_mul, Tensor w_add, "
      "Tensor b_add, Tensor? q_ptr=None, Tensor? k_ptr=None, float eps=1e-6) -> Tensor",
      graph_attention);
}

}  // namespace geosft
