// SPDX-License-Identifier: Apache-2.0
// NCCL's place is taken by a stand-in, that of GPUs by a device that is pretended: what this tests is all that is ours.
#include "models/training/distributed/nccl/nccl_communicator.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <future>
#include <string>
#include <thread>

#include "tests/models/training/distributed/nccl/pretended_device.h"
#include "tests/models/training/distributed/several_processes.h"
#include "tests/models/training/distributed/sums_of_three.h"
#include "tests/models/training/shared_regression.h"

namespace geosft::test::test_nccl_communicator {
namespace {

std::unique_ptr<Communicator> join_devices(const Communicator& connected,
                                           std::chrono::milliseconds timeout = std::chrono::seconds(120),
                                           std::chrono::milliseconds drain_timeout = std::chrono::seconds(120)) {
  pretended_guard();
  return make_nccl_communicator(connected, pretended_device, {GEOSFT_STAND_IN_NCCL, timeout, drain_timeout});
}

// A sum that another process does not take part in: the next one says why it is none.
void require_broken_off(const Communicator& devices) {
  const at::Tensor values = at::ones({4});
  guarded(devices, [&] {
    devices.all_reduce(on_pretended_device(values))->wait();
    finish_computing();  // when it is broken off
    devices.check();
  });
}

}  // namespace

TEST_CASE("devices all-reduce over processes, and so does the host", "[nccl]") {
  require_success(3, "[.nccl_sums]");
}

TEST_CASE("one of three processes with a device", "[.nccl_sums]") {
  const std::unique_ptr<Communicator> connected = join();
  const std::unique_ptr<Communicator> devices = join_devices(*connected);
  require_sums_of_three(*devices);
  require_sums_of_three(OverPretendedDevices(*devices));
}

TEST_CASE("an all-reduce follows earlier work on the stream and precedes later work, without blocking the host",
          "[nccl]") {
  require_success(2, "[.nccl_order]");
}

TEST_CASE("one of two processes, of which the second starts its sums late", "[.nccl_order]") {
  const std::unique_ptr<Communicator> connected = join();
  const std::unique_ptr<Communicator> devices = join_devices(*connected);
  at::Tensor first = at::zeros({100000}), second = at::ones({3}), read = at::zeros({100000});
  if (!devices->is_root()) devices->barrier();  // the other one has started its sums, and goes on
  std::promise<void> go;
  computing_stream().add([&, ready = go.get_future().share()] {
    ready.wait();
    first.fill_(2.0);
  });
  const std::unique_ptr<Work> sum = devices->all_reduce(on_pretended_device(first));
  const std::unique_ptr<Work> next = devices->all_reduce(on_pretended_device(second));
  if (devices->is_root()) devices->barrier();
  next->wait();
  sum->wait();
  computing_stream().add([&] { read.copy_(first); });
  go.set_value();  // nothing is computed before
  finish_computing();
  require_equal(read, at::full({100000}, 4.0F), "sum");
  require_equal(second, at::full({3}, 2.0F), "the next");
}

TEST_CASE("a sum keeps its values, and its threads say which device they are about", "[nccl]") {
  require_success(1, "[.nccl_alone]");
}

TEST_CASE("one process with a device, alone", "[.nccl_alone]") {
  const std::unique_ptr<Communicator> device = join_devices(one_process());
  const auto owner = std::make_shared<int>(0);
  std::unique_ptr<Work> sum = device->all_reduce(on_pretended_device(at::ones({3}), owner));
  REQUIRE(owner.use_count() == 2);
  sum->wait();
  finish_computing();
  sum.reset();
  REQUIRE(owner.use_count() == 1);
  // The one that connects, and the one that watches, which may just begin.
  for (int i = 0; i < 12000 && pretended_guard().threads() < 2; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  REQUIRE(pretended_guard().threads() == 2);
}

TEST_CASE("all-reduces that are not waited for keep their values until they have ended or are aborted", "[nccl]") {
  require_success(2, "[.nccl_left]");
}

TEST_CASE("one of two processes that leave sums behind, the first of them without the other", "[.nccl_left]") {
  const std::unique_ptr<Communicator> connected = join();
  const std::chrono::seconds maximum(120);
  const std::unique_ptr<Communicator> devices =
      join_devices(*connected, maximum, connected->is_root() ? std::chrono::seconds(1) : maximum);
  const auto leave_sum = [&] {
    auto owner = std::make_shared<int>(0);
    devices->all_reduce(on_pretended_device(at::ones({3}), owner));
    return owner;
  };
  const auto together = leave_sum();
  if (!devices->is_root()) devices->drain();  // the other one has started it, and stays
  connected->barrier();
  require_equal(OverPretendedDevices(*devices).sum(at::ones({3})), at::full({3}, 2.0F), "goes on");
  devices->drain();
  CHECK(together.use_count() == 1);
  if (devices->is_root()) {
    const auto alone = leave_sum();
    CHECK(alone.use_count() == 2);
    devices->drain();
    CHECK(alone.use_count() == 1);
  }
  connected->barrier();
}

TEST_CASE("two processes with a device each train as one does with the whole batch", "[nccl]") {
  require_success(2, "[.nccl_training]");
}

TEST_CASE("one of two processes that train by their devices", "[.nccl_training]") {
  using namespace training;
  const std::unique_ptr<Communicator> connected = join();
  const std::unique_ptr<Communicator> devices = join_devices(*connected);
  const RankOutcome alone = train_share(one_process(), 3);
  for (const bool later : {false, true}) {
    const RankOutcome outcome =
        train_share(OverPretendedDevices(*devices), 3, [&](SharedRegression& task, int64_t) { task.later = later; });
    REQUIRE(outcome.done);
    require_like(outcome, alone);
  }
}

TEST_CASE("a process that is killed in the middle of a sum ends the others, with NCCL's reason", "[nccl]") {
  const std::vector<ProcessResult> results = together(2, "[.nccl_killed]");
  REQUIRE(results[1].signal == SIGKILL);
  REQUIRE(results[0].exit == 3);
  REQUIRE(results[0].err == "NCCL has lost the other GPUs: remote process exited or there was a network error\n");
}

TEST_CASE("one of two processes, of which the second is killed", "[.nccl_killed]") {
  const std::unique_ptr<Communicator> connected = join();
  const std::unique_ptr<Communicator> devices = join_devices(*connected);
  if (!devices->is_root()) std::raise(SIGKILL);
  require_broken_off(*devices);
}

TEST_CASE("an NCCL that cannot be asked for errors ends the processes, with a message", "[nccl]") {
  const EnvironmentVariable which("GEOSFT_STAND_IN_HIDES_ERRORS", "1");
  const std::vector<ProcessResult> results = together(1, "[.nccl_alone_waits]");
  REQUIRE(results[0].exit == 3);
  REQUIRE(results[0].err == "NCCL cannot be asked for errors: the stand-in refuses\n");
}

TEST_CASE("one process with a device, alone, that looks until sums are broken off", "[.nccl_alone_waits]") {
  const std::unique_ptr<Communicator> device = join_devices(one_process());
  guarded(*device, [&] {
    for (int i = 0; i < 6000; ++i) {
      device->check();
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  });
}

TEST_CASE("an all-reduce that does not end is aborted", "[nccl]") {
  const std::vector<ProcessResult> results = together(2, "[.nccl_hangs]");
  REQUIRE(results[0].exit == 3);
  REQUIRE(results[0].err ==
          "a sum over the GPUs has not ended within 1 s: another process is lost or does not go on\n");
  REQUIRE(results[1].exit == 1);
  REQUIRE(results[1].err.empty());
}

TEST_CASE("one of two processes, of which the second sums nothing", "[.nccl_hangs]") {
  const std::unique_ptr<Communicator> connected = join();
  const std::unique_ptr<Communicator> devices = join_devices(*connected, std::chrono::seconds(1));
  if (devices->is_root()) require_broken_off(*devices);
  guarded(*devices, [&] { devices->barrier(); });
}

TEST_CASE("a process that fails reports its error while the others wait for its device", "[nccl]") {
  require_one_to_speak(2, "[.nccl_one_fails]");
}

TEST_CASE("one of two processes with a device, of which one fails", "[.nccl_one_fails]") {
  const std::unique_ptr<Communicator> connected = join();
  const std::unique_ptr<Communicator> devices = join_devices(*connected);
  guarded(*devices, [&] {
    fail_if_chosen(*devices);
    const std::unique_ptr<Work> sum = devices->all_reduce(on_pretended_device(at::ones({4})));
    devices->barrier();
  });
}

TEST_CASE("a device that cannot be connected is reported by its process", "[nccl]") {
  for (const int failing : {0, 1}) {
    const EnvironmentVariable which("GEOSFT_STAND_IN_FAILS", std::to_string(failing));
    const std::vector<ProcessResult> results = together(2, "[.nccl_unconnected]");
    const auto bad = static_cast<size_t>(failing), good = 1 - bad;
    CHECK(results[bad].exit == 3);
    CHECK(results[bad].err == "NCCL cannot connect the GPUs: the stand-in refuses\n");
    CHECK(results[good].exit == 1);
    CHECK(results[good].err.empty());
  }
}

TEST_CASE("one of two processes, of which one cannot be connected", "[.nccl_unconnected]") {
  const std::unique_ptr<Communicator> connected = join();
  guarded(*connected, [&] { join_devices(*connected); });
}

}  // namespace geosft::test::test_nccl_communicator
