// SPDX-License-Identifier: Apache-2.0
// Reads members of a zip file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace geosft {

// Thread-safe: reads take turns.
class ZipArchive {
 public:
  // Throws DataError when the file is absent or no zip, and for members whose names lead out of a folder
  // (safe_join.h).
  explicit ZipArchive(const std::filesystem::path& file);
  ~ZipArchive();
  ZipArchive(ZipArchive&&) noexcept;

  // The bytes of one member. Throws DataError when it is absent, damaged, or larger unpacked than `limit` or than
  // data/formats/unpacked_size.h allows.
  std::string read(const std::string& member, uint64_t limit = uint64_t{1} << 30) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace geosft
