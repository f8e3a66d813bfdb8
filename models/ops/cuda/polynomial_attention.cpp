// SPDX-License-Identifier: Apache-2.0

#include "geometry/cuda/stream.h"
#include "geometry/operators.h"
#include "models/ops/cuda/polynomial_host.h"
#include "models/ops/cuda/polynomial_launch.h"

namespace geosft::cuda {
namespace {

using Optional = std::optional<at::Tensor>;

std::tuple<at::Tensor, at::Tensor> forward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                           int64_t degree, double scale, bool causal, const Optional& q_ptr,
                                           const Optional& k_ptr, bool center) {
  const Stream stream(q.device());
  const PolynomialArguments arguments{q, k, v, degree, scale, causal, q_ptr, k_ptr, center};
  arguments.check();
  return polynomial_forward(arguments, known_offsets(arguments), [&](auto stage, const auto& task) {
    check_launch(launch_polynomial(stage, task, stream.get()), "polynomial_attention");
  });
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> backward(const at::Tensor& grad, const at::Tensor& out,
                                                        const at::Tensor& denominator, const at::Tensor& q,
                                                        const at::Tensor& k, const at::Tensor& v, int64_t degree,
                                                        double scale, bool causal, const Optional& q_ptr,
                                                        const Optional& k_ptr, bool center) {
  const Stream stream(q.device());
  const PolynomialArguments arguments{q, k, v, degree, scale, causal, q_ptr, k_ptr, center};
  arguments.check();
  return polynomial_backward(
      grad, out, denominator, arguments, known_offsets(arguments), [&](auto stage, const auto& task) {
        check_launch(launch_polynomial(stage, task, stream.get()), "polynomial_attention backward");
      });
}

}  // namespace

GEOSFT_KERNELS(CUDA, m) {
  m.impl("_polynomial_attention_forward", forward);
  m.impl("_polynomial_attention_backward", backward);
}

}  // namespace geosft::cuda
