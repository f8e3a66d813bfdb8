// SPDX-License-Identifier: Apache-2.0
#include "tests/tools/bench_sizes.h"

namespace geosft::bench::test {

TEST_CASE("steps of training change the weights: the loss of one batch falls", "[bench]") {
  const Benchmark benchmark = chosen_entries(training_entries(small_sizes()), {"training/small"}).front().make();
  CHECK(benchmark.items == 16);
  CHECK(benchmark.items_are == "clouds");
  const auto step = [&] { return benchmark.contenders[0].run()[0].item<double>(); };
  const double first = step();
  double last = first;
  for (int i = 0; i < 12; ++i) last = step();
  CHECK(std::isfinite(first));
  CHECK(last < first);
}

}  // namespace geosft::bench::test
