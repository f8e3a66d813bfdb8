// SPDX-License-Identifier: Apache-2.0
// Defines the error that every reader throws, and the one that reports all unusable files of a dataset at once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace geosft {

// Reports an unusable file. The message names the file, what was expected and what was found.
class DataError : public std::runtime_error {
 public:
  DataError(const std::string& file, const std::string& expected, const std::string& found)
      : std::runtime_error(file + ": expected " + expected + ", found " + found) {}
  // `text`: the whole message.
  explicit DataError(const std::string& text) : std::runtime_error(text) {}
};

// The errors of several files. The message is the only error itself, or "3 broken files: ERROR; ERROR; ERROR", with at
// most max_named_files of them and the number of the others.
class BrokenFiles : public DataError {
 public:
  explicit BrokenFiles(std::vector<std::string> messages);
  const std::vector<std::string>& messages() const { return messages_; }

 private:
  std::vector<std::string> messages_;
};

constexpr size_t max_named_files = 20;

// Calls read(i) for each of `count` files, on several threads, and then progress(done, count), if there is one. Throws
// one BrokenFiles with the errors of all files, in their order.
void for_each_file(int64_t count, const std::function<void(int64_t)>& read,
                   const std::function<void(int64_t, int64_t)>& progress = {});

// Calls every step; throws one BrokenFiles with the errors of all steps, in order, those of several steps once. Another
// DataError of the first step that fails, such as an absent folder, ends them.
template <class... Steps>
void throw_all_broken(const Steps&... steps) {
  std::vector<std::string> messages;
  const auto attempt = [&](const auto& step) {
    try {
      step();
    } catch (const BrokenFiles& broken) {
      for (const std::string& message : broken.messages()) {
        if (std::find(messages.begin(), messages.end(), message) == messages.end()) messages.push_back(message);
      }
    } catch (const DataError& error) {
      if (messages.empty()) throw;
      messages.emplace_back(error.what());
    }
  };
  (attempt(steps), ...);
  if (!messages.empty()) throw BrokenFiles(messages);
}

}  // namespace geosft
