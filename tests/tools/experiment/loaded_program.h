// SPDX-License-Identifier: Apache-2.0
// Programs that are started often, without loading LibTorch each time.
#pragma once

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/places.h"
#include "tests/tools/experiment/process_start.h"

namespace geosft::test {

// A copy of a program that has loaded its libraries and waits before its main (wait_before_main.cpp). It ends when this
// process does.
class LoadedProgram {
 public:
  LoadedProgram(const std::string& program, std::vector<std::string> environment) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
      throw std::runtime_error("no socket");
    socket_ = ends[0];
    environment.push_back("LD_PRELOAD=" + waits_before_main());
    environment.push_back(std::string(waiting_variable) + "=" + std::to_string(ends[1]));
    child_ = ::fork();
    if (child_ < 0) throw std::runtime_error("no child process");
    if (child_ == 0) {
      ::fcntl(ends[1], F_SETFD, 0);
      const std::vector<std::string> words = {program};
      ::execve(program.c_str(), null_terminated(words).data(), null_terminated(environment).data());
      ::_exit(not_started);
    }
    ::close(ends[1]);
  }
  ~LoadedProgram() {
    ::close(socket_);
    ::waitpid(child_, nullptr, 0);
  }
  LoadedProgram(const LoadedProgram&) = delete;
  LoadedProgram& operator=(const LoadedProgram&) = delete;

  // Runs main in a child of this process, with these files as its output. Returns the child's id.
  pid_t start(std::string message, const std::array<int, 2>& files) const {
    MessageHeader header(message);
    cmsghdr* control = CMSG_FIRSTHDR(&header.about);
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(sizeof(files));
    std::memcpy(CMSG_DATA(control), files.data(), sizeof(files));
    pid_t child = -1;
    if (::sendmsg(socket_, &header.about, MSG_NOSIGNAL) != static_cast<ssize_t>(message.size()) ||
        ::recv(socket_, &child, sizeof(child), 0) != sizeof(child) || child <= 0) {
      throw std::runtime_error("no child of a program that waits before its main");
    }
    return child;
  }

 private:
  int socket_ = -1;
  pid_t child_ = -1;
};

// The loaded programs of this process.
class LoadedPrograms {
 public:
  // Starts a program of the build that was started before with the same libraries. Returns the child's id, and nothing
  // where it must be started anew.
  std::optional<pid_t> start(const ProcessStart& process, const std::array<int, 2>& files) {
    const std::string& program = process.words.front();
    if (waits_before_main().empty() || program != program_path(program.substr(program.rfind('/') + 1)))
      return std::nullopt;
    const std::string message = process.message();
    if (message.size() > max_message_bytes) return std::nullopt;
    const auto [known, first] = programs_.try_emplace(program, Known{.variables = read_by_libraries(process)});
    if (first || known->second.variables != read_by_libraries(process)) return std::nullopt;
    std::unique_ptr<LoadedProgram>& loaded = known->second.loaded;
    if (loaded == nullptr) loaded = std::make_unique<LoadedProgram>(program, process.environment);
    return loaded->start(message, files);
  }

 private:
  struct Known {
    std::vector<std::string> variables;  // of its first start
    std::unique_ptr<LoadedProgram> loaded = nullptr;
  };

  // Variables that libraries read when they are loaded.
  static std::vector<std::string> read_by_libraries(const ProcessStart& process) {
    std::vector<std::string> found;
    for (const std::string& variable : process.environment) {
      const auto begins = [&](const char* prefix) { return variable.starts_with(prefix); };
      constexpr std::array prefixes{"LD_", "OMP_", "GOMP_", "MKL_", "MALLOC_", "TCMALLOC_", "GLIBC_"};
      if (std::ranges::any_of(prefixes, begins)) found.push_back(variable);
    }
    return found;
  }

  std::map<std::string, Known> programs_;
};

}  // namespace geosft::test
