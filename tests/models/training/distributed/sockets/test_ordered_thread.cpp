// SPDX-License-Identifier: Apache-2.0
#include "models/training/distributed/sockets/ordered_thread.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <future>
#include <stdexcept>
#include <vector>

namespace geosft::test::test_ordered_thread {

TEST_CASE("tasks run in order, concurrently with the caller", "[sockets]") {
  OrderedThread thread;
  std::vector<int> done;
  std::promise<void> gate;
  std::vector<std::future<void>> futures;
  futures.push_back(thread.add([&] { gate.get_future().wait(); }));
  for (int i = 0; i < 20; ++i) futures.push_back(thread.add([&, i] { done.push_back(i); }));
  REQUIRE(futures.back().wait_for(std::chrono::seconds(0)) == std::future_status::timeout);
  gate.set_value();
  for (auto& future : futures) future.get();
  REQUIRE(done.size() == 20);
  for (int i = 0; i < 20; ++i) REQUIRE(done[static_cast<size_t>(i)] == i);
}

TEST_CASE("an exception of a task reaches its future, and the next task runs", "[sockets]") {
  OrderedThread thread;
  std::future<void> bad = thread.add([] { throw std::logic_error("bad"); }), good = thread.add([] {});
  REQUIRE_THROWS_AS(bad.get(), std::logic_error);
  REQUIRE_NOTHROW(good.get());
}

TEST_CASE("queued tasks are dropped when the thread ends", "[sockets]") {
  std::promise<void> started, gate;
  std::future<void> dropped, opener;
  {
    OrderedThread thread;
    thread.add([&] {
      started.set_value();
      gate.get_future().wait();
    });
    started.get_future().wait();
    dropped = thread.add([] {});
    // The task at hand goes on when the one behind it has been dropped.
    opener = std::async(std::launch::async, [&] {
      dropped.wait();
      gate.set_value();
    });
  }
  REQUIRE_THROWS_AS(dropped.get(), std::future_error);
}

}  // namespace geosft::test::test_ordered_thread
