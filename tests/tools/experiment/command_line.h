// SPDX-License-Identifier: Apache-2.0
// What the tests of all programs share.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/data/files.h"
#include "tests/environment.h"
#include "tests/tools/experiment/subprocess.h"

namespace geosft::test {

using Words = std::vector<std::string>;

inline Words operator+(Words left, const Words& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

// The words but for an option with a value, which may be said once.
inline Words without(Words words, const std::string& option) {
  const auto found = std::find(words.begin(), words.end(), option);
  if (found != words.end()) words.erase(found, found + 2);
  return words;
}

inline Words lines_of(const std::string& text) {
  std::istringstream in(text);
  Words lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// It must fail with this exit code, and with a last line that holds every one of `words`; and print nothing.
inline void require_tool_failure(const std::string& tool, const ProcessResult& result, int exit, const Words& words) {
  INFO(result.err);
  REQUIRE(result.exit == exit);
  CHECK(result.out.empty());
  const Words lines = lines_of(result.err);
  REQUIRE_FALSE(lines.empty());
  CHECK(lines.back().rfind(tool + ": error: ", 0) == 0);
  for (const std::string& word : words) CHECK_THAT(lines.back(), Catch::Contains(word));
}

inline void require_one_line_failure(const std::string& tool, const ProcessResult& result, int exit,
                                     const Words& words) {
  require_tool_failure(tool, result, exit, words);
  CHECK(lines_of(result.err).size() == 1);
}

// Waits until the metrics of a training have so many lines.
inline void wait_for_lines(const std::filesystem::path& metrics, size_t lines) {
  const auto written = [&] { return std::filesystem::exists(metrics) ? lines_of(read_text(metrics)).size() : 0; };
  for (int tries = 0; written() < lines; ++tries) {
    REQUIRE(tries < 60000);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

inline size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// Stops processes while it lives, so that what happens to them does not depend on how fast they are.
class Pause {
 public:
  explicit Pause(std::vector<pid_t> processes) : processes_(std::move(processes)) {
    for (const pid_t process : processes_) ::kill(process, SIGSTOP);
    for (const pid_t process : processes_) {
      while (runs(process)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  ~Pause() {
    for (const pid_t process : processes_) ::kill(process, SIGCONT);
  }
  Pause(const Pause&) = delete;
  Pause& operator=(const Pause&) = delete;

 private:
  // False of one that is stopped, or has ended.
  static bool runs(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string stat;
    std::getline(file, stat);
    const size_t end = stat.rfind(')');  // the name of the program may hold anything
    return end != std::string::npos && std::string("TtZX").find(stat.at(end + 2)) == std::string::npos;
  }

  std::vector<pid_t> processes_;
};

// Returns whether a training still has an epoch before it that has not begun.
inline bool has_epochs_left(const std::filesystem::path& metrics) {
  const std::string text = read_text(metrics), config = "\n" + read_text(metrics.parent_path() / "config.toml");
  const std::string key = "\nepochs = ", whole = text.substr(0, text.rfind('\n'));
  const std::string last = whole.substr(whole.rfind('\n') + 1);  // step,epoch,…
  return std::stoll(last.substr(last.find(',') + 1)) + 2 <= std::stoll(config.substr(config.find(key) + key.size()));
}

// Lets something happen to a training between two lines of its metrics, after so many of them, and returns what start()
// returned, to be waited for. Its processes, of which processes_of() tells the ids, are stopped meanwhile. A training
// that was too far by then, as on a machine that is busy, begins again.
template <typename Start, typename ProcessesOf, typename Event>
auto started_until(const std::filesystem::path& metrics, size_t lines, const Start& start,
                   const ProcessesOf& processes_of, const Event& event) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    auto started = start();
    wait_for_lines(metrics, lines);
    {
      const Pause pause(processes_of(*started));
      if (has_epochs_left(metrics)) {
        event(*started);
        return started;
      }
    }
    started.reset();
    std::filesystem::remove_all(metrics.parent_path());
  }
  throw std::runtime_error("a training ends too early to be stopped in its middle");
}

using ProcessesOf = std::function<std::vector<pid_t>(const Process&)>;

// The same with one program, waited for. Its processes are itself, or those of `processes_of`.
inline ProcessResult train_until(
    const std::string& program, const Words& words, const ProcessOptions& options, const std::filesystem::path& metrics,
    size_t lines, const std::function<void(const Process&)>& event,
    const ProcessesOf& processes_of = [](const Process& process) { return std::vector{process.id()}; }) {
  const auto start = [&] { return std::make_unique<Process>(program, words, options); };
  return started_until(metrics, lines, start, processes_of, event)->wait();
}

// The same with a signal.
inline ProcessResult train_until(const std::string& program, const Words& words, const ProcessOptions& options,
                                 const std::filesystem::path& metrics, size_t lines, int signal) {
  return train_until(program, words, options, metrics, lines, [=](const Process& process) { process.send(signal); });
}

}  // namespace geosft::test
