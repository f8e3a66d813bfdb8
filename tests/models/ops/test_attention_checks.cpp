// SPDX-License-Identifier: Apache-2.0
#include "models/ops/attention_checks.h"

#include <catch2/catch.hpp>
#include <limits>

#include "tests/support.h"

namespace geosft::test::test_attention_checks {

TEST_CASE("check_sizes compares rank and sizes", "[attention_checks]") {
  const at::Tensor tensor = at::zeros({2, 3});
  check_sizes(tensor, "tensor", {2, 3}, "[a, b]");
  require_error([&] { check_sizes(tensor, "tensor", {2}, "[a]"); }, {"tensor", "[a]", "[2, 3]"});
  require_error([&] { check_sizes(tensor, "tensor", {2, 4}, "[a, b]"); }, {"tensor", "[a, b]", "[2, 4]", "[2, 3]"});
}

TEST_CASE("check_like compares dtype and device and refuses no tensor", "[attention_checks]") {
  const at::Tensor q = at::zeros({1}, at::kDouble);
  check_like(at::zeros({5}, at::kDouble), "k", q);
  require_error([&] { check_like(at::zeros({5}, at::kFloat), "k", q); }, {"k", "Double", "Float"});
  require_error([&] { check_like(at::zeros({5}, q.options().device(at::kMeta)), "k", q); }, {"k", "cpu", "meta"});
  require_error([&] { check_like(at::Tensor(), "k", q); }, {"k"});
}

TEST_CASE("check_index wants one dimension of int64", "[attention_checks]") {
  const at::Tensor q = at::zeros({1});
  check_index(at::zeros({3}, at::kLong), "top", q);
  require_error([&] { check_index(at::zeros({3}, at::kInt), "top", q); }, {"top", "int64"});
  require_error([&] { check_index(at::zeros({3, 1}, at::kLong), "top", q); }, {"top", "[3, 1]"});
}

TEST_CASE("check_attention works on meta tensors too", "[attention_checks]") {
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

TEST_CASE("check_attention requires a floating type of at least two bytes", "[attention_checks]") {
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

TEST_CASE("check_grad_output compares with the shape of the output", "[attention_checks]") {
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

}  // namespace geosft::test::test_attention_checks
