// SPDX-License-Identifier: Apache-2.0
#include "models/ops/low_rank_gradient.h"
#include "models/ops/monomials.h"
#include "models/ops/polynomial_attention.h"
#include "tests/models/ops/polynomial_cases.h"
#include "tests/tools/bench/bench_sizes.h"
#include "tools/bench/attention_inputs.h"
#include "tools/bench/peak_memory.h"

namespace geosft::bench::test::test_polynomial_benchmarks {
namespace {

constexpr int64_t kTokens = 6000, kHeads = 2, kChannels = 8, kRows = kTokens * kHeads;

struct Call {
  at::ScalarType type = at::kFloat;
  std::vector<int64_t> offsets = {0, kTokens};
  bool causal = false, center = false;
};

// What a call of degree 4 takes beyond its arguments: bytes a row and head, and sums of monomials of so many items.
struct MemoryCase {
  std::string name;
  Call call;
  int64_t long_items, forward, both;
};

int64_t peak_of(Pass pass, const Call& call) {
  const PackedInputs in =
      random_inputs({.batch = 1, .tokens = kTokens, .width = kHeads * kChannels, .heads = kHeads}, kTokens);
  const auto leaf = [&](const at::Tensor& x) { return x.detach().to(call.type).requires_grad_(true); };
  const at::Tensor q = leaf(in.q), k = leaf(in.k), v = leaf(in.v), ptr = at::tensor(call.offsets, at::kLong);
  const auto attention = [&] { return polynomial_attention(q, k, v, 4, 0.3, call.causal, ptr, ptr, call.center); };
  const auto run = measured_pass(pass, {q, k, v}, in.grad_output.to(call.type), attention);
  return peak_tensor_bytes([&] { run(); });
}

// At most a quarter of the values, and one state of each item and head that has any.
int64_t bytes_of_sums(int64_t long_items) {
  return (kRows / 4 + long_items * kHeads * (monomial_count(kChannels, 4) + 16)) * (kChannels + 1) * 4;
}

}  // namespace

TEST_CASE("the benchmark of polynomial_attention can be made and counts its arithmetic", "[bench]") {
  const Entries entries = polynomial_entries(small_sizes());
  require_agreement(entries);
  REQUIRE(entries.size() == 6);
  const Benchmark gradients = entries[2].make();
  CHECK(gradients.name == "polynomial_attention/g2/gradients");
  const Tensors own = gradients.implementations[0].run(), paper = gradients.implementations[1].run();
  REQUIRE(own.size() == 4);
  CHECK(at::equal(own[0], paper[0]));
  CHECK_FALSE(at::equal(own[1], paper[1]));
  CHECK(own[1].sizes() == paper[1].sizes());
  // Against the polynomial evaluated n x n, in double precision.
  const PackedInputs in = random_inputs(small_sizes(), 37);
  geosft::test::Arguments arguments{{{"q", in.q}, {"k", in.k}, {"v", in.v}, {"q_ptr", in.q_ptr}, {"k_ptr", in.k_ptr}}};
  const geosft::test::Outcome expected = geosft::test::evaluate(
      geosft::test::slow_polynomial({.degree = 2, .scale = 0.5}), arguments, in.grad_output, at::kDouble);
  geosft::test::require_close(own[0].detach(), expected.out, 1e-5, "result");
  for (size_t i = 0; i < 3; ++i) {
    const std::string name(1, "qkv"[i]);
    geosft::test::require_close(own[i + 1], expected.gradients.at(name), 1e-4, "gradient of " + name);
  }
  const Benchmark forward = entries.front().make();
  CHECK(forward.implementations[0].work->multiply_add == 2 * 6 * 37 * 15 * 5);
  CHECK(forward.implementations[1].work->max_add == 0);
}

TEST_CASE("widths with too many monomials are left out", "[bench]") {
  Sizes sizes = small_sizes();
  sizes.width = 600;
  CHECK(polynomial_entries(sizes).size() == 2);
  sizes.width = 48;  // 16 channels: the paper's gradient of degree 4 would take minutes
  CHECK(polynomial_entries(sizes).size() == 5);
}

// Forward: the result, its denominators and the sums of monomials. Backward besides: a number a row and head, and three
// gradients. Centred keys are there besides, and so is their gradient before it is centred; half types are computed in
// float32, so all of it is there in both.
TEST_CASE("polynomial_attention allocates O(n c + m c), never n x m", "[bench]") {
  const std::vector<int64_t> ragged{0, 3000, 3000, 3005, 3045, kTokens};
  const int64_t c = kChannels, forward = 4 * (c + 1), both = 4 * (4 * c + 2);  // bytes a row
  const int64_t half_forward = forward + 4 * 3 * c + 2 * c, half_both = 4 * (8 * c + 2) + 2 * 4 * c;
  const std::vector<MemoryCase> cases{
      {"one item", {}, 1, forward, both},
      {"causal", {.causal = true}, 1, forward, both},
      {"ragged", {.offsets = ragged}, 2, forward, both},
      {"ragged, causal", {.offsets = ragged, .causal = true}, 2, forward, both},
      {"centred", {.center = true}, 1, 4 * (2 * c + 1), 4 * (6 * c + 2)},
      {"ragged, centred", {.offsets = ragged, .center = true}, 2, 4 * (2 * c + 1), 4 * (6 * c + 2)},
      {"float16", {.type = at::kHalf}, 1, half_forward, half_both},
      {"bfloat16", {.type = at::kBFloat16}, 1, half_forward, half_both}};
  for (const MemoryCase& one : cases) {
    INFO(one.name);
    CHECK(peak_of(Pass::forward, one.call) <= kRows * one.forward + bytes_of_sums(one.long_items));
    const int64_t peak = peak_of(Pass::both, one.call);
    CHECK(peak <= kRows * one.both + bytes_of_sums(one.long_items));
    CHECK(peak < kRows * monomial_count(c, 4));  // bytes: n x m numbers would be four times that
  }
}

// Of each head the values and upstream gradients with a further column, and three gradients; of all heads three
// gradients. U3 and V3 are there by blocks of 2^20 numbers, beside which monomials of both sides, and pairs under a
// mask, are fewer.
TEST_CASE("the paper's gradient allocates O(n c + m c^2), never n x m c", "[bench]") {
  for (const auto& [degree, tokens] : {std::pair(4, 1500), std::pair(2, 20000)}) {
    const PackedInputs in = random_inputs({.batch = 1, .tokens = tokens, .width = kChannels, .heads = 1}, tokens);
    const int64_t columns = kChannels + 1, monomials = monomial_count(kChannels, degree);
    const int64_t rows = tokens * (2 * columns + 6 * kChannels), sums = monomials * columns * columns;
    const int64_t stated = 4 * (rows + sums + 2 * (int64_t{1} << 20));
    REQUIRE(stated < 4 * tokens * monomials * columns / 2);
    for (const bool causal : {false, true}) {
      INFO("degree " << degree << (causal ? ", causal" : ""));
      CHECK(peak_tensor_bytes([&] {
              polynomial_low_rank_gradient(in.grad_output, in.q, in.k, in.v, degree, 0.3, causal);
            }) <= stated);
    }
  }
}

}  // namespace geosft::bench::test::test_polynomial_benchmarks
