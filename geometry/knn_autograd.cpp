// SPDX-License-Identifier: Apache-2.0
// Computes the gradient of the distances of knn on the CPU, and registers the autograd of both operators.
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "geometry/knn.h"
#include "geometry/operator_checks.h"
#include "geometry/operators.h"
#include "geometry/points.h"
#include "geometry/transform_checks.h"

namespace geosft {
namespace {

using OptionalTensor = std::optional<at::Tensor>;
using TensorPair = std::tuple<at::Tensor, at::Tensor>;

// Queries q with ends[r - 1] <= q < ends[r] form a run: no other run refers to the same points. An item consists of one
// or more runs, since items have disjoint rows. The runs are computed from the index itself, so no index can make two
// threads write to one row.
std::vector<int64_t> ends_of_runs(const int64_t* index, int64_t count, int64_t k) {
  std::vector<int64_t> lowest(count + 1, std::numeric_limits<int64_t>::max()), highest(count, -1);
  at::parallel_for(0, count, 1024, [&](int64_t begin, int64_t end) {
    for (int64_t q = begin; q < end; ++q) {
      for (const int64_t* row = index + q * k; row != index + (q + 1) * k; ++row) {
        if (*row < 0) continue;
        lowest[q] = std::min(lowest[q], *row);
        highest[q] = std::max(highest[q], *row);
      }
    }
  });
  for (int64_t q = count - 1; q >= 0; --q) lowest[q] = std::min(lowest[q], lowest[q + 1]);  // from q on
  std::vector<int64_t> ends;
  for (int64_t q = 0, so_far = -1; q < count; ++q) {
    so_far = std::max(so_far, highest[q]);
    if (so_far < lowest[q + 1]) ends.push_back(q + 1);
  }
  return ends;
}

// d dist2 / d query = 2 (q - p), and d dist2 / d point is its negative. Each run is computed by one thread, so the sum
// over the queries of a point has a fixed order.
template <typename scalar_t>
void accumulate_gradients(const scalar_t* grad, const scalar_t* points, const scalar_t* queries, const int64_t* index,
                          int64_t count, int64_t k, scalar_t* grad_points, scalar_t* grad_queries) {
  const auto accumulate = [&](int64_t q) {
    for (int64_t e = q * k; e < (q + 1) * k; ++e) {
      if (index[e] < 0) continue;
      for (int64_t axis = 0; axis < 3; ++axis) {
        const scalar_t term = 2 * grad[e] * (queries[3 * q + axis] - points[3 * index[e] + axis]);
        grad_queries[3 * q + axis] += term;
        grad_points[3 * index[e] + axis] -= term;
      }
    }
  };
  const std::vector<int64_t> ends = ends_of_runs(index, count, k);
  const auto runs = static_cast<int64_t>(ends.size());
  const int64_t grain = std::max<int64_t>(1, 8192 * runs / std::max<int64_t>(1, count * k));
  at::parallel_for(0, runs, grain, [&](int64_t begin, int64_t end) {
    for (int64_t q = begin == 0 ? 0 : ends[begin - 1]; q < ends[end - 1]; ++q) accumulate(q);
  });
}

TensorPair knn_backward_cpu(const at::Tensor& grad, const at::Tensor& points, const at::Tensor& queries,
                            const at::Tensor& index) {
  check_knn_backward(grad, points, queries, index);
  TORCH_CHECK(index.numel() == 0 || index.max().item<int64_t>() < points.size(0),
              "index must be below the number of points ", points.size(0));
  const at::Tensor grad_c = grad.contiguous(), points_c = points.contiguous(), queries_c = queries.contiguous();
  const at::Tensor index_c = index.contiguous();
  at::Tensor grad_points = at::zeros_like(points_c), grad_queries = at::zeros_like(queries_c);
  AT_DISPATCH_FLOATING_TYPES(points.scalar_type(), "knn_backward", [&] {
    accumulate_gradients(grad_c.const_data_ptr<scalar_t>(), points_c.const_data_ptr<scalar_t>(),
                         queries_c.const_data_ptr<scalar_t>(), index_c.const_data_ptr<int64_t>(), index.size(0),
                         index.size(1), grad_points.data_ptr<scalar_t>(), grad_queries.data_ptr<scalar_t>());
  });
  return {grad_points, grad_queries};
}

TensorPair knn_backward_meta(const at::Tensor& grad, const at::Tensor& points, const at::Tensor& queries,
                             const at::Tensor& index) {
  check_knn_backward(grad, points, queries, index);
  return {at::empty_symint(points.sym_sizes(), points.options()),
          at::empty_symint(queries.sym_sizes(), queries.options())};
}

TensorPair call_knn_backward(const at::Tensor& grad, const at::Tensor& points, const at::Tensor& queries,
                             const at::Tensor& index) {
  using Signature = TensorPair(const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&);
  static const auto op = find_operator<Signature>("_knn_backward");
  return op.call(grad, points, queries, index);
}

struct KnnFunction : torch::autograd::Function<KnnFunction> {
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* context, const at::Tensor& points,
                                                const at::Tensor& queries, int64_t k, const OptionalTensor& ptr,
                                                const OptionalTensor& query_ptr) {
    at::AutoDispatchBelowADInplaceOrView guard;
    auto [index, dist2] = knn(points, queries, k, ptr, query_ptr);
    context->save_for_backward({points, queries, index});
    context->mark_non_differentiable({index});
    return {index, dist2};
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& grads) {
    const auto saved = context->get_saved_variables();
    auto [grad_points, grad_queries] = call_knn_backward(grads[1], saved[0], saved[1], saved[2]);
    return {grad_points, grad_queries, at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

struct KnnBackwardFunction : torch::autograd::Function<KnnBackwardFunction> {
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext*, const at::Tensor& grad,
                                                const at::Tensor& points, const at::Tensor& queries,
                                                const at::Tensor& index) {
    at::AutoDispatchBelowADInplaceOrView guard;
    auto [grad_points, grad_queries] = call_knn_backward(grad, points, queries, index);
    return {grad_points, grad_queries};
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                 const torch::autograd::variable_list&) {
    TORCH_CHECK(false, "double backward of knn is not supported: dist2 can be differentiated once");
  }
};

TensorPair knn_autograd(const at::Tensor& points, const at::Tensor& queries, int64_t k, const OptionalTensor& ptr,
                        const OptionalTensor& query_ptr) {
  check_knn(points, queries, k);  // apply() requires defined tensors
  check_transforms("knn", {points, queries});
  const auto result = KnnFunction::apply(points, queries, k, ptr, query_ptr);
  return {result[0], result[1]};
}

TensorPair knn_backward_autograd(const at::Tensor& grad, const at::Tensor& points, const at::Tensor& queries,
                                 const at::Tensor& index) {
  check_transforms("knn", {grad, points, queries});
  const auto result = KnnBackwardFunction::apply(grad, points, queries, index);
  return {result[0], result[1]};
}

GEOSFT_OPERATORS(m) {
  define_operator<c10::DispatchKey::CPU, c10::DispatchKey::Meta, c10::DispatchKey::Autograd>(
      m,
      "_knn_backward(Tensor grad_dist2, Tensor points, Tensor queries, Tensor index) "
      "-> (Tensor grad_points, Tensor grad_queries)",
      knn_backward_cpu, knn_backward_meta, knn_backward_autograd);
  implement_operator<c10::DispatchKey::Autograd>(m, "knn", knn_autograd);
}

}  // namespace

void check_knn_backward(const at::Tensor& grad, const at::Tensor& points, const at::Tensor& queries,
                        const at::Tensor& index) {
  check_points(points, "points");
  check_points(queries, "queries");
  check_same_kind(points, "points", queries, "queries");
  check_same_kind(grad, "grad_dist2", points, "points");
  TORCH_CHECK(index.scalar_type() == at::kLong && index.dim() == 2 && index.sym_size(0) == queries.sym_size(0),
              "index must be int64 [Q, k] with a row for each of the ", queries.sym_size(0), " queries, got ",
              index.scalar_type(), " ", index.sym_sizes());
  TORCH_CHECK(grad.sym_sizes() == index.sym_sizes(), "grad_dist2 must have the shape of index, ", index.sym_sizes(),
              ", got ", grad.sym_sizes());
}

}  // namespace geosft
