// SPDX-License-Identifier: Apache-2.0
#include "models/ops/attention_checks.h"

#include <catch2/catch.hpp>
#include <limits>

#include "tests/support.h"

namespace geosft::test {

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
  check_attention(q, k, v, leak, std::nullopt, std::nullopt, 0.0);
  require_error([&] { check_attention(q, k, v, v, std::nullopt, std::nullopt, 0.0); }, {"leak"});
  for (const double eps : {-1.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
    require_error([&] { check_attention(q, k, v, leak, std::nullopt, std::nullopt, eps); }, {"eps"});
  }
}

TEST_CASE("check_upstream compares with the shape of the output", "[attention_checks]") {
  const at::Tensor q = at::zeros({4, 2, 3}), v = at::zeros({3, 2, 5});
  const at::Tensor out = at::zeros({4, 2, 5}), denominator = at::zeros({4, 2});
  check_upstream(out, out, denominator, q, v);
  require_error([&] { check_upstream(q, out, denominator, q, v); }, {"grad"});
  require_error([&] { check_upstream(out, q, denominator, q, v); }, {"out"});
  require_error([&] { check_upstream(out, out, out, q, v); }, {"denominator"});
}

TEST_CASE("empty_gradients have the shapes of the inputs", "[attention_checks]") {
  const auto gradients = empty_gradients({at::zeros({2, 3}), std::nullopt});
  REQUIRE(gradients.size() == 2);
  REQUIRE(gradients[0].sizes() == at::IntArrayRef({2, 3}));
  REQUIRE(gradients[1].numel() == 0);
}

}  // namespace geosft::test
