// SPDX-License-Identifier: Apache-2.0
#include "data/parallel_items.h"

#include <ATen/Parallel.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/support.h"

namespace geosft::test::test_parallel_items {

TEST_CASE("parallel_items does every item once") {
  for (const int64_t threads : {1, 3, 50}) {
    std::vector<std::atomic<int>> count(20);
    parallel_items(20, threads, [&](int64_t i) { ++count[static_cast<size_t>(i)]; });
    for (const auto& c : count) CHECK(c == 1);
  }
  parallel_items(0, 4, [](int64_t) { throw std::logic_error("no item to do"); });
}

TEST_CASE("parallel_items rethrows and stops") {
  std::atomic<int> done = 0;
  const auto work = [&](int64_t i) {
    if (i == 3) throw std::runtime_error("item 3 is broken");
    ++done;
  };
  test::require_error([&] { parallel_items(1000000, 1, work); }, {"item 3 is broken"});
  CHECK(done == 3);
}

TEST_CASE("LibTorch is kept single-threaded in the workers alone") {
  const int before = at::get_num_threads();
  at::set_num_threads(3);
  std::vector<int> inside(4);
  parallel_items(4, 2, [&](int64_t i) { inside[static_cast<size_t>(i)] = at::get_num_threads(); });
  CHECK(inside == std::vector<int>{1, 1, 1, 1});
  CHECK(at::get_num_threads() == 3);
  int in_new_thread = 0;
  std::thread([&] { in_new_thread = at::get_num_threads(); }).join();
  CHECK(in_new_thread == 3);
  at::set_num_threads(before);
}

}  // namespace geosft::test::test_parallel_items
