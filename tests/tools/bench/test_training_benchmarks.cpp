// SPDX-License-Identifier: Apache-2.0
#include "tests/tools/bench/bench_sizes.h"

namespace geosft::bench::test::test_training_benchmarks {

TEST_CASE("steps of training change the weights: the loss of one batch falls", "[bench]") {
  const Benchmark benchmark = chosen_entries(training_entries(small_sizes()), {"training/small"}).front().make();
  CHECK(benchmark.items == 16);
  CHECK(benchmark.items_are == "clouds");
  const auto step = [&] { return benchmark.implementations[0].run()[0].item<double>(); };
  const auto mean_of = [&](int steps) {
    double sum = 0;
    for (int i = 0; i < steps; ++i) sum += step();
    return sum / steps;
  };
  const double first = mean_of(4);
  mean_of(24);
  const double last = mean_of(4);
  CHECK(std::isfinite(first));
  CHECK(last < first);
}

}  // namespace geosft::bench::test::test_training_benchmarks
