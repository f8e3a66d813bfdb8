// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cpu/dynamic_parallel_for.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <vector>

namespace geosft::test::test_dynamic_parallel_for {
namespace {

class Threads {
 public:
  explicit Threads(int count) : before_(at::get_num_threads()) { at::set_num_threads(count); }
  ~Threads() { at::set_num_threads(before_); }

 private:
  int before_;
};

}  // namespace

TEST_CASE("every number is handed out once", "[dynamic_parallel_for]") {
  for (const int threads : {1, 3}) {
    const Threads few(threads);
    std::vector<std::atomic<int>> seen(1000);
    std::atomic<int> workers{0};
    dynamic_parallel_for(1000, [&] {
      ++workers;
      return [&](int64_t n) { ++seen[n]; };
    });
    for (const auto& count : seen) REQUIRE(count == 1);
    REQUIRE(workers >= 1);
    REQUIRE(workers <= threads);
  }
  dynamic_parallel_for(0, [] { return [](int64_t) { FAIL("nothing to hand out"); }; });
}

TEST_CASE("dynamic_parallel_for gives the remaining work to threads that are free", "[dynamic_parallel_for]") {
  const Threads two(2);
  std::mutex mutex;
  std::condition_variable done;
  int others = 0;
  dynamic_parallel_for(8, [&] {
    return [&](int64_t n) {
      std::unique_lock<std::mutex> lock(mutex);
      if (n != 0) {
        ++others;
        done.notify_all();
        return;
      }
      // The first number ends when all others are done: with ranges cut beforehand it would wait in vain.
      CHECK(done.wait_for(lock, std::chrono::seconds(60), [&] { return others == 7; }));
    };
  });
}

TEST_CASE("an error in a piece of work reaches the caller", "[dynamic_parallel_for]") {
  const Threads two(2);
  const auto fail = [] {
    dynamic_parallel_for(50, [] {
      return [](int64_t n) {
        if (n == 30) throw std::runtime_error("thirty");
      };
    });
  };
  REQUIRE_THROWS_WITH(fail(), "thirty");
}

}  // namespace geosft::test::test_dynamic_parallel_for
