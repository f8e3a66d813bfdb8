// SPDX-License-Identifier: Apache-2.0

#include "geometry/operators.h"
#include "models/ops/cuda/kernel_launcher.h"
#include "models/ops/cuda/polynomial_host.h"

namespace geosft::cuda {
namespace {

using Optional = std::optional<at::Tensor>;

// Launches the stages of tasks on the current stream of a device.
class StageLauncher {
 public:
  StageLauncher(const at::Device& device, const char* op) : launch_(device, op) {}

  template <class Stage, typename T>
  void operator()(Stage stage, const PolynomialTask<T>& task) const {
    launch_(PolynomialCall<Stage, T>{stage, task});
  }

 private:
  KernelLauncher launch_;
};

std::tuple<at::Tensor, at::Tensor> forward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                           int64_t degree, double scale, bool causal, const Optional& q_ptr,
                                           const Optional& k_ptr, bool center) {
  const StageLauncher launcher(q.device(), "polynomial_attention");
  const PolynomialArguments arguments{q, k, v, degree, scale, causal, q_ptr, k_ptr, center};
  arguments.check();
  return polynomial_forward(arguments, known_offsets(arguments), launcher);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> backward(const at::Tensor& grad, const at::Tensor& out,
                                                        const at::Tensor& denominator, const at::Tensor& q,
                                                        const at::Tensor& k, const at::Tensor& v, int64_t degree,
                                                        double scale, bool causal, const Optional& q_ptr,
                                                        const Optional& k_ptr, bool center) {
  const StageLauncher launcher(q.device(), "polynomial_attention backward");
  const PolynomialArguments arguments{q, k, v, degree, scale, causal, q_ptr, k_ptr, center};
  arguments.check();
  return polynomial_backward(grad, out, denominator, arguments, known_offsets(arguments), launcher);
}

}  // namespace

GEOSFT_KERNELS(CUDA, m) {
  m.impl("_polynomial_attention_forward", forward);
  m.impl("_polynomial_attention_backward", backward);
}

}  // namespace geosft::cuda
