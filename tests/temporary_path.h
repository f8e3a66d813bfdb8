// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

namespace geosft::test {

// A path below the temporary folder that no other process of the tests uses; nothing is made there.
inline std::filesystem::path temporary_path(const std::string& name) {
  return std::filesystem::temp_directory_path() / (name + " " + std::to_string(::getpid()));
}

// Such a path at which no file is, before and after.
struct TemporaryFile {
  std::filesystem::path path;

  explicit TemporaryFile(const std::string& name) : path(temporary_path(name)) { std::filesystem::remove(path); }
  ~TemporaryFile() { std::filesystem::remove(path); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
};

}  // namespace geosft::test
