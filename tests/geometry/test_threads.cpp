// SPDX-License-Identifier: Apache-2.0
#include "geometry/threads.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <fstream>
#include <set>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include "geometry/knn.h"
#include "tests/support.h"

namespace geosft::test::test_threads {

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

TEST_CASE("a team does every item of every call once, with as many of its threads as the call allows") {
  WorkerTeam team(3);
  REQUIRE(team.size() == 3);
  for (int call = 0; call < 200; ++call) {
    const int64_t threads = call % 5, items = call % 7;  // 0 threads: all; more than there are: all
    std::vector<std::atomic<int>> count(static_cast<size_t>(items));
    std::mutex mutex;
    std::set<std::thread::id> seen;
    team.run(
        items,
        [&](int64_t i) {
          ++count[static_cast<size_t>(i)];
          const std::lock_guard lock(mutex);
          seen.insert(std::this_thread::get_id());
        },
        threads);
    for (const auto& c : count) REQUIRE(c == 1);
    REQUIRE(static_cast<int64_t>(seen.size()) <= (threads == 0 ? 3 : std::min<int64_t>(threads, 3)));
  }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which reserve more memory than the limit
TEST_CASE("a team that the system does not let start ends its threads and throws") {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);  // ends a child that waits for threads which nobody stops
    int64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t space = static_cast<rlim_t>(pages * ::sysconf(_SC_PAGESIZE)) + (rlim_t{100} << 20);  // some stacks
    const rlimit limit{space, space};
    ::setrlimit(RLIMIT_AS, &limit);
    try {
      const WorkerTeam team(1000);
    } catch (const std::system_error&) {
      ::_exit(0);
    }
    ::_exit(1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}
#endif

TEST_CASE("the threads of a team work at the same time") {
  WorkerTeam team(2);
  std::atomic<int> there = 0;
  // Each of two items waits for the other one: this ends only if two threads are at work.
  team.run(2, [&](int64_t) {
    ++there;
    while (there < 2) std::this_thread::yield();
  });
  REQUIRE(there == 2);
}

TEST_CASE("a team rethrows the exception of the lowest item, and can be used again") {
  WorkerTeam team(4);
  for (int call = 0; call < 20; ++call) {
    // All four items throw, each when all have begun.
    std::atomic<int> begun = 0;
    test::require_error(
        [&] {
          team.run(4, [&](int64_t i) {
            ++begun;
            while (begun < 4) std::this_thread::yield();
            throw std::runtime_error("item " + std::to_string(i));
          });
        },
        {"item 0"});
    std::atomic<int> done = 0;
    team.run(10, [&](int64_t) { ++done; });
    REQUIRE(done == 10);
  }
}

// In a thread's first parallel loop LibTorch sets its number of threads again, in each library that has such loops.
TEST_CASE("the loops of the operators and of LibTorch leave a worker single-threaded") {
  const int before = at::get_num_threads();
  at::set_num_threads(3);
  const at::Tensor points = at::rand({2000, 3}, generator(1));
  std::vector<int> after(4);
  parallel_items(4, 2, [&](int64_t i) {
    knn(points, points, 4);
    (points + points).sum();
    after[static_cast<size_t>(i)] = at::get_num_threads();
  });
  CHECK(after == std::vector<int>{1, 1, 1, 1});
  at::set_num_threads(before);
}

TEST_CASE("LibTorch is kept single-threaded in the workers alone") {
  const int before = at::get_num_threads();
  at::set_num_threads(3);
  std::vector<int> inside(4);
  parallel_items(4, 2, [&](int64_t i) { inside[static_cast<size_t>(i)] = at::get_num_threads(); });
  CHECK(inside == std::vector<int>{1, 1, 1, 1});
  CHECK(at::get_num_threads() == 3);
  {
    const IntraOpThreads two(2);
    CHECK(at::get_num_threads() == 2);
    const IntraOpThreads one(1);
    CHECK(at::get_num_threads() == 1);
  }
  CHECK(at::get_num_threads() == 3);
  int in_new_thread = 0;
  std::thread([&] { in_new_thread = at::get_num_threads(); }).join();
  CHECK(in_new_thread == 3);
  at::set_num_threads(before);
}

}  // namespace geosft::test::test_threads
