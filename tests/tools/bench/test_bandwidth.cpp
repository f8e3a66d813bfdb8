// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/bandwidth.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace geosft::bench::test::test_bandwidth {

TEST_CASE("the bandwidth is a positive number for any number of threads", "[bench]") {
  for (const int64_t threads : {1, 2, 3}) {
    const double rate = measure_bandwidth(threads, 1000001);
    CHECK(rate > 0);
    CHECK(std::isfinite(rate));
  }
}

}  // namespace geosft::bench::test::test_bandwidth
