// SPDX-License-Identifier: Apache-2.0
#include "models/ops/edge_sum.h"

#include <ATen/OpMathType.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/csrc/autograd/custom_function.h>

#include "geometry/operators.h"
#include "geometry/packed.h"
#include "geometry/transform_checks.h"
#include "models/ops/once_differentiable.h"
#include "models/ops/opmath.h"

namespace geosft {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Returns the gradient of scale [E], in the type that kernels compute in: grad[row[e]] . f(x[col[e]] + edge[e]).
at::Tensor scale_gradient(const at::Tensor& grad, const at::Tensor& x, const std::optional<at::Tensor>& edge,
                          const at::Tensor& row, const at::Tensor& col, bool relu) {
  const at::ScalarType computed = at::toOpMathType(x.scalar_type());
  at::Tensor message = x.index_select(0, col).to(computed);
  if (given(edge)) message = message + *edge;
  if (relu) message = message.relu();
  return (grad.index_select(0, row).to(computed) * message).sum(1);
}

struct EdgeSumFunction : torch::autograd::Function<EdgeSumFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const std::optional<at::Tensor>& edge,
                            const std::optional<at::Tensor>& scale, const EdgeIndex& index, bool relu) {
    static const auto op = find_operator<EdgeSumForward>("_edge_sum_forward");
    at::AutoDispatchBelowADInplaceOrView below;
    context->save_for_backward({x, edge.value_or(at::Tensor()), scale.value_or(at::Tensor())});
    context->saved_data["index"] = std::vector<at::Tensor>{index.row, index.colptr, index.order, index.col};
    context->saved_data["relu"] = relu;
    return op.call(x, edge, scale, index.rowptr, index.col, relu);
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    static const auto op = find_operator<EdgeSumBackward>("_edge_sum_backward");
    const variable_list s = context->get_saved_variables();
    const std::vector<at::Tensor> index = context->saved_data["index"].toTensorVector();
    const bool relu = context->saved_data["relu"].toBool();
    const variable_list gradients = once_differentiable("edge_sum", {grads[0], s[0], s[1], s[2]}, [&] {
      const auto [x_grad, edge_grad] =
          op.call(grads[0], s[0], if_defined(s[1]), if_defined(s[2]), index[0], index[1], index[2], relu);
      at::Tensor scale_grad;
      if (s[2].defined() && s[2].requires_grad()) {
        scale_grad = scale_gradient(grads[0], s[0], if_defined(s[1]), index[0], index[3], relu).to(s[2].scalar_type());
      }
      return variable_list{x_grad, s[1].defined() ? edge_grad : at::Tensor(), scale_grad};
    });
    return {gradients[0], gradients[1], gradients[2], at::Tensor(), at::Tensor()};
  }
};

void check_number(const at::Tensor& tensor, const char* name, const at::Tensor& x) {
  TORCH_CHECK(tensor.scalar_type() == x.scalar_type(), name, " must have the dtype of x, ", x.scalar_type(), ", not ",
              tensor.scalar_type());
  TORCH_CHECK(tensor.device() == x.device(), name, " must be on the device of x, ", x.device(), ", not ",
              tensor.device());
}

}  // namespace

void check_edge_sum(const at::Tensor& x, const std::optional<at::Tensor>& edge, const std::optional<at::Tensor>& scale,
                    int64_t edges) {
  TORCH_CHECK(x.defined() && x.dim() == 2 && is_supported_float(x), "x must be [C, d] of ", supported_floats, ", got ",
              x.defined() ? c10::toString(x.scalar_type()) : "undefined", " ",
              x.defined() ? x.sizes() : at::IntArrayRef());
  if (given(edge)) {
    check_number(*edge, "edge", x);
    TORCH_CHECK(edge->sizes() == at::IntArrayRef({edges, x.size(1)}), "edge must be [E, d], [", edges, ", ", x.size(1),
                "], got ", edge->sizes());
  }
  if (!given(scale)) return;
  check_number(*scale, "scale", x);
  TORCH_CHECK(scale->sizes() == at::IntArrayRef({edges}), "scale must be [E], [", edges, "], got ", scale->sizes());
}

void check_edge_sum_backward(const at::Tensor& grad, const at::Tensor& x, const std::optional<at::Tensor>& edge,
                             const std::optional<at::Tensor>& scale, const at::Tensor& row, const at::Tensor& colptr,
                             const at::Tensor& order) {
  check_edge_shapes(colptr, order, "colptr", "order");
  check_edge_sum(x, edge, scale, order.size(0));
  check_number(grad, "grad", x);
  TORCH_CHECK(grad.dim() == 2 && grad.size(1) == x.size(1), "grad must be [R, d] with the d of x, ", x.size(1),
              ", got ", grad.sizes());
  TORCH_CHECK(colptr.size(0) == x.size(0) + 1, "colptr must be [C + 1] with the C of x, ", x.size(0), ", got ",
              colptr.sizes());
  TORCH_CHECK(row.scalar_type() == at::kLong && row.sizes() == order.sizes(), "row must be int64 [E], ", order.sizes(),
              ", got ", row.sizes());
}

at::Tensor edge_sum(const at::Tensor& x, const EdgeIndex& index, const std::optional<at::Tensor>& edge,
                    const std::optional<at::Tensor>& scale, bool relu) {
  check_edge_sum(x, edge, scale, index.edges());
  TORCH_CHECK(x.size(0) == index.columns(), "x must have a row for each of the ", index.columns(),
              " columns of index, got ", x.size(0));
  check_transforms("edge_sum", {x, edge.value_or(at::Tensor()), scale.value_or(at::Tensor())});
  return EdgeSumFunction::apply(x, edge, scale, index, relu);
}

at::Tensor sum_pool(const at::Tensor& x, const std::optional<at::Tensor>& ptr) {
  check_ptr(ptr, "ptr", x);
  return edge_sum(x, edges_of_items(ptr, x.size(0), x.device()));
}

GEOSFT_OPERATORS(m) {
  m.def("_edge_sum_forward(Tensor x, Tensor? edge, Tensor? scale, Tensor rowptr, Tensor col, bool relu) -> Tensor");
  m.def(
      "_edge_sum_backward(Tensor grad, Tensor x, Tensor? edge, Tensor? scale, Tensor row, Tensor colptr, Tensor order, "
      "bool relu) -> (Tensor x_grad, Tensor edge_grad)");
}

}  // namespace geosft
