// SPDX-License-Identifier: Apache-2.0
#include "models/ops/dropout_mask.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace geosft::test::test_dropout_mask {

TEST_CASE("the bits of a group are the known answers of splitmix64", "[dropout_mask]") {
  CHECK(dropout_bits(1234567, 0) == 6457827717110365317ull);
  CHECK(dropout_bits(1234567, 1) == 3203168211198807973ull);
  CHECK(dropout_bits(1234567, 2) == 9817491932198370423ull);
}

TEST_CASE("each lane has 16 bits of its own", "[dropout_mask]") {
  const uint64_t bits = 0x0004'0003'0002'0001ull;
  for (int64_t lane = 0; lane < kDropoutLanes; ++lane) {
    CHECK_FALSE(dropped(bits, lane, static_cast<uint64_t>(lane) + 1));
    CHECK(dropped(bits, lane, static_cast<uint64_t>(lane) + 2));
  }
}

TEST_CASE("what is kept makes up for what is dropped", "[dropout_mask]") {
  for (const double probability : {0.0, 0.1, 0.25, 0.5, 0.999}) {
    const DropoutScale scale = dropout_scale(probability);
    const double share = static_cast<double>(scale.threshold) / 65536.0;  // that is dropped, of all 16 bits
    CHECK(std::abs(share - probability) < 1.0 / 65536.0);
    CHECK(scale.kept * (1.0 - share) == Approx(1.0).epsilon(1e-12));
  }
  CHECK(dropout_scale(0.0).kept == 1.0);
}

TEST_CASE("lanes, groups and seeds drop independently", "[dropout_mask]") {
  constexpr int64_t groups = 20'000;
  const uint64_t half = dropout_scale(0.5).threshold;
  // How often two elements share their fate: half the time, to 4 deviations.
  const auto alike = [&](const auto& first, const auto& second) {
    int64_t count = 0;
    for (int64_t group = 0; group < groups; ++group) count += first(group) == second(group);
    return std::abs(static_cast<double>(count) / groups - 0.5) < 4 * 0.5 / std::sqrt(static_cast<double>(groups));
  };
  const auto element = [&](uint64_t seed, int64_t lane, int64_t shift) {
    return [=](int64_t group) { return dropped(dropout_bits(seed, static_cast<uint64_t>(group + shift)), lane, half); };
  };
  for (int64_t lane = 1; lane < kDropoutLanes; ++lane) CHECK(alike(element(7, 0, 0), element(7, lane, 0)));
  for (int64_t lane = 0; lane < kDropoutLanes; ++lane) {
    CHECK(alike(element(7, lane, 0), element(7, lane, 1)));
    CHECK(alike(element(7, lane, 0), element(8, lane, 0)));
  }
}

}  // namespace geosft::test::test_dropout_mask
