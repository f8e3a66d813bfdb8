// SPDX-License-Identifier: Apache-2.0
// Reads members of zip files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace geosft {

// Thread-safe: reads are serialised.
class ZipArchive {
 public:
  // Throws DataError if the file is absent or not a zip file, and for member names that lead out of the folder
  // (safe_join.h).
  explicit ZipArchive(const std::filesystem::path& file);
  // Reads an archive in memory, which must outlive this object. `name` is for messages.
  ZipArchive(std::string_view bytes, const std::string& name);
  ~ZipArchive();
  ZipArchive(ZipArchive&&) noexcept;

  // Returns the names of the members in their order.
  std::vector<std::string> members() const;

  // Returns the bytes of one member. Throws DataError if it is absent, damaged, or unpacks to more than `limit` or than
  // data/formats/compression.h allows.
  std::string read(const std::string& member, uint64_t limit = uint64_t{1} << 30) const;

 private:
  void check_names() const;

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace geosft
