// SPDX-License-Identifier: Apache-2.0
// A program as several processes that learn from variables who they are, as torchrun starts it.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/environment.h"
#include "tests/tools/experiment/subprocess.h"

namespace geosft::test {

inline bool can_listen_at(int port) {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool free = ::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  ::close(listener);
  return free;
}

// A port of this machine at which nobody listens, below those that the system gives to whoever connects: none of the
// tests beside this one takes it before it is used, nor a process that connects to it before rank 0 listens.
inline int free_port() {
  // Processes of the tests begin at ports of their own, and never ask for one twice.
  static int asked = static_cast<int>(::getpid()) * 97;
  for (int attempt = 0; attempt < 100; ++attempt) {
    const int port = 10000 + ++asked % 22000;
    if (can_listen_at(port)) return port;
  }
  throw std::runtime_error("no free port");
}

class ConcurrentProcesses {
 public:
  // Each with arguments of its own.
  ConcurrentProcesses(const std::string& program, const std::vector<std::vector<std::string>>& arguments,
                      const ProcessOptions& options = {}) {
    const EnvironmentVariable address("MASTER_ADDR", "127.0.0.1"), port("MASTER_PORT", std::to_string(free_port()));
    const EnvironmentVariable size("WORLD_SIZE", std::to_string(arguments.size()));
    for (size_t rank = 0; rank < arguments.size(); ++rank) {
      const EnvironmentVariable own("RANK", std::to_string(rank));
      processes_.push_back(std::make_unique<Process>(program, arguments[rank], options));
    }
  }
  // All with the same.
  ConcurrentProcesses(size_t count, const std::string& program, const std::vector<std::string>& arguments,
                      const ProcessOptions& options = {})
      : ConcurrentProcesses(program, std::vector(count, arguments), options) {}

  const Process& operator[](size_t rank) const { return *processes_.at(rank); }
  // In the order of their ranks.
  std::vector<ProcessResult> wait() {
    std::vector<ProcessResult> results;
    for (const auto& process : processes_) results.push_back(process->wait());
    return results;
  }

 private:
  std::vector<std::unique_ptr<Process>> processes_;
};

}  // namespace geosft::test
