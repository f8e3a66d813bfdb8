// SPDX-License-Identifier: Apache-2.0
// Gzip files that the tests make.
#pragma once

#include <zlib.h>

#include <filesystem>
#include <string>

namespace geosft::test {

inline void write_gz(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  const gzFile handle = gzopen(file.c_str(), "wb");
  gzwrite(handle, text.data(), static_cast<unsigned>(text.size()));
  gzclose(handle);
}

}  // namespace geosft::test
