// SPDX-License-Identifier: Apache-2.0
#include "models/ops/maxout_attention.h"

#include <cmath>

#include "tests/models/ops/maxout_cases.h"

namespace geosft::test::test_maxout_attention {
using namespace maxout_cases;

TEST_CASE("maxout_attention reproduces the golden cases", "[maxout_attention]") {
  // Measured: 2.6e-15 of 1e-10, 2.1e-7 of 5e-6, 1.6e-6 of 2e-5 that are allowed.
  for (const char* name : {"add_only", "all_zero", "empty_items", "many_keys", "mul_only", "no_leak_eps0", "one_item",
                           "ragged", "ragged_relative", "ties", "zero_rows"}) {
    require_fixture(fused, std::string("maxout_") + name, kArguments);
  }
}

TEST_CASE("maxout_attention agrees with the reference at awkward sizes", "[maxout_attention]") {
  uint64_t seed = 1;
  for (const Sizes& sizes : awkward_sizes()) {
    require_reference(fused, slow, random_attention(sizes, ++seed), "plain");
    require_reference(fused, slow, with_relative(sizes, ++seed), "relative");
    require_reference(fused, slow, with_relative(sizes, ++seed, true, false), "r_mul");
    require_reference(fused, slow, with_relative(sizes, ++seed, false, true), "r_add");
  }
}

TEST_CASE("maxout_attention passes gradcheck", "[maxout_attention]") {
  require_gradcheck(fused, with_relative({{5, 3}, {4, 2}, 2, 3, 2}, 3));
  require_gradcheck(fused, random_attention({{6}, {5}, 3, 2, 4}, 4));
}

TEST_CASE("maxout_attention gives each gradient alone", "[maxout_attention]") {
  // Measured: the same bits where 1e-12 is allowed.
  require_single_gradients(fused, with_relative({{9, 140}, {4, 20}, 2, 3, 2}, 6),
                           at::randn({149, 2, 2}, generator(9), at::kDouble));
}

TEST_CASE("maxout_attention does not depend on the number of threads", "[maxout_attention]") {
  for (const Sizes& sizes : {Sizes{{700}, {40}, 2, 8, 8}, Sizes{{300, 20, 513}, {33, 20, 70}, 4, 8, 16}}) {
    const Arguments a = random_attention(sizes, 7);
    const at::Tensor grad_output = at::randn({a["q"].size(0), sizes.heads, sizes.cv}, generator(8));
    for (const auto type : {at::kFloat, at::kBFloat16}) require_same_bits(fused, a, grad_output, type);
  }
}

TEST_CASE("maxout_attention leaves zero rows and zero gradients exactly zero", "[maxout_attention]") {
  Arguments a = random_attention({{4}, {3}, 2, 2, 2}, 9);
  a.eps = 0;
  a.tensors["leak"] = at::full({3, 2}, -std::numeric_limits<double>::infinity(), at::kDouble);
  a.tensors["r_add"] = at::full({12, 2}, -100.0, at::kDouble);
  const Outcome outcome = evaluate(fused, a, at::ones({4, 2, 2}, at::kDouble), at::kDouble);
  require_equal(outcome.out, at::zeros({4, 2, 2}, at::kDouble), "out");
  for (const auto& [name, gradient] : outcome.gradients) require_equal(gradient, at::zeros_like(gradient), name);
}

TEST_CASE("maxout_attention without leak has rows that sum to one", "[maxout_attention]") {
  // Measured: 1.1e-16 where 1e-14 is allowed.
  Arguments a = random_attention({{40}, {9}, 2, 4, 1}, 10);
  a.eps = 0;
  a.tensors["leak"].fill_(-std::numeric_limits<double>::infinity());
  a.tensors["q"].abs_();
  a.tensors["v"].fill_(1);
  require_close(fused(a), at::ones({40, 2, 1}, at::kDouble), 1e-14, "rows");
}

TEST_CASE("maxout_attention passes NaN on, on every vector target", "[maxout_attention]") {
  for_each_target([](const std::string& target) {
    for (const std::string name : {"q", "k", "v", "leak"}) {
      for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
        INFO(target << " " << name);
        Arguments a = random_attention({{20, 3}, {9, 4}, 2, 5, 3}, 11);
        for (const std::string input : {"q", "k", "v", "leak"}) a.tensors[input] = a[input].to(type, false, true);
        a[name].select(0, 1).select(0, 1).fill_(std::nan(""));  // row 1, in the first item, head 1
        at::Tensor expected = at::zeros({23, 2}, at::kBool);
        (name == "q" ? expected.slice(0, 1, 2) : expected.slice(0, 0, 20)).select(1, 1).fill_(true);
        require_equal(fused(a).isnan().any(2), expected, name);
      }
    }
  });
}

