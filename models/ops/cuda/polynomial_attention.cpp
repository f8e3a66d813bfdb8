// SPDX-License-Identifier: Apache-2.0

#include "geometry/operators.h"
#include "models/ops/cuda/kernel_launcher.h"
#include "models/ops/cuda/polynomial_host.h"

namespace geosft::cuda {
namespace {

// Launches the stages of tasks on the current stream of a device.
class StageLauncher {
 public:
  StageLauncher(const at::Device& device, const char* op) : launch_(device, op) {}

  template <class Stage, typename T>
  void operator()(Stage stage, const PolynomialTask<T>& task) const {
    launch_(PolynomialStageCall<Stage, T>{stage, task});
  }

 private:
  KernelLauncher launch_;
};

std::tuple<at::Tensor, at::Tensor> forward(const PolynomialArguments& a) {
  const StageLauncher launcher(a.q.device(), "polynomial_attention");
  return polynomial_forward(a, known_offsets(a), launcher);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> backward(const at::Tensor& grad, const at::Tensor& out,
                                                        const at::Tensor& denominator, const PolynomialArguments& a) {
  const StageLauncher launcher(a.q.device(), "polynomial_attention backward");
  return polynomial_backward(grad, out, denominator, a, known_offsets(a), launcher);
}

}  // namespace

GEOSFT_KERNELS(CUDA, m) {
  m.impl("_polynomial_attention_forward", polynomial_forward_kernel<forward>);
  m.impl("_polynomial_attention_backward", polynomial_backward_kernel<backward>);
}

}  // namespace geosft::cuda
