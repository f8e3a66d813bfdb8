// SPDX-License-Identifier: Apache-2.0
#include "models/training/sockets/ordered_thread.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <future>
#include <memory>
#include <stdexcept>
#include <vector>

namespace geosft::test::test_ordered_thread {

TEST_CASE("tasks are done in their order, beside the caller", "[sockets]") {
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

TEST_CASE("what a task throws reaches who waits for it, and the next is done", "[sockets]") {
  OrderedThread thread;
  std::future<void> bad = thread.add([] { throw std::logic_error("bad"); }), good = thread.add([] {});
  REQUIRE_THROWS_AS(bad.get(), std::logic_error);
  REQUIRE_NOTHROW(good.get());
}

TEST_CASE("tasks behind the one at hand are dropped when the thread ends", "[sockets]") {
  std::promise<void> started, gate;
  std::future<void> dropped;
  {
    OrderedThread thread;
    thread.add([&] {
      started.set_value();
      gate.get_future().wait();
    });
    // The task at hand goes on when the one behind it is gone.
    const auto open_gate = [&](const void*) { gate.set_value(); };
    dropped = thread.add([held = std::shared_ptr<const void>(&gate, open_gate)] {});
    started.get_future().wait();
  }
  REQUIRE_THROWS_AS(dropped.get(), std::future_error);
}

}  // namespace geosft::test::test_ordered_thread
