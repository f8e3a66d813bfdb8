// SPDX-License-Identifier: Apache-2.0
// What the tests of all programs share.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
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

// Runs a training until its metrics have some lines, then lets something happen to it.
inline ProcessResult train_until(const std::string& program, const Words& words, const ProcessOptions& options,
                                 const std::filesystem::path& metrics, size_t lines,
                                 const std::function<void(const Process&)>& event) {
  Process process(program, words, options);
  wait_for_lines(metrics, lines);
  event(process);
  return process.wait();
}

// The same with a signal.
inline ProcessResult train_until(const std::string& program, const Words& words, const ProcessOptions& options,
                                 const std::filesystem::path& metrics, size_t lines, int signal) {
  return train_until(program, words, options, metrics, lines, [=](const Process& process) { process.send(signal); });
}

}  // namespace geosft::test
