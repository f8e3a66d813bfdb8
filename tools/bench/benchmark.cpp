// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/benchmark.h"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

namespace geosft::bench {
namespace {

double relative_difference(const at::Tensor& actual, const at::Tensor& expected) {
  const double size = expected.to(at::kDouble).norm().item<double>();
  const double difference = (actual.to(at::kDouble) - expected.to(at::kDouble)).norm().item<double>();
  return size > 0 ? difference / size : difference;
}

}  // namespace

void check_agreement(const Benchmark& benchmark, double tolerance) {
  at::NoGradGuard unrecorded;
  Tensors expected;
  for (const Implementation& implementation : benchmark.implementations) {
    if (!implementation.align) continue;
    at::AutoGradMode recorded(true);
    if (expected.empty()) expected = benchmark.implementations.front().run();
    const Tensors results = implementation.run();
    TORCH_CHECK(results.size() == expected.size(), benchmark.name, ": ", implementation.name, " gives ", results.size(),
                " results, expected ", expected.size());
    for (size_t i = 0; i < results.size(); ++i) {
      const at::Tensor result = implementation.align(results[i].detach());
      TORCH_CHECK(result.sizes() == expected[i].sizes(), benchmark.name, ": result ", i, " of ", implementation.name,
                  " has shape ", result.sizes(), ", expected ", expected[i].sizes());
      const double difference = relative_difference(result, expected[i].detach());
      TORCH_CHECK(difference <= tolerance, benchmark.name, ": result ", i, " of ", implementation.name, " differs by ",
                  difference, " of its norm, expected at most ", tolerance);
    }
  }
}

std::function<Tensors()> measured_pass(Pass pass, const Tensors& inputs, const at::Tensor& grad_output,
                                       std::function<at::Tensor()> forward) {
  if (pass == Pass::forward) {
    return [forward = std::move(forward)] {
      at::NoGradGuard unrecorded;
      return Tensors{forward()};
    };
  }
  return [inputs, grad_output, forward = std::move(forward)] {
    Tensors results{forward()};
    for (at::Tensor& gradient : torch::autograd::grad({results[0]}, inputs, {grad_output})) {
      results.push_back(std::move(gradient));
    }
    return results;
  };
}

const char* pass_name(Pass pass) {
  return pass == Pass::forward ? "forward" : "forward+backward";
}

}  // namespace geosft::bench
