// SPDX-License-Identifier: Apache-2.0
#include "models/training/distributed/sockets/socket_communicator.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <string>
#include <thread>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "tests/models/training/distributed/several_processes.h"
#include "tests/models/training/distributed/sums_of_three.h"

namespace geosft::test::test_socket_communicator {
namespace {

// Connects two processes, here threads, through a store; returns the sums of so many ones, or why they fail.
std::string sums_of_two(uint16_t port, const std::string& round, const std::vector<int64_t>& sizes) {
  std::vector<std::string> found(2);
  const auto join_and_sum = [&](size_t rank) {
    RendezvousOptions point{"127.0.0.1", port, static_cast<int64_t>(rank), 2, /*has_store=*/true, round};
    try {
      const std::unique_ptr<Communicator> both = make_socket_communicator(point);
      found[rank] = std::to_string(both->sum(at::ones({sizes[rank]}, at::kLong)).sum().item<int64_t>());
    } catch (const std::exception& error) {
      found[rank] = error.what();
    }
  };
  std::thread other(join_and_sum, 1);
  join_and_sum(0);
  other.join();
  return found[0] + " " + found[1] + " ";
}

// Loses one of three processes: `reporter` says so, and the third one ends silently.
void require_loss_reported(const std::vector<ProcessResult>& results, size_t lost, size_t reporter) {
  REQUIRE(results[reporter].exit == 3);
  REQUIRE(results[reporter].err ==
          "process " + std::to_string(lost) + " of 3 has ended, or cannot be reached any more\n");
  REQUIRE(results[2].exit == 1);
  REQUIRE(results[2].err.empty());
}

}  // namespace

TEST_CASE("sockets sum over processes", "[sockets]") {
  require_success(3, "[.socket_sums]");
}

TEST_CASE("one of three processes by sockets", "[.socket_sums]") {
  const std::unique_ptr<Communicator> all = join();
  require_sums_of_three(*all);
  // In the order of the ranks: 2^24 + 1 is 2^24 in float32, 1 + 1 + 2^24 is more.
  const std::vector<float> last = {16777216.0F, 1.0F, 1.0F}, first = {1.0F, 1.0F, 16777216.0F};
  const auto own = static_cast<size_t>(all->rank());
  require_equal(all->sum(at::tensor({last[own], first[own]})), at::tensor({16777216.0F, 16777218.0F}), "in order");
  all->barrier();
}

TEST_CASE("a process that ends early ends all, and rank 0 reports it", "[sockets]") {
  const std::vector<ProcessResult> results = together(3, "[.socket_end]");
  REQUIRE(results[1].exit == 7);
  require_loss_reported(results, 1, 0);
}

TEST_CASE("one of three processes, of which the second ends early", "[.socket_end]") {
  const std::unique_ptr<Communicator> all = join();
  all->barrier();
  if (all->rank() == 1) std::_Exit(7);
  guarded(*all, [&] { all->barrier(); });
}

TEST_CASE("if rank 0 is lost, rank 1 reports it", "[sockets]") {
  const std::vector<ProcessResult> results = together(3, "[.socket_killed]");
  REQUIRE(results[0].signal == SIGKILL);
  require_loss_reported(results, 0, 1);
}

TEST_CASE("one of three processes, of which the first is killed", "[.socket_killed]") {
  const std::unique_ptr<Communicator> all = join();
  all->barrier();
  if (all->is_root()) std::raise(SIGKILL);
  guarded(*all, [&] { all->barrier(); });
}

TEST_CASE("one process that fails reports its error, the others end silently", "[sockets]") {
  require_one_to_speak(3, "[.socket_one_fails]");
}

TEST_CASE("one of three processes, of which one fails", "[.socket_one_fails]") {
  const std::unique_ptr<Communicator> all = join();
  guarded(*all, [&] {
    fail_if_chosen(*all);
    all->barrier();
    all->barrier();
  });
}

TEST_CASE("an error of all processes is reported by rank 0", "[sockets]") {
  const std::vector<ProcessResult> results = together(3, "[.socket_all_fail]");
  REQUIRE(results[0].err == "a reason\n");
  REQUIRE((results[1].err.empty() && results[2].err.empty()));
  REQUIRE((results[0].exit == 3 && results[1].exit == 1 && results[2].exit == 1));
}

TEST_CASE("one of three processes that all fail", "[.socket_all_fail]") {
  const std::unique_ptr<Communicator> all = join();
  guarded(*all, [] { throw std::runtime_error("a reason"); });
}

TEST_CASE("processes connect through the store of a launcher, in every round", "[sockets]") {
  c10d::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(free_port());
  options.isServer = true;
  const auto store = c10::make_intrusive<c10d::TCPStore>("127.0.0.1", options);
  for (const char* const round : {"0", "1", "1"}) {  // the last: started again without being counted
    REQUIRE(sums_of_two(options.port, round, {3, 3}) == "6 6 ");
  }
  // Sums of other sizes: both processes fail.
  REQUIRE_THAT(sums_of_two(options.port, "2", {3, 4}),
               Catch::Contains("out of step: a sum of 24 bytes meets one of 32") && Catch::Contains("process 0"));
}

TEST_CASE("a missing process and a missing store are named", "[sockets]") {
  RendezvousOptions point;
  point.address = "127.0.0.1";
  point.port = static_cast<uint16_t>(free_port());
  point.size = 2;
  const std::string error = error_of_missing_process([&](std::chrono::seconds timeout) {
    point.timeout = timeout;
    make_socket_communicator(point);
  });
  REQUIRE_THAT(error, Catch::Contains("process 1 of 2 has not come to 127.0.0.1:" + std::to_string(point.port) +
                                      " within " + std::to_string(point.timeout.count()) + " s"));
  point.rank = 1;
  point.timeout = std::chrono::seconds(1);
  point.port = static_cast<uint16_t>(free_port());
  require_error([&] { make_socket_communicator(point); },
                {"process 1 of 2 cannot connect to the others at 127.0.0.1:" + std::to_string(point.port)});
}

}  // namespace geosft::test::test_socket_communicator
