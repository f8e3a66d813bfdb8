// SPDX-License-Identifier: Apache-2.0
// The CUDA kernels of an attention operator, emulated on the CPU, beside its slow reference and its CPU kernels.
#pragma once

#include "models/ops/cuda/attention_arguments.h"
#include "models/ops/cuda/attention_kernels.cuh"
#include "tests/geometry/cuda/emulated_block.h"
#include "tests/models/ops/attention_cases.h"
#include "tests/models/ops/output_mask.h"

namespace geosft::test {

// Takes the place of cuda::KernelLauncher. kMany: tiles of many rows a thread, which a GPU takes for large batches.
template <bool kMany, ThreadOrder kOrder = ThreadOrder::kAscending>
class EmulatedLauncher {
 public:
  EmulatedLauncher(const at::Device&, const char* /*op*/) {}
  static bool many_rows(int64_t, int64_t, int64_t) { return kMany; }

  template <class Call>
  void operator()(const Call& call) const {
    cuda::run_grids(call, EmulatedGrids<kOrder>());
  }
};

// Output and gradients, as `evaluate` has them; `names` are the arguments in the order of the operator's schema.
template <class Launcher, class Operator>
Outcome emulate(const Arguments& arguments, const std::vector<std::string>& names, const at::Tensor& grad_output,
                at::ScalarType dtype) {
  OptionalTensors inputs;
  std::vector<std::string> floating;
  for (const std::string& name : names) {
    std::optional<at::Tensor> tensor = arguments.optional(name);
    if (tensor && tensor->is_floating_point()) {
      tensor = tensor->to(dtype);
      floating.push_back(name);
    }
    inputs.push_back(tensor);
  }
  const auto [out, denominator] = attention_forward<cuda::AttentionDevice<Launcher, Operator>>(inputs, arguments.eps);
  const std::vector<at::Tensor> gradients = attention_backward<cuda::AttentionDevice<Launcher, Operator>>(
      grad_output.to(dtype), out, denominator, inputs, arguments.eps, uniform_mask(floating.size()));
  REQUIRE(gradients.size() == floating.size());
  Outcome outcome{out, {}};
  for (size_t i = 0; i < floating.size(); ++i) outcome.gradients[floating[i]] = gradients[i];
  return outcome;
}

// Gradients of the attention bias that nobody wants are left out, and the others have the same bits: none of them, and
// each alone.
template <class Operator>
void require_left_out(const Arguments& arguments, const std::vector<std::string>& names,
                      const at::Tensor& grad_output) {
  using Launcher = EmulatedLauncher<false>;
  OptionalTensors inputs;
  for (const std::string& name : names) inputs.push_back(arguments.optional(name));
  const auto [out, denominator] = attention_forward<cuda::AttentionDevice<Launcher, Operator>>(inputs, arguments.eps);
  const auto gradients = [&, &out = out, &denominator = denominator](const c10::List<bool>& output_mask) {
    return attention_backward<cuda::AttentionDevice<Launcher, Operator>>(grad_output, out, denominator, inputs,
                                                                         arguments.eps, output_mask);
  };
  size_t floating = 0;
  for (const std::optional<at::Tensor> input : inputs) floating += input && input->is_floating_point() ? 1 : 0;
  const std::vector<at::Tensor> all = gradients(uniform_mask(floating));
  for (size_t only = 3; only < floating; ++only) {  // 3, the last of the four that are made in any case: none further
    c10::List<bool> output_mask = uniform_mask(floating, false);
    output_mask.set(only, true);
    const std::vector<at::Tensor> few = gradients(output_mask);
    REQUIRE(few.size() == floating);
    for (size_t i = 0; i < floating; ++i) {
      if (i < 4 || i == only) require_equal(few[i], all[i], "gradient " + std::to_string(i));
      if (i >= 4 && i != only) REQUIRE(few[i].numel() == 0);
    }
  }
}

inline OptionalTensors of_type(const OptionalTensors& tensors, at::ScalarType dtype) {
  OptionalTensors converted;
  for (const std::optional<at::Tensor> tensor : tensors) {
    converted.push_back(tensor && tensor->is_floating_point() ? std::optional(tensor->to(dtype)) : tensor);
  }
  return converted;
}

// Inputs in a half type give what the same numbers in float32 give, rounded: forward, and backward from there.
template <class Operator>
void require_emulated_half(const Arguments& arguments, const std::vector<std::string>& names,
                           const at::Tensor& grad_output_in, at::ScalarType half, const std::string& what) {
  using Launcher = EmulatedLauncher<true>;
  OptionalTensors given;
  for (const std::string& name : names) given.push_back(arguments.optional(name));
  const OptionalTensors inputs = of_type(given, half), wide = of_type(inputs, at::kFloat);
  const auto [out, denominator] = attention_forward<cuda::AttentionDevice<Launcher, Operator>>(inputs, arguments.eps);
  const auto [wide_out, wide_denominator] =
      attention_forward<cuda::AttentionDevice<Launcher, Operator>>(wide, arguments.eps);
  require_equal(out, wide_out.to(half), what);
  require_equal(denominator, wide_denominator, what + " denominator");

  size_t floating = 0;
  for (const std::optional<at::Tensor> input : inputs) floating += input && input->is_floating_point() ? 1 : 0;
  const at::Tensor grad_output = grad_output_in.to(half);
  const std::vector<at::Tensor> gradients = attention_backward<cuda::AttentionDevice<Launcher, Operator>>(
      grad_output, out, denominator, inputs, arguments.eps, uniform_mask(floating));
  const std::vector<at::Tensor> expected = attention_backward<cuda::AttentionDevice<Launcher, Operator>>(
      grad_output.to(at::kFloat), out.to(at::kFloat), denominator, wide, arguments.eps, uniform_mask(floating));
  for (size_t i = 0; i < floating; ++i) {
    require_equal(gradients[i], expected[i].to(half), what + " gradient " + std::to_string(i));
  }
}

// `expected` in both precisions with few and with many rows a thread, and the same bits in the other order of threads.
template <class Operator>
void require_emulated(const Arguments& arguments, const std::vector<std::string>& names, const at::Tensor& grad_output,
                      const Outcome& expected, const std::string& what) {
  require_outcome(emulate<EmulatedLauncher<false>, Operator>(arguments, names, grad_output, at::kDouble), expected,
                  1e-10, 1e-10, what + " float64");
  const Outcome few = emulate<EmulatedLauncher<false>, Operator>(arguments, names, grad_output, at::kFloat);
  require_outcome(few, expected, 2e-5, 1e-4, what + " float32");
  const Outcome many = emulate<EmulatedLauncher<true>, Operator>(arguments, names, grad_output, at::kFloat);
  require_outcome(many, expected, 2e-5, 1e-4, what + " float32, many rows");
  const Outcome turned =
      emulate<EmulatedLauncher<true, ThreadOrder::kDescending>, Operator>(arguments, names, grad_output, at::kFloat);
  require_equal(turned.out, many.out, what + " other order");
  for (const auto& [name, gradient] : many.gradients) {
    require_equal(turned.gradients.at(name), gradient, what + " other order, gradient of " + name);
  }
}

// The reference in double precision, and the CPU operator in float32.
template <class Operator>
void require_emulated_reference(const Attention& fused, const Attention& slow, const Arguments& given,
                                const std::vector<std::string>& names, const std::string& what) {
  const Arguments arguments = rounded_to(well_conditioned(slow, given, at::kFloat), at::kFloat);
  at::Tensor shape;
  {
    at::NoGradGuard guard;
    shape = slow(arguments);
  }
  const at::Tensor grad_output = at::randn(shape.sizes(), generator(5), at::TensorOptions().dtype(at::kDouble));
  const Outcome expected = evaluate_reference(slow, arguments, grad_output);
  require_emulated<Operator>(arguments, names, grad_output, expected, what);
  Outcome on_cpu = evaluate(fused, arguments, grad_output, at::kFloat);
  on_cpu.magnitudes = expected.magnitudes;
  require_outcome(emulate<EmulatedLauncher<true>, Operator>(arguments, names, grad_output, at::kFloat), on_cpu, 2e-5,
                  1e-4, what + " beside the CPU operator");
  for (const at::ScalarType half : {at::kHalf, at::kBFloat16}) {
    require_emulated_half<Operator>(arguments, names, grad_output, half, what + " " + c10::toString(half));
  }
}

template <class Operator>
void require_emulated_fixture(const std::string& name, const std::vector<std::string>& names) {
  const GoldenAttention golden(name, names);
  require_emulated<Operator>(golden.arguments, names, golden.grad_output, golden.expected, name);
}

// Every compiled width, tiles that are not full of queries or keys, items without queries or keys.
inline std::vector<Sizes> tile_sizes() {
  std::vector<Sizes> sizes = awkward_sizes();
  sizes.push_back({{3, 40}, {270, 9}, 1, 8, 8});
  sizes.push_back({{65, 0, 2}, {70, 5, 0}, 2, 16, 13});
  sizes.push_back({{9, 64}, {33, 65}, 1, 20, 32});
  sizes.push_back({{70}, {17}, 2, 33, 64});
  sizes.push_back({{5, 66}, {20, 3}, 1, 128, 65});
  return sizes;
}

}  // namespace geosft::test
