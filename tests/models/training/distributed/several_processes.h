// SPDX-License-Identifier: Apache-2.0
// Test cases of several processes: the program of the tests again, each running a case that is hidden behind a tag.
#pragma once

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "models/training/distributed/sockets/socket_communicator.h"
#include "tests/environment.h"
#include "tests/tools/experiment/concurrent_processes.h"

namespace geosft::test {

// How so many processes that each run the test case of this tag ended.
inline std::vector<ProcessResult> together(size_t processes, const std::string& tag) {
  ConcurrentProcesses started(processes, std::filesystem::read_symlink("/proc/self/exe").string(), {tag});
  return started.wait();
}

inline void require_success(size_t processes, const std::string& tag) {
  for (const ProcessResult& result : together(processes, tag)) {
    INFO(result.out << result.err);
    REQUIRE(result.exit == 0);
  }
}

// In such a process: connected to the others.
inline std::unique_ptr<Communicator> join() {
  RendezvousOptions point;
  point.address = std::getenv("MASTER_ADDR");
  point.port = static_cast<uint16_t>(std::stoi(std::getenv("MASTER_PORT")));
  point.rank = std::stoi(std::getenv("RANK"));
  point.size = std::stoi(std::getenv("WORLD_SIZE"));
  point.timeout = std::chrono::seconds(60);
  return make_socket_communicator(point);
}

// As a tool does what may fail: who fails speaks in its turn, and ends.
template <class Body>
void guarded(const Communicator& all, const Body& body) {
  try {
    body();
  } catch (const std::exception& error) {
    all.elect_error_reporter();
    std::cerr << error.what() << std::endl;
    std::_Exit(3);
  }
}

// In a process that require_one_to_speak started: throws where this is the one to fail.
inline void fail_if_chosen(const Communicator& all) {
  if (std::to_string(all.rank()) == std::getenv("GEOSFT_TEST_FAILING")) throw std::runtime_error("a reason");
}

// Of so many processes that run the test case of this tag the first, then the last fails: it says why, the others end
// in silence.
inline void require_one_to_speak(size_t processes, const std::string& tag) {
  for (const size_t failing : {size_t{0}, processes - 1}) {
    const EnvironmentVariable which("GEOSFT_TEST_FAILING", std::to_string(failing));
    const std::vector<ProcessResult> results = together(processes, tag);
    for (size_t rank = 0; rank < processes; ++rank) {
      INFO("process " << rank << ", of which " << failing << " fails: " << results[rank].err);
      CHECK(results[rank].exit == (rank == failing ? 3 : 1));
      CHECK(results[rank].err == (rank == failing ? "a reason\n" : ""));
    }
  }
}

// The error of connect(timeout), to which a process does not come. The timeout is also that of the store, which on a
// busy machine may not answer in a second: then more time is given.
template <class Connect>
std::string error_of_missing_process(const Connect& connect) {
  std::string error;
  for (std::chrono::seconds timeout(1); timeout <= std::chrono::seconds(256); timeout *= 4) {
    try {
      connect(timeout);
      FAIL("nobody came");
    } catch (const std::exception& caught) {
      error = caught.what();
    }
    if (error.find("has not come") != std::string::npos) break;
  }
  return error;
}

}  // namespace geosft::test
