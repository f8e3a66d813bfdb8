// SPDX-License-Identifier: Apache-2.0
#include "tests/tools/bench/bench_sizes.h"

namespace geosft::bench::test::test_encoding_benchmarks {

TEST_CASE("normals of both contenders are the same up to their sign", "[bench]") {
  Sizes sizes = small_sizes();
  sizes.tokens = 200;
  const Benchmark benchmark = chosen_entries(encoding_entries(sizes), {"estimate_normals"}).front().make();
  REQUIRE(benchmark.contenders.size() == 2);
  const at::Tensor ours = benchmark.contenders[0].run()[0], theirs = benchmark.contenders[1].run()[0];
  CHECK(((ours * theirs).sum(1).abs() - 1).abs().max().item<double>() < 1e-3);
}

TEST_CASE("encodings give a row a token", "[bench]") {
  for (const auto& [name, rows] : {std::pair("sinusoids", 37), std::pair("point_tokens", 74)}) {
    const Benchmark benchmark = chosen_entries(encoding_entries(small_sizes()), {name}).front().make();
    CHECK(benchmark.contenders[0].run()[0].size(0) == rows);
  }
}

}  // namespace geosft::bench::test::test_encoding_benchmarks
