// SPDX-License-Identifier: Apache-2.0
#include "models/ops/point_attention.h"

#include "tests/models/ops/point_cases.h"

namespace geosft::test::test_point_attention {
using namespace point_cases;

TEST_CASE("point_attention reproduces the golden cases", "[point_attention]") {
  for (const char* name : {"normals_c17", "one_item", "ragged", "ragged_normals", "zero_rows"}) {
    require_fixture(fused, std::string("point_") + name, kArguments);
  }
}

TEST_CASE("point_attention gives each gradient alone", "[point_attention]") {
  require_single_gradients(fused, random_points({{9, 140}, {4, 20}, 2, 3, 2}, 37, true),
                           at::randn({149, 2, 2}, generator(9), at::kDouble));
}

TEST_CASE("point_attention does not depend on the number of threads", "[point_attention]") {
  for (const Sizes& sizes : {Sizes{{700}, {40}, 2, 8, 8}, Sizes{{300, 20, 513}, {33, 20, 70}, 4, 8, 16}}) {
    const Arguments a = random_points(sizes, 32, true);
    const at::Tensor grad_output = at::randn({a["q"].size(0), sizes.heads, sizes.cv}, generator(8));
    for (const auto type : {at::kFloat, at::kBFloat16}) require_same_bits(fused, a, grad_output, type);
  }
}

TEST_CASE("point_attention survives softplus far from zero", "[point_attention]") {
  Arguments a = random_points({{20}, {9}, 2, 4, 4}, 33, true);
  a.tensors["b_mul"] = at::tensor({300.0, -300.0}, at::kDouble);
  require_reference(fused, slow, a, "extreme");
}

TEST_CASE("point_attention does not change under rotation and translation", "[point_attention]") {
  const Arguments a = random_points({{30, 7}, {9, 3}, 2, 4, 4}, 34, true);
  const at::Tensor turn = std::get<0>(at::linalg_qr(at::randn({3, 3}, generator(3), at::TensorOptions(at::kDouble))));
  Arguments moved = a;
  for (const char* name : {"x", "xs"}) moved.tensors[name] = at::matmul(a[name], turn) + 0.7;
  for (const char* name : {"m", "ms"}) moved.tensors[name] = at::matmul(a[name], turn);
  require_close(fused(moved), fused(a), 1e-12, "moved cloud");
}

TEST_CASE("point_attention takes strided inputs and leaves them alone", "[point_attention]") {
  require_strided(fused, random_points({{9, 4}, {7, 5}, 3, 4, 4}, 38, true));
}

TEST_CASE("point_attention takes float16 and bfloat16", "[point_attention]") {
  for (const Sizes& sizes : half_sizes()) require_half(fused, slow, random_points(sizes, 36, true));
}

TEST_CASE("point_attention refuses double backward", "[point_attention]") {
  require_single_backward(fused, random_points({{4}, {3}, 1, 2, 2}, 35, true), "point_attention");
}

TEST_CASE("point_attention names the argument that is wrong", "[point_attention]") {
  const Arguments good = random_points({{4, 3}, {3, 2}, 2, 3, 2}, 36, true);
  const auto refuses = [&](const std::string& name, const at::Tensor& value) {
    Arguments bad = good;
    bad.tensors[name] = value;
    require_error([&] { fused(bad); }, {name + " must"});
  };
  const auto doubles = at::TensorOptions().dtype(at::kDouble);
  refuses("x", at::zeros({6, 3}, doubles));
  refuses("x", at::zeros({7, 3}, at::kFloat));
  refuses("xs", at::zeros({5, 2}, doubles));
  refuses("m", at::zeros({7}, doubles));
  refuses("ms", at::zeros({4, 3}, doubles));
  refuses("w_mul", at::zeros({1, 2}, doubles));
  refuses("b_mul", at::zeros({3}, doubles));
  refuses("w_add", at::zeros({2, 3}, doubles));
  refuses("b_add", at::zeros({2, 1}, doubles));
  refuses("k_ptr", at::tensor({0, 3}, at::kLong));
  Arguments bad = good;
  bad.tensors.erase("ms");
  require_error([&] { fused(bad); }, {"ms"});
}

}  // namespace geosft::test::test_point_attention
