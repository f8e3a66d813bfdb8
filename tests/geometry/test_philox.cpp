// SPDX-License-Identifier: Apache-2.0
#include "geometry/philox.h"

#include <catch2/catch.hpp>
#include <vector>

namespace geosft::test::test_philox {

TEST_CASE("philox gives the known answers of Random123", "[philox]") {
  const auto words = [](const PhiloxBlock& block) { return std::vector<uint32_t>(block.word, block.word + 4); };
  const uint64_t ones = ~0ull;
  CHECK(words(philox(0, 0, 0)) == std::vector<uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(words(philox(ones, ones, ones)) == std::vector<uint32_t>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(words(philox(0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e)) ==
        std::vector<uint32_t>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("a block is two numbers", "[philox]") {
  const PhiloxBlock block = philox(0, 0, 0);
  CHECK(block.first() == 0x6627e8d5e169c58dull);
  CHECK(block.second() == 0xbc57ac4c9b00dbd8ull);
}

TEST_CASE("uniform numbers stay inside the interval, at any bits", "[philox]") {
  CHECK(open_uniform(0) > 0.0);
  CHECK(open_uniform(~0ull) < 1.0);
  CHECK(open_uniform(1ull << 63) == Approx(0.5).epsilon(1e-15));  // half a step of 2^-52 off: 1.1e-16
}

TEST_CASE("uniform numbers of a range stay inside it", "[philox]") {
  CHECK(uniform_between(-2, 6, 1ull << 63) == Approx(2).epsilon(1e-14));  // 8 times that, and a rounding
  CHECK(uniform_between(-2, 6, 0) > -2);
  CHECK(uniform_between(-2, 6, ~0ull) < 6);
  CHECK(uniform_between(0.7, 0.7, 12345) == 0.7);
}

TEST_CASE("normal samples are finite at any bits, and have the moments of the distribution", "[philox]") {
  for (const uint32_t word : {0u, ~0u}) {
    const NormalPair normals = normal_pair({{word, word, word, word}});
    CHECK(std::isfinite(normals.first));
    CHECK(std::hypot(normals.first, normals.second) > 0);
  }
  constexpr int count = 100'000;
  double mean[2] = {}, square[2] = {}, fourth[2] = {}, product = 0;
  for (int i = 0; i < count; ++i) {
    const NormalPair normals = normal_pair(philox(4, i, 0));
    const double pair[2] = {normals.first, normals.second};
    for (int k = 0; k < 2; ++k) {
      mean[k] += pair[k] / count;
      square[k] += pair[k] * pair[k] / count;
      fourth[k] += pair[k] * pair[k] * pair[k] * pair[k] / count;
    }
    product += pair[0] * pair[1] / count;
  }
  for (int k = 0; k < 2; ++k) {  // 4 deviations each
    CHECK(mean[k] == Approx(0).margin(0.013));
    CHECK(square[k] == Approx(1).margin(0.018));
    CHECK(fourth[k] == Approx(3).margin(0.125));
  }
  CHECK(product == Approx(0).margin(0.013));  // 4 deviations
}

TEST_CASE("Gumbel samples are finite at any bits, and have the mean and variance of the distribution", "[philox]") {
  CHECK(std::isfinite(gumbel(0)));
  CHECK(std::isfinite(gumbel(~0ull)));
  constexpr int count = 100'000;
  double sum = 0, squares = 0;
  for (int i = 0; i < count; ++i) {
    const double sample = gumbel(philox(3, i, 0).first());
    sum += sample;
    squares += sample * sample;
  }
  const double mean = sum / count, variance = squares / count - mean * mean;
  CHECK(mean == Approx(0.5772156649).margin(0.016));     // Euler's constant; 4 deviations of the mean
  CHECK(variance == Approx(1.6449340668).margin(0.05));  // pi^2 / 6; 4 deviations
}

}  // namespace geosft::test::test_philox
