// SPDX-License-Identifier: Apache-2.0
#include "models/ops/attention_operator.h"

#include <catch2/catch.hpp>

#include "models/ops/maxout_attention.h"
#include "tests/models/ops/output_mask.h"
#include "tests/support.h"

namespace geosft::test::test_attention_operator {
namespace {

OptionalTensors maxout_inputs(const at::TensorOptions& options) {
  const at::Tensor q = at::ones({4, 2, 3}, options), k = at::ones({3, 2, 3}, options), v = at::ones({3, 2, 5}, options);
  return OptionalTensors(
      {q, k, v, at::ones({3, 2}, options), std::nullopt, at::ones({12, 2}, options), std::nullopt, std::nullopt});
}

c10::TypedOperatorHandle<AttentionBackward> backward_operator() {
  return find_operator<AttentionBackward>(backward_name(MaxoutInputs::kOperator).c_str());
}

}  // namespace

TEST_CASE("attention operators give a gradient for every floating input that is given", "[attention_operator]") {
  const OptionalTensors inputs = maxout_inputs(at::kDouble);
  const auto [out, denominator] = forward_operator<MaxoutInputs>().call(inputs, 1e-6);
  const auto gradients = backward_operator().call(out, out, denominator, inputs, 1e-6, uniform_mask(5));
  REQUIRE(gradients.size() == 5);
  REQUIRE(gradients[4].sizes() == at::IntArrayRef({12, 2}));  // of r_add: r_mul is absent
}

TEST_CASE("attention on meta tensors has the shapes and types of the real one", "[attention_operator]") {
  for (const auto type : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
    const OptionalTensors real = maxout_inputs(type);
    const OptionalTensors meta = maxout_inputs(at::TensorOptions().dtype(type).device(at::kMeta));
    const auto [out, denominator] = forward_operator<MaxoutInputs>().call(real, 1e-6);
    const auto [meta_out, meta_denominator] = forward_operator<MaxoutInputs>().call(meta, 1e-6);
    const auto require_alike = [](const at::Tensor& a, const at::Tensor& b) {
      REQUIRE(a.sizes() == b.sizes());
      REQUIRE(a.scalar_type() == b.scalar_type());
    };
    require_alike(meta_out, out);
    require_alike(meta_denominator, denominator);
    const auto gradients = backward_operator().call(out, out, denominator, real, 1e-6, uniform_mask(5));
    const auto meta_gradients =
        backward_operator().call(meta_out, meta_out, meta_denominator, meta, 1e-6, uniform_mask(5));
    REQUIRE(meta_gradients.size() == gradients.size());
    for (size_t i = 0; i < gradients.size(); ++i) require_alike(meta_gradients[i], gradients[i]);
  }
}

TEST_CASE("gradients that are not requested are skipped, on meta tensors too", "[attention_operator]") {
  c10::List<bool> output_mask = uniform_mask(5);
  output_mask.set(4, false);
  for (const auto device : {at::kCPU, at::kMeta}) {
    const OptionalTensors inputs = maxout_inputs(at::TensorOptions().dtype(at::kFloat).device(device));
    const auto [out, denominator] = forward_operator<MaxoutInputs>().call(inputs, 1e-6);
    const auto gradients = backward_operator().call(out, out, denominator, inputs, 1e-6, output_mask);
    REQUIRE(gradients.size() == 5);
    REQUIRE(gradients[3].sizes() == at::IntArrayRef({3, 2}));
    REQUIRE(gradients[4].sizes() == at::IntArrayRef({0}));
  }
}

TEST_CASE("the operators behind attention check what they are given", "[attention_operator]") {
  const OptionalTensors inputs = maxout_inputs(at::kFloat);
  const auto [out, denominator] = forward_operator<MaxoutInputs>().call(inputs, 1e-6);
  const auto backward = [&, &o = out, &d = denominator](const at::Tensor& grad, size_t count) {
    backward_operator().call(grad, o, d, inputs, 1e-6, uniform_mask(count));
  };
  require_error([&, &d = denominator] { backward(d, 5); }, {"grad must"});
  require_error([&, &o = out] { backward(o, 4); }, {"output_mask must", "5", "4"});
  require_error([&] { forward_operator<MaxoutInputs>().call(inputs, -1.0); }, {"eps"});
}

}  // namespace geosft::test::test_attention_operator
