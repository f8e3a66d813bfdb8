// SPDX-License-Identifier: Apache-2.0
#include "models/training/host_copy.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <future>
#include <thread>
#include <vector>

#include "tests/models/training/distributed/nccl/pretended_device.h"
#include "tests/support.h"

namespace geosft::test::test_host_copy {
namespace {

c10::StreamId current_stream() {
  return pretended_guard().getStream(pretended_device).id();
}

bool is_done(const std::shared_future<void>& task) {
  return task.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

}  // namespace

TEST_CASE("a copy of a tensor on the CPU is available immediately", "[host_copy]") {
  const at::Tensor values = at::arange(3, at::kDouble).requires_grad_(true);
  require_equal(HostCopy(values).values(), values.detach(), "values");
  REQUIRE_FALSE(HostCopy(values).values().requires_grad());
}

TEST_CASE("a copy to the device where a tensor is, or of none, is the same tensor", "[host_copy]") {
  const at::Tensor values = at::arange(3);
  REQUIRE(overlapping_copy(values, at::kCPU).is_same(values));
  REQUIRE_FALSE(overlapping_copy(at::Tensor(), at::kCPU).defined());
  REQUIRE(overlapping_copy(values, at::kMeta).is_meta());
}

TEST_CASE("a copy happens while the device computes, and what is computed next waits for it", "[host_copy]") {
  pretended_guard();
  const at::Tensor values = at::zeros({3});
  std::promise<void> computed, arrived;
  computing_stream().then([step = computed.get_future().share()] { step.wait(); });
  std::shared_future<void> begun;
  const at::Tensor there = on_copy_stream(pretended_device, [&] {
    begun = computing_stream().then([] {});
    computing_stream().then([values, last = arrived.get_future().share()] {
      last.wait();
      values.fill_(7);
    });
    return on_pretended_device(values);
  });
  begun.wait();  // though the step goes on
  at::Tensor read;
  const std::shared_future<void> next = computing_stream().then([&] { read = values.clone(); });
  computed.set_value();
  while (!is_done(next) && pretended_guard().blocked() == 0) std::this_thread::yield();
  CHECK_FALSE(is_done(next));  // the stream waits for the copy
  arrived.set_value();
  next.wait();
  CHECK(read.eq(7).all().item<bool>());
  CHECK(pretended_guard().reader_of(there) == current_stream());
}

TEST_CASE("all copies to a device are on one stream, and the current one is as before, after errors too",
          "[host_copy]") {
  pretended_guard();
  const c10::StreamId before = current_stream();
  std::vector<c10::StreamId> aside;
  for (const at::Device device : {pretended_device, at::Device(pretended_device.type()), pretended_device}) {
    on_copy_stream(device, [&] {
      aside.push_back(current_stream());
      return on_pretended_device(at::zeros({1}));
    });
    CHECK(current_stream() == before);
  }
  CHECK(aside == std::vector<c10::StreamId>(3, aside.front()));
  CHECK(aside.front() != before);
  const auto fail = []() -> at::Tensor { TORCH_CHECK(false, "no room"); };
  CHECK_THROWS_WITH(on_copy_stream(pretended_device, fail), Catch::Contains("no room"));
  CHECK(current_stream() == before);
}

}  // namespace geosft::test::test_host_copy
