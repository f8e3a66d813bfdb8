// SPDX-License-Identifier: Apache-2.0
#include "data/wait_clock.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <stdexcept>

namespace geosft::test::test_wait_clock {

namespace {

// Moves on by what the work below takes.
struct TestClock {
  using duration = std::chrono::milliseconds;
  using time_point = std::chrono::time_point<TestClock, duration>;
  static time_point now() { return time_point(time); }
  static inline duration time{0};
};
using TestWaitClock = BasicWaitClock<TestClock>;

auto taking(int milliseconds) {
  return [milliseconds] {
    TestClock::time += std::chrono::milliseconds(milliseconds);
    return 7;
  };
}

}  // namespace

TEST_CASE("a clock adds up what work takes, and hands on its result") {
  TestWaitClock clock;
  CHECK(clock.seconds() == 0.0);
  CHECK(clock.during(taking(500)) == 7);
  CHECK(clock.seconds() == 0.5);
  taking(1000)();  // beside it
  clock.during(taking(250));
  CHECK(clock.seconds() == 0.75);
}

TEST_CASE("a clock that is reset begins anew") {
  TestWaitClock clock;
  clock.during(taking(500));
  clock.reset();
  CHECK(clock.seconds() == 0.0);
  clock.during(taking(250));
  CHECK(clock.seconds() == 0.25);
}

TEST_CASE("results that can only be moved, and exceptions, pass through a clock") {
  TestWaitClock clock;
  CHECK(*clock.during([] { return std::make_unique<int>(3); }) == 3);
  CHECK_THROWS_AS(clock.during([]() -> int {
    taking(500)();
    throw std::runtime_error("no data");
  }),
                  std::runtime_error);
  CHECK(clock.seconds() == 0.0);  // of work that came to an end
}

}  // namespace geosft::test::test_wait_clock
