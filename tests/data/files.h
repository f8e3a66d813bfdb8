// SPDX-License-Identifier: Apache-2.0
// Files that the tests of data/ make and look for.
#pragma once

#include <bit>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>

#include "tests/environment.h"

namespace geosft::test {

// A folder of its own for one test, removed afterwards.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "geosft-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder can be made");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline void write_text(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

// Writes a file of this name in a folder of its own, and returns what `read` makes of it.
template <class Read>
auto read_written(const std::string& name, const std::string& text, const Read& read) {
  const TemporaryFolder folder;
  write_text(folder / name, text);
  return read(folder / name);
}

inline std::string read_text(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// The bytes of a number, for binary files.
template <class Number>
std::string raw(Number value, bool big_endian = false) {
  std::string bytes(sizeof(Number), '\0');
  std::memcpy(bytes.data(), &value, sizeof(Number));
  return big_endian ? std::string(bytes.rbegin(), bytes.rend()) : bytes;
}

// A real dataset below the folder that the environment variable GEOSFT_DATA names; empty, with a warning, where absent.
inline std::filesystem::path real_data(const std::string& name) {
  const char* root = std::getenv("GEOSFT_DATA");
  std::filesystem::path path = root == nullptr ? std::filesystem::path() : std::filesystem::path(root) / name;
  if (root != nullptr && std::filesystem::exists(path)) return path;
  case_left_out = true;
  std::cerr << "WARN: no " << name << " below GEOSFT_DATA: the test with this real data is left out\n";
  return {};
}

// A tetrahedron with corners at the origin and the unit vectors, as OBJ.
inline const std::string tetrahedron_obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

}  // namespace geosft::test
