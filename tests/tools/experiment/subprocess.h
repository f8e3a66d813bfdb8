// SPDX-License-Identifier: Apache-2.0
// Runs a program as a user would, with what it wrote and how it ended.
#pragma once

#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/tools/experiment/loaded_program.h"

namespace geosft::test {

struct ProcessResult {
  int exit = -1;   // exit code; -1 when a signal ended it
  int signal = 0;  // that signal
  std::string out, err;
};

struct ProcessOptions {
  std::filesystem::path cache = {};   // XDG_CACHE_HOME; empty: as it is
  std::filesystem::path folder = {};  // to start in; empty: as it is
  rlim_t file_bytes = RLIM_INFINITY;  // no file may grow beyond, as on a full disk
  rlim_t memory = RLIM_INFINITY;      // bytes of address space
  bool bound = false;                 // by the permissions of files, also where root runs the tests
};

// A child process whose stdout and stderr are read through pipes. One that is not waited for is killed.
class Process {
 public:
  Process(const std::string& program, const std::vector<std::string>& arguments, const ProcessOptions& options = {}) {
    for (auto& pipe : pipes_) {
      if (::pipe2(pipe.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    }
    start(program, arguments, options);
    for (auto& pipe : pipes_) ::close(pipe[1]);
  }
  ~Process() {
    if (child_ > 0) {
      send(SIGKILL);
      wait();
    }
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t id() const { return child_; }
  void send(int signal) const { ::kill(child_, signal); }
  // Returns whether it has a handler of its own for the signal.
  bool catches(int signal) const {
    std::ifstream status("/proc/" + std::to_string(child_) + "/status");
    const std::string field = "SigCgt:";
    for (std::string line; std::getline(status, line);) {
      if (!line.starts_with(field)) continue;
      constexpr int hexadecimal = 16;
      return ((std::stoull(line.substr(field.size()), nullptr, hexadecimal) >> (signal - 1)) & 1) != 0;
    }
    return false;
  }
  // Whether it has ended; wait() says how.
  bool over() const {
    siginfo_t found = {};
    return ::waitid(P_PID, static_cast<id_t>(child_), &found, WEXITED | WNOHANG | WNOWAIT) == 0 && found.si_pid != 0;
  }

  // Waits until it has printed `text` so many times. Returns false if it has ended, or a minute has passed, before.
  bool wait_for_output(const std::string& text, size_t count) {
    const auto printed = [&] {
      size_t found = 0;
      for (size_t at = result_.out.find(text); at != std::string::npos; at = result_.out.find(text, at + 1)) ++found;
      return found >= count;
    };
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    constexpr int milliseconds = 100;
    while (!printed()) {
      if (std::chrono::steady_clock::now() > end || !read_more(milliseconds)) return printed();
    }
    return true;
  }

  ProcessResult wait() {
    while (read_more(-1)) {
    }
    ProcessResult result = std::move(result_);
    int status = 0;
    while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    }
    child_ = -1;
    if (WIFEXITED(status)) result.exit = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
    return result;
  }

 private:
  void start(const std::string& program, const std::vector<std::string>& arguments, const ProcessOptions& options) {
    static LoadedPrograms loaded;
    ProcessStart process{.words = {program},
                         .environment = environment(options),
                         .folder = (std::filesystem::current_path() / options.folder).string(),
                         .file_bytes = options.file_bytes};
    process.words.insert(process.words.end(), arguments.begin(), arguments.end());
    const std::array<int, 2> files{pipes_[0][1], pipes_[1][1]};
    if (options.memory == RLIM_INFINITY && !options.bound) {
      if (const std::optional<pid_t> child = loaded.start(process, files)) {
        child_ = *child;
        return;
      }
    }
    child_ = ::fork();
    if (child_ < 0) throw std::runtime_error("no child process");
    if (child_ == 0) become(process, files, options);
  }

  // The variables of this process, but for those that the options change.
  static std::vector<std::string> environment(const ProcessOptions& options) {
    // Tests of programs are small, and run beside each other.
    std::vector<std::string> changed = {"OMP_NUM_THREADS=1"};
    if (!options.cache.empty()) changed.push_back("XDG_CACHE_HOME=" + options.cache.string());
    std::vector<std::string> all = changed;
    for (char** variable = ::environ; *variable != nullptr; ++variable) {
      const std::string text = *variable, name = text.substr(0, text.find('=') + 1);
      if (std::ranges::none_of(changed, [&](const std::string& other) { return other.starts_with(name); })) {
        all.push_back(text);
      }
    }
    return all;
  }

  [[noreturn]] static void become(const ProcessStart& process, const std::array<int, 2>& files,
                                  const ProcessOptions& options) {
    process.take_over(files[0], files[1]);
    // What a program may do as root is limited by this set.
    if (options.bound && ::geteuid() == 0 && ::prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE) != 0) ::_exit(not_started);
    const rlimit space{options.memory, options.memory};
    ::setrlimit(RLIMIT_AS, &space);
    const std::vector<char*> words = null_terminated(process.words), variables = null_terminated(process.environment);
    ::execve(words[0], words.data(), variables.data());
    ::_exit(not_started);
  }

  // Waits for what it writes, and reads it. Returns false when nothing can come any more.
  bool read_more(int milliseconds) {
    if (pipes_[0][0] < 0 && pipes_[1][0] < 0) return false;
    std::array<pollfd, 2> ready = {{{pipes_[0][0], POLLIN, 0}, {pipes_[1][0], POLLIN, 0}}};
    const std::array<std::string*, 2> texts = {&result_.out, &result_.err};
    if (::poll(ready.data(), ready.size(), milliseconds) < 0) return true;
    for (size_t i = 0; i < ready.size(); ++i) {
      if (ready[i].revents == 0) continue;
      std::array<char, 4096> buffer;
      const ssize_t bytes = ::read(ready[i].fd, buffer.data(), buffer.size());
      if (bytes > 0) {
        texts[i]->append(buffer.data(), static_cast<size_t>(bytes));
      } else {
        ::close(ready[i].fd);
        pipes_[i][0] = -1;  // poll leaves it out
      }
    }
    return true;
  }

  ProcessResult result_;  // what it has written so far
  std::array<std::array<int, 2>, 2> pipes_;
  pid_t child_ = -1;
};

inline ProcessResult run_process(const std::string& program, const std::vector<std::string>& arguments,
                                 const ProcessOptions& options = {}) {
  return Process(program, arguments, options).wait();
}

}  // namespace geosft::test
