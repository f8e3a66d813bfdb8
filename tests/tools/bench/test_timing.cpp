// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/timing.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <ctime>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

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

TEST_CASE("implementations take turns after one call each that is not counted", "[bench]") {
  std::string order;
  const auto timings = time_in_turns({[&] { order += 'a'; }, [&] { order += 'b'; }}, {.repeats = 3, .seconds = 0});
  CHECK(order == "abababab");
  REQUIRE(timings.size() == 2);
  CHECK(timings[0].repeats == 3);
  CHECK(timings[1].repeats == 3);
}

namespace {

// Calls take what they add to `now`, seconds of a clock of our own.
struct Clock {
  double now = 0;

  std::function<void()> takes(double seconds) {
    return [this, seconds] { now += seconds; };
  }
  std::vector<Timing> times(const std::vector<std::function<void()>>& implementations, const TimingOptions& options) {
    return time_in_turns(
        implementations, options, [] {},
        [this](const std::function<void()>& call) {
          const double before = now;
          call();
          return Sample{now - before, 0};
        });
  }
};

}  // namespace

TEST_CASE("short calls are repeated more often, up to twenty times as often", "[bench]") {
  Clock clock;
  const auto timings =
      clock.times({clock.takes(0.125), clock.takes(0.25), clock.takes(2)}, {.repeats = 2, .seconds = 3});
  CHECK(timings[0].repeats == 24);
  CHECK(timings[1].repeats == 12);
  CHECK(timings[2].repeats == 2);
  CHECK(clock.times({clock.takes(1e-6)}, {.repeats = 2, .seconds = 3})[0].repeats == 40);
}

TEST_CASE("an implementation that takes long stops early, the others go on", "[bench]") {
  Clock clock;
  const auto timings = clock.times({clock.takes(5), clock.takes(0.25)}, {.repeats = 6, .seconds = 0, .patience = 7});
  CHECK(timings[0].repeats == 3);
  CHECK(timings[0].minimum == 5);
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

TEST_CASE("a call is made once, and what both clocks move on by is what it took", "[bench]") {
  std::string order;
  double wall = 3, cpu = 2;
  const auto read = [&order](char name, double& time) {
    return [&order, &time, name] {
      order += name;
      return time;
    };
  };
  const Sample sample = time_once_by({read('w', wall), read('c', cpu)}, [&] {
    order += '!';
    wall += 0.5;
    cpu += 0.25;
  });
  CHECK(order == "cw!wc");
  CHECK(sample.wall == 0.5);
  CHECK(sample.cpu == 0.25);
}

TEST_CASE("time_once goes by the steady clock and by the processor time of the process", "[bench]") {
  const auto wall = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  const auto cpu = [] {
    timespec now{};
    REQUIRE(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) == 0);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  };
  // Each reading lies between one before and one after it.
  const Clocks clocks = system_clocks();
  const double wall_before = wall(), found_wall = clocks.wall(), wall_after = wall();
  CHECK((wall_before <= found_wall && found_wall <= wall_after));
  const double cpu_before = cpu(), found_cpu = clocks.cpu(), cpu_after = cpu();
  CHECK((cpu_before <= found_cpu && found_cpu <= cpu_after));
  int calls = 0;
  const Sample sample = time_once([&] { ++calls; });
  CHECK(calls == 1);
  CHECK((sample.wall >= 0 && sample.cpu >= 0));
}

}  // namespace geosft::bench::test::test_timing
