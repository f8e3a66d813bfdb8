// SPDX-License-Identifier: Apache-2.0
#include "tests/support.h"
#include "tests/tools/bench/bench_sizes.h"

namespace geosft::bench::test::test_graph_encoding_benchmarks {

TEST_CASE("random walks of both implementations are the same", "[bench]") {
  const Benchmark benchmark = chosen_entries(graph_encoding_entries(small_sizes()), {"random_walk_pe"}).front().make();
  REQUIRE(benchmark.implementations.size() == 2);
  check_agreement(benchmark, 1e-6);
  CHECK(benchmark.implementations[0].run()[0].size(1) == 20);
}

TEST_CASE("eigenvalues of both implementations are the same, vectors up to their sign", "[bench]") {
  const Benchmark benchmark = chosen_entries(graph_encoding_entries(small_sizes()), {"laplacian_pe"}).front().make();
  const Tensors ours = benchmark.implementations[0].run(), theirs = benchmark.implementations[1].run();
  geosft::test::require_close(ours[1], theirs[1], 1e-6, "eigenvalues");
  const at::Tensor products = (ours[0] * theirs[0]).view({small_sizes().batch, -1, ours[0].size(1)}).sum(1);
  // Random chords leave no eigenvalue twice, so each vector is one of two.
  REQUIRE(ours[1].diff().min().item<double>() > 1e-3);
  CHECK((products.abs() - 1).abs().max().item<double>() < 1e-4);
}

}  // namespace geosft::bench::test::test_graph_encoding_benchmarks
