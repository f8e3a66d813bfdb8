// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/machine.h"

#include <ATen/Parallel.h>

#include <catch2/catch.hpp>

#include "models/ops/cpu/simd.h"

namespace geosft::bench::test::test_tile_rate {

TEST_CASE("the loops that are timed compute sums of maxima and of products on every vector target", "[bench]") {
  double maxima = 0, products = 0;
  for (int t = 0; t < 64; ++t) {
    maxima += t % 7;
    products += (t % 7) * (t % 7);
  }
  for (const std::string& target : simd_target_names()) {
    force_simd_target(target);
    INFO(target);
    CHECK(tile_mean(true) == maxima);
    CHECK(tile_mean(false) == products);
  }
  force_simd_target("");
}

TEST_CASE("rates are positive numbers", "[bench]") {
  const TileRates rates = measure_tile_rates(at::get_num_threads(), 0.01);
  CHECK(rates.max_add > 0);
  CHECK(rates.multiply_add > 0);
  CHECK(std::isfinite(rates.max_add));
  CHECK(std::isfinite(rates.multiply_add));
}

}  // namespace geosft::bench::test::test_tile_rate
