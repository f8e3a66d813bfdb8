// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/layer_parts.h"

#include <catch2/catch.hpp>
#include <numeric>

namespace geosft::bench::test::test_layer_parts {

TEST_CASE("the parts of a layer are counted by their sizes", "[bench]") {
  const Sizes sizes{.batch = 2, .tokens = 64, .width = 16, .heads = 4};
  const double n = 2 * 64, d = 16;
  for (const int64_t keys : {8, 16}) {
    const LayerParts layer = measure_layer_parts(sizes, keys, {.repeats = 1, .seconds = 0}, [] {});
    REQUIRE(layer.parts.size() == 7);
    CHECK(layer.keys == keys);
    const double sampled = 2 * static_cast<double>(keys);
    const auto flops = [&](const char* name) {
      for (const LayerPart& part : layer.parts) {
        if (part.name == name) return part.flops;
      }
      FAIL("no part " << name);
      return 0.0;
    };
    CHECK(flops("W_Q") == 2 * n * d * d);
    CHECK(flops("W_O") == 2 * n * d * d);
    CHECK(flops("W_K, W_V and the leak") == 2 * sampled * d * (2 * d + 4));
    CHECK(flops("attention") == 4 * sampled * 64 * d);  // 64 queries of an item see its sampled tokens
    CHECK(flops("feed-forward") == 2 * 2 * n * d * 4 * d);
    for (const LayerPart& part : layer.parts) CHECK(part.timing.minimum > 0);
    CHECK(layer.layer.minimum > 0);
  }
}

TEST_CASE("a measurement of parts can be stopped", "[bench]") {
  const Sizes sizes{.batch = 1, .tokens = 16, .width = 8, .heads = 2};
  CHECK_THROWS_AS(measure_layer_parts(sizes, 4, {.repeats = 1, .seconds = 0}, [] { throw std::runtime_error("stop"); }),
                  std::runtime_error);
}

}  // namespace geosft::bench::test::test_layer_parts
