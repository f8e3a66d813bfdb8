// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/timing.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include "tests/support.h"

namespace geosft::bench::test::test_timing {

TEST_CASE("a series is summarised by minimum, quartiles and median", "[bench]") {
  const Timing timing = summarize({{5, 50}, {1, 40}, {4, 20}, {2, 30}, {3, 10}});
  CHECK(timing.minimum == 1);
  CHECK(timing.lower_quartile == 2);
  CHECK(timing.median == 3);
  CHECK(timing.upper_quartile == 4);
  CHECK(timing.cpu == 10);
  CHECK(timing.repeats == 5);
  CHECK(summarize({{1, 1}, {2, 2}}).median == 1.5);
  CHECK(summarize({{7, 7}}).upper_quartile == 7);
  geosft::test::require_error([] { summarize({}); }, {"samples"});
}

TEST_CASE("contenders take turns after one call each that is not counted", "[bench]") {
  std::string order;
  const auto timings = time_in_turns({[&] { order += 'a'; }, [&] { order += 'b'; }}, {.repeats = 3, .seconds = 0});
  CHECK(order == "abababab");
  REQUIRE(timings.size() == 2);
  CHECK(timings[0].repeats == 3);
  CHECK(timings[1].repeats == 3);
}

TEST_CASE("short calls are repeated more often, up to twenty times as often", "[bench]") {
  const auto timings = time_in_turns({[] {}}, {.repeats = 2, .seconds = 1000});
  CHECK(timings[0].repeats == 40);
}

TEST_CASE("a contender that takes long stops early, the others go on", "[bench]") {
  const auto slow = [] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); };
  const auto timings = time_in_turns({slow, [] {}}, {.repeats = 6, .seconds = 0, .patience = 0.002});
  CHECK(timings[0].repeats == 3);
  CHECK(timings[1].repeats == 6);
}

TEST_CASE("what `stop` throws ends the measurement", "[bench]") {
  int calls = 0;
  const auto stop = [&] {
    if (calls == 2) throw std::runtime_error("stop");
  };
  CHECK_THROWS_AS(time_in_turns({[&] { ++calls; }}, {}, stop), std::runtime_error);
  CHECK(calls == 2);
}

TEST_CASE("sleeping takes wall time and no processor time to speak of", "[bench]") {
  const Sample sample = time_once([] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); });
  CHECK(sample.wall >= 0.02);
  CHECK(sample.cpu < sample.wall);
}

}  // namespace geosft::bench::test::test_timing
