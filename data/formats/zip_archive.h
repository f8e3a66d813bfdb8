// SPDX-License-Identifier: Apache-2.0
// Reads members of zip files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace geosft {

// Thread-safe: reads are serialised.
class ZipArchive {
 public:
  // Throws DataError if the file is absent or not a zip file, and for member names that lead out of the folder
  // (safe_join.h).
  explicit ZipArchive(const std::filesystem::path& file);
  ~ZipArchive();
  ZipArchive(ZipArchive&&) noexcept;

  // Returns the bytes of one member. Throws DataError if it is absent, damaged, or unpacks to more than `limit` or than
  // data/formats/unpacked_size.h allows.
  std::string read(const std::string& member, uint64_t limit = uint64_t{1} << 30) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace geosft
