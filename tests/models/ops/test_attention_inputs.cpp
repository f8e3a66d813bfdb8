// SPDX-License-Identifier: Apache-2.0
#include "models/ops/attention_inputs.h"

#include <catch2/catch.hpp>
#include <limits>

#include "models/ops/graph_attention.h"
#include "models/ops/maxout_attention.h"
#include "models/ops/point_attention.h"
#include "models/ops/sequence_attention.h"
#include "tests/models/ops/output_mask.h"
#include "tests/support.h"

namespace geosft::test::test_attention_inputs {

TEST_CASE("attention inputs are found by name, absent ones undefined", "[attention_inputs]") {
  std::vector<at::Tensor> t;
  for (int64_t i = 0; i < 14; ++i) t.push_back(at::full({1}, i));
  const PointInputs point(OptionalTensors({t[0], t[1], t[2], t[3], t[4], t[5], std::nullopt, std::nullopt, t[8], t[9],
                                           t[10], t[11], t[12], t[13]}),
                          0.5);
  REQUIRE(point.eps == 0.5);
  REQUIRE(point.leak().is_same(t[3]));
  REQUIRE(point.xs().is_same(t[5]));
  REQUIRE_FALSE(point.m().defined());
  REQUIRE_FALSE(point.ms().defined());
  REQUIRE(point.w_mul().is_same(t[8]));
  REQUIRE(point.b_add().is_same(t[11]));
  REQUIRE(point.q_ptr().is_same(t[12]));
  REQUIRE(point.k_ptr().is_same(t[13]));
}

TEST_CASE("a list of another length is refused", "[attention_inputs]") {
  const auto list = [](size_t count) {
    OptionalTensors inputs;
    for (size_t i = 0; i < count; ++i) inputs.push_back(at::ones({1}));
    return inputs;
  };
  const auto refused = [&](auto make, size_t count) {
    REQUIRE_NOTHROW(make(list(count)));
    for (const size_t other : {size_t{0}, size_t{5}, count - 1, count + 1}) {
      require_error([&] { make(list(other)); }, {"inputs must be", "got " + std::to_string(other)});
    }
  };
  refused([](const OptionalTensors& inputs) { return MaxoutInputs(inputs, 0.5); }, 8);
  refused([](const OptionalTensors& inputs) { return PointInputs(inputs, 0.5); }, 14);
  refused([](const OptionalTensors& inputs) { return SequenceInputs(inputs, 0.5); }, 12);
  refused([](const OptionalTensors& inputs) { return GraphInputs(inputs, 0.5); }, 16);
  require_error([&] { AttentionInputs(list(5), 0.5); }, {"inputs must be at least 6 tensors", "got 5"});
}

TEST_CASE("gradients that are not requested are skipped, except those of q, k, v and leak", "[attention_inputs]") {
  const at::Tensor one = at::ones({1}), ptr = at::zeros({2}, at::kLong);
  const MaxoutInputs in(OptionalTensors({one, one, one, one, std::nullopt, one, ptr, ptr}), 0.5);
  const OutputMask none(uniform_mask(5, false), in);
  REQUIRE_FALSE(none.bias_input(0));
  REQUIRE_FALSE(none.bias_input(1));
  std::vector<at::Tensor> gradients(5, one);
  none.leave_out(gradients);
  for (size_t i = 0; i < 5; ++i) REQUIRE(gradients[i].numel() == (i < 4 ? 1 : 0));
  const OutputMask last(c10::List<bool>({false, false, false, false, true}), in);
  REQUIRE_FALSE(last.bias_input(0));  // absent
  REQUIRE(last.bias_input(1));
  require_error([&] { OutputMask(uniform_mask(6), in); }, {"output_mask must", "5", "6"});
}

TEST_CASE("check_sizes compares rank and sizes", "[attention_inputs]") {
  const at::Tensor tensor = at::zeros({2, 3});
  check_sizes(tensor, "tensor", {2, 3}, "[a, b]");
  require_error([&] { check_sizes(tensor, "tensor", {2}, "[a]"); }, {"tensor", "[a]", "[2, 3]"});
  require_error([&] { check_sizes(tensor, "tensor", {2, 4}, "[a, b]"); }, {"tensor", "[a, b]", "[2, 4]", "[2, 3]"});
}

TEST_CASE("check_like compares dtype and device and refuses no tensor", "[attention_inputs]") {
  const at::Tensor q = at::zeros({1}, at::kDouble);
  check_like(at::zeros({5}, at::kDouble), "k", q);
  require_error([&] { check_like(at::zeros({5}, at::kFloat), "k", q); }, {"k", "Double", "Float"});
  require_error([&] { check_like(at::zeros({5}, q.options().device(at::kMeta)), "k", q); }, {"k", "cpu", "meta"});
  require_error([&] { check_like(at::Tensor(), "k", q); }, {"k"});
}

TEST_CASE("check_index wants one dimension of int64", "[attention_inputs]") {
  const at::Tensor q = at::zeros({1});
  check_index(at::zeros({3}, at::kLong), "top", q);
  require_error([&] { check_index(at::zeros({3}, at::kInt), "top", q); }, {"top", "int64"});
  require_error([&] { check_index(at::zeros({3, 1}, at::kLong), "top", q); }, {"top", "[3, 1]"});
}

TEST_CASE("check_attention works on meta tensors too", "[attention_inputs]") {
  const auto options = at::TensorOptions().device(at::kMeta);
  const at::Tensor q = at::zeros({4, 2, 3}, options), k = at::zeros({3, 2, 3}, options);
  const at::Tensor v = at::zeros({3, 2, 5}, options), leak = at::zeros({3, 2}, options);
  const auto check = [&](const at::Tensor& last, double eps) {
    check_attention(AttentionInputs(OptionalTensors({q, k, v, last, std::nullopt, std::nullopt}), eps));
  };
  check(leak, 0.0);
  require_error([&] { check(v, 0.0); }, {"leak"});
  for (const double eps : {-1.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
    require_error([&] { check(leak, eps); }, {"eps"});
  }
}

TEST_CASE("check_attention requires a floating type of at least two bytes", "[attention_inputs]") {
  const auto check = [](at::ScalarType type) {
    const at::Tensor k = at::zeros({3, 2, 4}, type);
    check_attention(
        AttentionInputs(OptionalTensors({k, k, k, at::zeros({3, 2}, type), std::nullopt, std::nullopt}), 0));
  };
  for (const auto type : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) check(type);
  for (const auto type : {at::kLong, at::kFloat8_e4m3fn, at::kComplexFloat}) {
    require_error([&] { check(type); }, {"q must be float32"});
  }
}

TEST_CASE("check_grad_output compares with the shape of the output", "[attention_inputs]") {
  const auto check = [](const at::Tensor& grad, const at::Tensor& out, const at::Tensor& denominator) {
    const at::Tensor q = at::zeros({4, 2, 3}, grad.scalar_type()), v = at::zeros({3, 2, 5}, grad.scalar_type());
    check_grad_output(grad, out, denominator, q, v);
  };
  const at::Tensor out = at::zeros({4, 2, 5}), denominator = at::zeros({4, 2}), other = at::zeros({4, 2, 3});
  check(out, out, denominator);
  check(out.to(at::kHalf), out.to(at::kHalf), denominator);
  require_error([&] { check(other, out, denominator); }, {"grad"});
  require_error([&] { check(out, other, denominator); }, {"out"});
  require_error([&] { check(out, out, out); }, {"denominator"});
  require_error([&] { check(out.to(at::kHalf), out.to(at::kHalf), denominator.to(at::kHalf)); },
                {"denominator", "Float"});
}

}  // namespace geosft::test::test_attention_inputs
