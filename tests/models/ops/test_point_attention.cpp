// SPDX-License-Identifier: Apache-2.0
#include "models/ops/point_attention.h"

#include "tests/models/ops/point_cases.h"

namespace geosft::test::test_point_attention {
using namespace point_cases;

TEST_CASE("point_attention reproduces the golden cases", "[point_attention]") {
  // Measured: 2.7e-15 of 1e-10, 4.2e-7 of 5e-6, 1.1e-6 of 2e-5 that are allowed.
  for (const char* name : {"angles_c17", "angles_one_item", "angles_ragged", "chirality_one_item", "chirality_ragged",
                           "normals_c17", "one_item", "ragged", "ragged_normals", "zero_rows"}) {
    require_fixture(fused, std::string("point_") + name, kArguments);
  }
}

TEST_CASE("point_attention gives each gradient alone", "[point_attention]") {
  // Measured: the same bits where 1e-12 is allowed.
  const at::Tensor grad_output = at::randn({149, 2, 2}, generator(9), at::kDouble);
  for (const int64_t channels : {2, 4, 5}) {
    require_single_gradients(fused, random_points({{9, 140}, {4, 20}, 2, 3, 2}, 37, channels), grad_output);
  }
}

TEST_CASE("point_attention does not depend on the number of threads", "[point_attention]") {
  for (const Sizes& sizes : {Sizes{{700}, {40}, 2, 8, 8}, Sizes{{300, 20, 513}, {33, 20, 70}, 4, 8, 16}}) {
    for (const int64_t channels : {2, 5}) {
      const Arguments a = random_points(sizes, 32, channels);
      const at::Tensor grad_output = at::randn({a["q"].size(0), sizes.heads, sizes.cv}, generator(8));
      for (const auto type : {at::kFloat, at::kBFloat16}) require_same_bits(fused, a, grad_output, type);
    }
  }
}

TEST_CASE("point_attention survives softplus far from zero", "[point_attention]") {
  // Where the factor is 300 the leak is a small part of the sum: the probabilities, and the sum over pairs that is the
  // gradient of b_mul, hardly depend on it. It is held to the magnitudes of its terms.
  Arguments a = random_points({{20}, {9}, 2, 4, 4}, 33, 5);
  a.tensors["b_mul"] = at::tensor({300.0, -300.0}, at::kDouble);
  require_reference(fused, slow, a, "extreme");
}

namespace {

// Coordinates and normals multiplied by an orthogonal matrix, and coordinates moved.
Arguments moved(const Arguments& a, const at::Tensor& turn) {
  Arguments result = a;
  for (const char* name : {"x", "xs"}) result.tensors[name] = at::matmul(a[name], turn) + 0.7;
  for (const char* name : {"m", "ms"}) result.tensors[name] = at::matmul(a[name], turn);
  return result;
}

// A random rotation, of determinant 1.
at::Tensor random_rotation() {
  const at::Tensor turn = std::get<0>(at::linalg_qr(at::randn({3, 3}, generator(3), at::TensorOptions(at::kDouble))));
  return turn * at::linalg_det(turn).sign();
}

}  // namespace

TEST_CASE("point_attention does not change under rotation and translation", "[point_attention]") {
  // Measured over 1,000 seeds, at most: 3.4e-15 where 1e-12 is allowed.
  for (const int64_t channels : {2, 4, 5}) {
    const Arguments a = random_points({{30, 7}, {9, 3}, 2, 4, 4}, 34, channels);
    require_close(fused(moved(a, random_rotation())), fused(a), 1e-12, "moved cloud");
  }
}

TEST_CASE("reflections change point_attention only through the triple product", "[point_attention]") {
  // Measured over 1,000 seeds, at most: 2.1e-15 where 1e-12 is allowed.
  const at::Tensor mirror = at::diag(at::tensor({1.0, 1.0, -1.0}, at::kDouble));
  for (const int64_t channels : {2, 4, 5}) {
    const Arguments a = random_points({{30, 7}, {9, 3}, 2, 4, 4}, 34, channels);
    const at::Tensor out = fused(a), reflected = fused(moved(a, mirror));
    if (channels < 5) {
      require_close(reflected, out, 1e-12, "mirror image");
      continue;
    }
    REQUIRE((reflected - out).abs().max().item<double>() > 1e-3);
    Arguments flipped = moved(a, mirror);  // the sign of the weights undoes that of the triple product
    for (const char* name : {"w_mul", "w_add"}) {
      const at::Tensor sign = at::tensor({1.0, 1.0, 1.0, 1.0, -1.0}, at::kDouble).unsqueeze(1);
      flipped.tensors[name] = a[name] * sign;
    }
    require_close(fused(flipped), out, 1e-12, "mirror image with the other sign");
  }
}

TEST_CASE("point_attention takes strided inputs and leaves them alone", "[point_attention]") {
  for (const int64_t channels : {2, 5}) {
    require_strided(fused, random_points({{9, 4}, {7, 5}, 3, 4, 4}, 38, channels));
  }
}

TEST_CASE("point_attention takes float16 and bfloat16", "[point_attention]") {
  for (const Sizes& sizes : half_sizes()) {
    for (const int64_t channels : {2, 4, 5}) require_half(fused, slow, random_points(sizes, 36, channels));
  }
}

TEST_CASE("point_attention refuses double backward", "[point_attention]") {
  require_single_backward(fused, random_points({{4}, {3}, 1, 2, 2}, 35, 5), "point_attention");
}

TEST_CASE("point_attention names the argument that is wrong", "[point_attention]") {
  const Arguments good = random_points({{4, 3}, {3, 2}, 2, 3, 2}, 36, 2);
  const auto refuses = names_wrong_argument(fused, good);
  const auto doubles = at::TensorOptions().dtype(at::kDouble);
  refuses("x", at::zeros({6, 3}, doubles));
  refuses("x", at::zeros({7, 3}, at::kFloat));
  refuses("xs", at::zeros({5, 2}, doubles));
  refuses("m", at::zeros({7}, doubles));
  refuses("ms", at::zeros({4, 3}, doubles));
  for (const int64_t rows : {0, 1, 3, 4, 5, 6})
    refuses(rows == 4 || rows == 5 ? "w_add" : "w_mul", at::zeros({rows, 2}, doubles));
  refuses("w_mul", at::zeros({2}, doubles));
  refuses("b_mul", at::zeros({3}, doubles));
  refuses("w_add", at::zeros({2, 3}, doubles));
  refuses("b_add", at::zeros({2, 1}, doubles));
  refuses("k_ptr", at::tensor({0, 3}, at::kLong));
  Arguments bad = good;
  bad.tensors.erase("ms");
  require_error([&] { fused(bad); }, {"ms"});
  Arguments no_normals = random_points({{4, 3}, {3, 2}, 2, 3, 2}, 36, 4);
  for (const char* name : {"m", "ms"}) no_normals.tensors.erase(name);
  require_error([&] { fused(no_normals); }, {"w_mul must be [r, h] = [1, h] without the normals m and ms"});
}

}  // namespace geosft::test::test_point_attention