TEST_CASE("maxout_attention gives zeros where the inverse of the denominator overflows", "[maxout_attention]") {
  const at::Tensor minus = at::full({1, 1, 1}, -1.0, at::kDouble), leak = at::full({1, 1}, -740.0, at::kDouble);
  const at::Tensor out = maxout_attention(minus, minus, -minus, leak, {}, {}, {}, {}, 0.0);
  REQUIRE(out.item<double>() == 0.0);
}

TEST_CASE("maxout_attention gives zeros for denominators below the smallest normal number, gradients included",
          "[maxout_attention]") {
  for_each_target([](const std::string& target) {
    for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
      INFO(target << " " << type);
      require_tiny_denominators(type, [](const Arguments& a, const at::Tensor& grad_output, at::ScalarType dtype) {
        return evaluate(fused, a, grad_output, dtype);
      });
    }
  });
}

TEST_CASE("maxout_attention takes strided inputs and leaves them alone", "[maxout_attention]") {
  require_strided(fused, with_relative({{9, 4}, {7, 5}, 3, 4, 4}, 11));
}

TEST_CASE("maxout_attention takes float16 and bfloat16", "[maxout_attention]") {
  for (const Sizes& sizes : half_sizes()) {
    require_half(fused, slow, with_relative(sizes, 13));
    require_half(fused, slow, random_attention(sizes, 14));
  }
}

TEST_CASE("maxout_attention refuses double backward", "[maxout_attention]") {
  require_single_backward(fused, with_relative({{4, 2}, {3, 1}, 1, 2, 2}, 12), "maxout_attention");
}

TEST_CASE("maxout_attention names the argument that is wrong", "[maxout_attention]") {
  const Arguments good = with_relative({{4, 3}, {3, 2}, 2, 3, 2}, 13);
  const auto refuses = names_wrong_argument(fused, good);
  const auto doubles = at::TensorOptions().dtype(at::kDouble);
  refuses("q", at::zeros({7, 6}, doubles));
  refuses("q", at::zeros({7, 2, 3}, at::kLong));
  refuses("q", at::zeros({7, 2, 0}, doubles));
  refuses("k", at::zeros({5, 2, 4}, doubles));
  refuses("k", at::zeros({5, 2, 3}, at::kFloat));
  refuses("v", at::zeros({4, 2, 2}, doubles));
  refuses("leak", at::zeros({5, 3}, doubles));
  refuses("r_mul", at::zeros({17, 2}, doubles));
  refuses("r_add", at::zeros({18, 1}, doubles));
  refuses("q_ptr", at::tensor({0, 8, 7}, at::kLong));
  refuses("q_ptr", at::tensor({0, 5, 4, 7}, at::kLong), " and k_ptr");
  refuses("q_ptr", at::tensor({0, 4, 6}, at::kLong));
  refuses("k_ptr", at::tensor({0, 3, 5}, at::kInt));
  refuses("k_ptr", at::tensor({0, 5}, at::kLong));
  Arguments bad = good;
  bad.tensors.erase("k_ptr");
  require_error([&] { fused(bad); }, {"k_ptr"});
  bad = good;
  bad.eps = -1;
  require_error([&] { fused(bad); }, {"eps"});
}

}  // namespace geosft::test::test_maxout_attention
