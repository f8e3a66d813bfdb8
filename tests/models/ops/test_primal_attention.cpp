// SPDX-License-Identifier: Apache-2.0
#include "models/ops/primal_attention.h"

#include <cmath>

#include "tests/models/ops/primal_cases.h"

namespace geosft::test::test_primal_attention {
namespace {

struct Tolerance {
  double wide = 1e-10, out = 1e-5, gradient = 1e-4;  // in float64; in float32
};

void require_golden(const std::string& name, const Tolerance& tolerance = {}) {
  const GoldenPrimal golden(name);
  const Attention fused = fused_primal(golden.numbers);
  for_each_target([&](const std::string& target) {
    require_outcome(evaluate(fused, golden.arguments, golden.grad_output, at::kDouble), golden.expected, tolerance.wide,
                    tolerance.wide, name + " float64 " + target);
    require_outcome(evaluate(fused, golden.arguments, golden.grad_output, at::kFloat), golden.expected, tolerance.out,
                    tolerance.gradient, name + " float32 " + target);
  });
}

void require_slow(const Arguments& arguments, const PrimalNumbers& numbers, const std::string& what) {
  require_reference(fused_primal(numbers), slow_primal(numbers), arguments, what, 1e-3);
}

// Items of 1, 2 and 31 keys are computed by our own kernel, two of 300 by LibTorch's in one call.
const Sizes mixed_sizes{{4, 2, 0, 300, 300, 31}, {1, 2, 5, 300, 300, 33}, 4, 5, 3};

}  // namespace

TEST_CASE("primal_attention reproduces the golden cases", "[primal_attention]") {
  // Measured: 3.3e-14 of 1e-10, 2.5e-16 of 1e-9, 3.0e-7 of 1e-5, 3.6e-5 of 0.0001 that are allowed.
  for (const std::string& name : golden_primal_names()) require_golden(name);
  require_golden("primal_linear_small_sum", {.wide = 1e-9});
  require_golden("primal_large_logits");
}

TEST_CASE("primal_attention agrees with its definition", "[primal_attention]") {
  for (const std::string& family : primal_families()) {
    for (PrimalCase c : awkward_primal_cases(family)) {
      if (c.numbers.linear) {
        // Over a single key of weight w the derivative of a score is g . v (1 - w / (w + eps)) / (w + eps): a
        // difference that leaves eps / (w + eps) of its terms. In float32 that is rounding unless eps is of the order
        // of w. With eps = 1 some 12 operations, each off by 2^-24, are 12 (w + 1) 2^-24 of it: within 1e-4 up to w =
        // 138, where a product of two normal numbers plus 1 is mostly below 10.
        const at::Tensor& q = c.arguments["q"];
        const at::Tensor grad_output =
            at::randn({q.size(0), q.size(1), c.arguments["v"].size(2)}, generator(5), at::kDouble);
        require_outcome(evaluate(fused_primal(c.numbers), c.arguments, grad_output, at::kDouble),
                        evaluate(slow_primal(c.numbers), c.arguments, grad_output, at::kDouble), 1e-10, 1e-10,
                        "linear, small eps", 1e-3);
        c.arguments.eps = 1;
      }
      require_slow(c.arguments, c.numbers, family);
    }
  }
}

TEST_CASE("primal_attention agrees with its definition where items are large", "[primal_attention]") {
  // Measured over 1,000 seeds, at most: 2.6e-13 of 1e-10, 1.5e-6 of 2e-5, 5.4e-5 of 0.0001 that are allowed.
  for (const std::string& family : primal_families()) {
    const PrimalCase c(family, mixed_sizes, 12);
    require_slow(c.arguments, c.numbers, family);
  }
  require_slow(random_primal({{200, 200}, {180, 180}, 2, 16, 16}, 13), {}, "one call");
  require_slow(random_primal({{200, 200}, {180, 180}, 2, 3, 16}, 14, true), {{}, false, -0.7}, "wider values");
}

TEST_CASE("primal_attention without ptr is one item", "[primal_attention]") {
  for (const bool linear : {false, true}) {
    Arguments a = random_primal({{7}, {9}, 2, 3, 4}, 15, true);
    const at::Tensor expected = fused_primal({{2, 1}, linear})(a);
    a.tensors.erase("q_ptr");
    a.tensors.erase("k_ptr");
    require_equal(fused_primal({{2, 1}, linear})(a), expected, "one item");
  }
}

TEST_CASE("a mask of all heads is that mask for each head", "[primal_attention]") {
  // Measured over 1,000 seeds, at most: 7.0e-14 of 1e-10, 2.3e-7 of 2e-5, 1.2e-5 of 0.0001 that are allowed.
  const PrimalNumbers numbers{{2, 2}};
  Arguments a = random_primal({{5, 9}, {7, 4}, 2, 3, 4}, 16, true);
  add_random_mask(a, numbers, false, 17);
  require_slow(a, numbers, "shared");
}

TEST_CASE("without beta, factors or a mask primal_attention is what they leave alone", "[primal_attention]") {
  // Measured over 1,000 seeds, at most: 2.5e-15 where 1e-13 is allowed, and the same bits where 1e-14 is allowed.
  const Sizes sizes{{5, 200}, {7, 180}, 3, 8, 6};
  for (const bool linear : {false, true}) {
    Arguments a = random_primal(sizes, 18);
    const at::Tensor plain = fused_primal({{}, linear})(a);
    require_equal(fused_primal({{1, 1, 1}, linear})(a), plain, "factors of 1");
    a.tensors["beta"] = at::zeros({}, at::kDouble);
    require_close(fused_primal({{}, linear})(a), plain, 1e-14, "beta 0");
  }
  Arguments a = random_primal(sizes, 18);
  const at::Tensor plain = fused_primal({})(a);
  std::vector<int64_t> rowptr{0};
  for (int64_t i = 0; i < 205; ++i) rowptr.push_back(rowptr.back() + (i < 5 ? 7 : 180));
  a.tensors["mask_rowptr"] = at::tensor(rowptr, at::kLong);
  a.tensors["mask_col"] = at::cat({at::arange(7).repeat({5}), at::arange(7, 187).repeat({200})});
  require_close(fused_primal({})(a), plain, 1e-13, "full mask");
}

TEST_CASE("a pooling factor beyond an item leaves one key", "[primal_attention]") {
  // Measured: the same bits where 1e-14 is allowed.
  const Arguments a = random_primal({{5}, {7}, 1, 3, 4}, 19);
  for (const int64_t factor : {int64_t{7}, int64_t{1} << 62}) {
    require_close(fused_primal({{factor}})(a), a["v"].mean(0, true).expand({5, 1, 4}), 1e-14, "mean");
  }
}

TEST_CASE("primal_attention passes gradcheck and refuses a second derivative", "[primal_attention]") {
  for (const std::string& family : primal_families()) {
    const PrimalCase c(family, {{5, 3, 0}, {4, 2, 3}, 3, 3, 2}, 20);
    require_gradcheck(fused_primal(c.numbers), c.arguments);
    require_single_backward(fused_primal(c.numbers), c.arguments, "primal_attention");
  }
}

TEST_CASE("primal_attention does not depend on the number of threads", "[primal_attention]") {
  for (const std::string& family : primal_families()) {
    const PrimalCase c(family, {{700, 30, 1111}, {700, 30, 1111}, 4, 16, 16}, 21);
    require_same_bits(fused_primal(c.numbers), c.arguments, at::randn({1841, 4, 16}, generator(8)));
  }
}

TEST_CASE("primal_attention takes float16 and bfloat16", "[primal_attention]") {
  // Measured over 1,000 seeds, at most: 4.9e-4 where 0.002 is allowed, and 3.9e-3 where 0.02 is allowed.
  for (const std::string& family : primal_families()) {
    const PrimalCase c(family, {{40, 9}, {33, 7}, 2, 4, 3}, 22);
    require_half(fused_primal(c.numbers), slow_primal(c.numbers), c.arguments);
  }
}

TEST_CASE("primal_attention keeps NaN to the queries that see it", "[primal_attention]") {
  for (const bool linear : {false, true}) {
    for (const char* name : {"k", "v"}) {
      Arguments a = random_primal({{50, 300}, {40, 300}, 2, 3, 4}, 23);
      a.tensors[name] = a[name].clone();
      a.tensors[name][17].fill_(std::nan(""));
      const at::Tensor out = fused_primal({{}, linear})(a);
      INFO(name << (linear ? " linear" : " softmax"));
      REQUIRE(out.slice(0, 0, 50).isnan().all().item<bool>());
      REQUIRE(out.slice(0, 50).isfinite().all().item<bool>());
    }
  }
}

TEST_CASE("primal_attention takes strided arguments and leaves them as they are", "[primal_attention]") {
  for (const std::string& family : primal_families()) {
    const PrimalCase c(family, {{9, 200}, {7, 220}, 3, 8, 8}, 24);
    Arguments strided = c.arguments;
    for (const char* name : {"q", "k", "v"}) {
      strided.tensors[name] = at::stack({c.arguments[name], c.arguments[name]}, -1).select(-1, 0);
    }
    const at::Tensor before = strided["k"].clone();
    require_equal(fused_primal(c.numbers)(strided), fused_primal(c.numbers)(c.arguments), family);
    require_equal(strided["k"], before, "k");
  }
}

TEST_CASE("primal_attention of nothing", "[primal_attention]") {
  for (const std::string& family : primal_families()) {
    for (const Sizes& sizes : {Sizes{{0}, {3}, 2, 3, 4}, Sizes{{3}, {0}, 2, 3, 4}, Sizes{{0, 0}, {0, 0}, 2, 3, 4}}) {
      const PrimalCase c(family, sizes, 25);
      const int64_t queries = c.arguments["q"].size(0);
      const Outcome outcome =
          evaluate(fused_primal(c.numbers), c.arguments, at::ones({queries, 2, 4}, at::kDouble), at::kDouble);
      require_equal(outcome.out, at::zeros({queries, 2, 4}, at::kDouble), "zeros");
      for (const auto& [name, gradient] : outcome.gradients) REQUIRE(gradient.eq(0).all().item<bool>());
    }
  }
}

TEST_CASE("primal_attention works on meta tensors", "[primal_attention]") {
  const auto meta = at::TensorOptions().device(at::kMeta);
  const at::Tensor q = at::zeros({4, 2, 3}, meta), k = at::zeros({5, 2, 3}, meta), v = at::zeros({5, 2, 6}, meta);
  REQUIRE(primal_attention(q, k, v).sizes() == at::IntArrayRef({4, 2, 6}));
  require_error([&] { primal_attention(q, v, v); }, {"k must be [Nk, h, c]"});
}

TEST_CASE("primal_attention names the argument that is wrong", "[primal_attention]") {
  const at::Tensor q = at::zeros({4, 2, 3}), k = at::zeros({5, 2, 3}), v = at::zeros({5, 2, 6});
  const at::Tensor rowptr = at::tensor({0, 1, 2, 3, 4}, at::kLong), col = at::tensor({0, 1, 2, 3}, at::kLong);
  const auto masked = [&](const at::Tensor& rows, const at::Tensor& columns) {
    return [=] { primal_attention(q, k, v, {}, {}, "softmax", 1e-6, {}, {}, rows, columns); };
  };
  require_error([&] { primal_attention(q.view({8, 3}), k, v); }, {"q must be [Nq, h, c]"});
  require_error([&] { primal_attention(q, k, v.to(at::kDouble)); }, {"v must have the dtype of q"});
  require_error([&] { primal_attention(q, k, v, at::zeros({3})); }, {"beta must be [] or [h]", "[3]"});
  require_error([&] { primal_attention(q, k, v, at::zeros({1, 2})); }, {"beta must be [] or [h]"});
  require_error([&] { primal_attention(q, k, v, {}, std::vector<int64_t>{1}); }, {"pool", "2", "1"});
  require_error([&] { primal_attention(q, k, v, {}, std::vector<int64_t>{1, 0}); }, {"pool", "at least 1"});
  require_error([&] { primal_attention(q, k, v, {}, {}, "sparse"); }, {"kernel must be softmax or linear", "sparse"});
  require_error([&] { primal_attention(q, k, v, {}, {}, "linear", -1.0); }, {"eps", "-1"});
  require_error([&] { primal_attention(q, k, v, {}, {}, "linear", 1e-6, {}, {}, {}, {}, 1.0); }, {"scale", "linear"});
  require_error([&] { primal_attention(q, k, v, {}, {}, "softmax", 1e-6, {}, {}, {}, {}, NAN); }, {"scale", "finite"});
  require_error(
      [&] {
        primal_attention(q, k, v, {}, {}, "softmax", 1e-6, at::tensor({0, 4}, at::kLong));
      },
      {"q_ptr and k_ptr must be given both or neither"});
  require_error([&] { primal_attention(q, k, v, {}, {}, "linear", 1e-6, {}, {}, rowptr, col); }, {"mask_rowptr"});
  require_error(masked(rowptr.slice(0, 0, 3), col), {"mask_rowptr must have Nq + 1 or h Nq + 1 entries", "3"});
  require_error(masked(rowptr.to(at::kInt), col), {"mask_rowptr must be int64"});
  require_error([&] { primal_attention(q, k, v, {}, {}, "softmax", 1e-6, {}, {}, rowptr); }, {"mask_col", "both"});
  const std::vector<int64_t> pool{1, 2};
  require_error([&] { primal_attention(q, k, v, {}, pool, "softmax", 1e-6, {}, {}, rowptr, col); },
                {"mask_rowptr must have h Nq + 1 entries", "pool"});
}

}  // namespace geosft::test::test_primal_attention
