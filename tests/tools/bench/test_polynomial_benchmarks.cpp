// SPDX-License-Identifier: Apache-2.0
#include "models/ops/monomials.h"
#include "models/ops/polynomial_attention.h"
#include "tests/tools/bench/bench_sizes.h"
#include "tools/bench/peak_memory.h"
#include "tools/bench/polynomial_contender.h"

namespace geosft::bench::test::test_polynomial_benchmarks {

TEST_CASE("the benchmark of polynomial_attention can be made and counts its arithmetic", "[bench]") {
  const Entries entries = polynomial_entries(small_sizes());
  require_agreement(entries);
  REQUIRE(entries.size() == 6);
  const Benchmark gradients = entries[2].make();
  CHECK(gradients.name == "polynomial_attention/g2/gradients");
  const Tensors own = gradients.contenders[0].run(), paper = gradients.contenders[1].run();
  REQUIRE(own.size() == 4);
  CHECK(at::equal(own[0], paper[0]));
  CHECK_FALSE(at::equal(own[1], paper[1]));
  CHECK(own[1].sizes() == paper[1].sizes());
  const Benchmark forward = entries.front().make();
  CHECK(forward.contenders[0].work->multiply_add == 2 * 6 * 37 * 15 * 5);
  CHECK(forward.contenders[1].work->max_add == 0);
}

TEST_CASE("widths with too many monomials are left out", "[bench]") {
  Sizes sizes = small_sizes();
  sizes.width = 600;
  CHECK(polynomial_entries(sizes).size() == 2);
  sizes.width = 48;  // 16 channels: the paper's gradient of degree 4 would take minutes
  CHECK(polynomial_entries(sizes).size() == 5);
}

// Forward: the result, its denominators and the sums of monomials, which are at most a quarter of the values and one of
// each head. Backward besides: a number a row and head, and three gradients.
TEST_CASE("polynomial_attention allocates O(n c + m c), never n x m", "[bench]") {
  const Sizes sizes{.batch = 1, .tokens = 6000, .width = 16, .heads = 2};
  const int64_t rows = sizes.tokens * sizes.heads, channels = sizes.channels(), float_bytes = 4;
  const int64_t monomials = monomial_count(channels, 4);
  const int64_t sums = (rows / 4 + sizes.heads * (monomials + 16)) * (channels + 1) * float_bytes;
  const PackedInputs in = random_inputs(sizes, sizes.tokens);
  const auto peak = [&](Pass pass) {
    return peak_tensor_bytes([run = polynomial_contender(sizes, 4, pass, in).run] { run(); });
  };
  const int64_t forward = rows * (channels + 1) * float_bytes + sums;
  CHECK(peak(Pass::forward) <= forward);
  CHECK(peak(Pass::both) <= forward + rows * (3 * channels + 1) * float_bytes);
  CHECK(peak(Pass::both) < rows * monomials * float_bytes / 4);

  const auto causal = [&] { return polynomial_attention(in.q, in.k, in.v, 4, 0.3, /*causal=*/true); };
  const auto causal_peak = [&](Pass pass) {
    return peak_tensor_bytes([run = measured_pass(pass, {in.q, in.k, in.v}, in.upstream, causal)] { run(); });
  };
  CHECK(causal_peak(Pass::forward) <= forward);
  CHECK(causal_peak(Pass::both) <= forward + rows * (3 * channels + 1) * float_bytes);
}

}  // namespace geosft::bench::test::test_polynomial_benchmarks
