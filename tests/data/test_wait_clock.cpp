// SPDX-License-Identifier: Apache-2.0
#include "data/wait_clock.h"

#include <catch2/catch.hpp>
#include <memory>
#include <stdexcept>

namespace geosft::test::test_wait_clock {

namespace {

// Work that is done when the clock has moved on, however slow or fast the machine is.
int tick() {
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() == start) {
  }
  return 7;
}

}  // namespace

TEST_CASE("a clock adds up what work takes, and hands on its result") {
  WaitClock clock;
  CHECK(clock.seconds() == 0.0);
  CHECK(clock.during(tick) == 7);
  const double once = clock.seconds();
  CHECK(once > 0.0);
  clock.during(tick);
  CHECK(clock.seconds() > once);
}

TEST_CASE("a clock that is reset begins anew") {
  WaitClock clock;
  clock.during(tick);
  clock.reset();
  CHECK(clock.seconds() == 0.0);
}

TEST_CASE("results that can only be moved, and exceptions, pass through a clock") {
  WaitClock clock;
  CHECK(*clock.during([] { return std::make_unique<int>(3); }) == 3);
  const double before = clock.seconds();
  CHECK_THROWS_AS(clock.during([]() -> int { throw std::runtime_error("no data"); }), std::runtime_error);
  CHECK(clock.seconds() == before);
}

}  // namespace geosft::test::test_wait_clock
