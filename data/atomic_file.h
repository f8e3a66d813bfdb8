// SPDX-License-Identifier: Apache-2.0
// Writes files that are either complete or absent, also after a crash or on a full disk.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace geosft {

// Writes to a hidden file in the folder of `target`; `commit` flushes it to the disk and renames it over the target,
// also over a link. Without a commit the target keeps its previous contents. A pipe or a device, also one that a link
// leads to, is written to at once. Every failure throws DataError with the system's reason.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path target);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, size_t bytes);
  void commit();

 private:
  [[noreturn]] void fail(const std::string& step) const;
  std::filesystem::path target_, temporary_;  // temporary_ is empty for a pipe or a device
  int descriptor_ = -1;
};

// Removes the hidden files that killed processes left behind in `folder`.
void remove_abandoned(const std::filesystem::path& folder);

// Removes files and folders in `folder` made by processes that no longer run. Their names match the regular expression
// `names`, whose first group (at most 9 digits) is the process ID.
void remove_abandoned(const std::filesystem::path& folder, const std::string& names);

void write_file_atomically(const std::filesystem::path& target, std::string_view contents);

}  // namespace geosft
