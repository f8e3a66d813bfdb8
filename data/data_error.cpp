// SPDX-License-Identifier: Apache-2.0
#include "data/data_error.h"

#include <ATen/Parallel.h>

#include <map>
#include <mutex>

#include "geometry/threads.h"

namespace geosft {
namespace {

std::string broken_text(const std::vector<std::string>& messages) {
  if (messages.size() == 1) return messages.front();
  std::string text = std::to_string(messages.size()) + " broken files: ";
  for (size_t i = 0; i < messages.size() && i < max_named_files; ++i) text += (i > 0 ? "; " : "") + messages[i];
  if (messages.size() > max_named_files) text += "; and " + std::to_string(messages.size() - max_named_files) + " more";
  return text;
}

}  // namespace

BrokenFiles::BrokenFiles(std::vector<std::string> messages)
    : DataError(broken_text(messages)), messages_(std::move(messages)) {}

void for_each_file(int64_t count, const std::function<void(int64_t)>& read,
                   const std::function<void(int64_t, int64_t)>& progress) {
  std::mutex mutex;
  int64_t done = 0;
  std::map<int64_t, std::string> broken;
  parallel_items(count, at::get_num_threads(), [&](int64_t i) {
    try {
      read(i);
    } catch (const DataError& error) {
      const std::lock_guard lock(mutex);
      broken.emplace(i, error.what());
    }
    const std::lock_guard lock(mutex);
    ++done;
    if (progress) progress(done, count);
  });
  std::vector<std::string> messages;
  for (const auto& [file, message] : broken) messages.push_back(message);
  if (!messages.empty()) throw BrokenFiles(messages);
}

}  // namespace geosft
