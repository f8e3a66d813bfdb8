// SPDX-License-Identifier: Apache-2.0
#include "models/ops/gated_edge_sum.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/csrc/autograd/custom_function.h>

#include "geometry/operators.h"
#include "geometry/transform_checks.h"
#include "models/ops/once_differentiable.h"
#include "models/ops/opmath.h"

namespace geosft {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct GatedSumFunction : torch::autograd::Function<GatedSumFunction> {
  static variable_list forward(AutogradContext* context, const at::Tensor& query, const at::Tensor& key,
                               const at::Tensor& value, const at::Tensor& edge, const EdgeIndex& index) {
    static const auto op = find_operator<GatedSumForward>("_gated_edge_sum_forward");
    at::AutoDispatchBelowADInplaceOrView below;
    const auto [out, gate, total] = op.call(query, key, value, edge, index.rowptr, index.col);
    context->save_for_backward({out, gate, total, value});
    context->saved_data["index"] =
        std::vector<at::Tensor>{index.rowptr, index.col, index.row, index.colptr, index.order};
    // Rounded here, because the gradients are computed from the unrounded results.
    return {out.to(query.scalar_type()), gate.to(query.scalar_type())};
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    static const auto op = find_operator<GatedSumBackward>("_gated_edge_sum_backward");
    const variable_list s = context->get_saved_variables();
    const std::vector<at::Tensor> index = context->saved_data["index"].toTensorVector();
    variable_list gradients = once_differentiable("gated_edge_sum", {grads[0], grads[1], s[0], s[1], s[3]}, [&] {
      const auto [query, key, value, edge] =
          op.call(grads[0], grads[1], s[0], s[1], s[2], s[3], index[0], index[1], index[2], index[3], index[4]);
      variable_list computed{query, key, value, edge};
      for (at::Tensor& gradient : computed) gradient = gradient.to(s[3].scalar_type());
      return computed;
    });
    gradients.emplace_back();  // no gradient for the index
    return gradients;
  }
};

void check_numbers(const at::Tensor& tensor, const char* name, const at::Tensor& like, const char* like_name,
                   int64_t rows, const char* row_name) {
  TORCH_CHECK(tensor.defined() && tensor.scalar_type() == like.scalar_type() && tensor.device() == like.device(), name,
              " must have the dtype and device of ", like_name, ", ", like.scalar_type(), " on ", like.device());
  TORCH_CHECK(tensor.sizes() == at::IntArrayRef({rows, like.size(1)}), name, " must be [", row_name, ", d], [", rows,
              ", ", like.size(1), "], got ", tensor.sizes());
}

}  // namespace

void check_gated_sum(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const at::Tensor& edge,
                     const at::Tensor& rowptr, const at::Tensor& col) {
  check_edge_shapes(rowptr, col, "rowptr", "col");
  TORCH_CHECK(query.defined() && query.dim() == 2 && is_supported_float(query), "query must be [R, d] of ",
              supported_floats, ", got ", query.defined() ? c10::toString(query.scalar_type()) : "undefined", " ",
              query.defined() ? query.sizes() : at::IntArrayRef());
  check_numbers(query, "query", query, "query", rowptr.size(0) - 1, "R");
  TORCH_CHECK(key.defined() && key.dim() == 2, "key must be [C, d]");
  check_numbers(key, "key", query, "query", key.size(0), "C");
  check_numbers(value, "value", query, "query", key.size(0), "C");
  check_numbers(edge, "edge", query, "query", col.size(0), "E");
}

void check_gated_sum_backward(const at::Tensor& out_grad, const at::Tensor& gate_grad, const at::Tensor& out,
                              const at::Tensor& gate, const at::Tensor& total, const at::Tensor& value,
                              const EdgeIndex& index) {
  check_edge_shapes(index.rowptr, index.col, "rowptr", "col");
  check_edge_shapes(index.colptr, index.order, "colptr", "order");
  TORCH_CHECK(out.dim() == 2 && is_supported_float(out), "out must be [R, d], got ", out.sizes());
  check_numbers(out, "out", out, "out", index.rows(), "R");
  check_numbers(total, "total", out, "out", index.rows(), "R");
  check_numbers(gate, "gate", out, "out", index.edges(), "E");
  TORCH_CHECK(index.order.sizes() == index.col.sizes() && index.row.sizes() == index.col.sizes() &&
                  index.row.scalar_type() == at::kLong,
              "row and order must be int64 [E], ", index.col.sizes(), ", got ", index.row.sizes(), " and ",
              index.order.sizes());
  TORCH_CHECK(value.sizes() == at::IntArrayRef({index.columns(), out.size(1)}) && is_supported_float(value),
              "value must be [C, d], [", index.columns(), ", ", out.size(1), "], got ", value.sizes());
  TORCH_CHECK(out_grad.sizes() == out.sizes() && gate_grad.sizes() == gate.sizes(),
              "out_grad and gate_grad must have the shapes of the results, got ", out_grad.sizes(), " and ",
              gate_grad.sizes());
}

std::tuple<at::Tensor, at::Tensor> gated_edge_sum(const at::Tensor& query, const at::Tensor& key,
                                                  const at::Tensor& value, const at::Tensor& edge,
                                                  const EdgeIndex& index) {
  check_gated_sum(query, key, value, edge, index.rowptr, index.col);
  TORCH_CHECK(key.size(0) == index.columns(), "key must have a row for each of the ", index.columns(),
              " columns of index, got ", key.size(0));
  check_transforms("gated_edge_sum", {query, key, value, edge});
  const variable_list results = GatedSumFunction::apply(query, key, value, edge, index);
  return {results[0], results[1]};
}

GEOSFT_OPERATORS(m) {
  m.def(
      "_gated_edge_sum_forward(Tensor query, Tensor key, Tensor value, Tensor edge, Tensor rowptr, Tensor col) -> "
      "(Tensor out, Tensor gate, Tensor total)");
  m.def(
      "_gated_edge_sum_backward(Tensor out_grad, Tensor gate_grad, Tensor out, Tensor gate, Tensor total, Tensor "
      "value, Tensor rowptr, Tensor col, Tensor row, Tensor colptr, Tensor order) -> (Tensor query_grad, Tensor "
      "key_grad, Tensor value_grad, Tensor edge_grad)");
}

}  // namespace geosft
