// SPDX-License-Identifier: Apache-2.0
// Reads HDF5 files with the HDF5 library, which a hostile file can crash; used only in a separate process
// (hdf5_file.h).
#pragma once

#include <ATen/ATen.h>

#include <optional>
#include <string>
#include <vector>

#include "data/reader_process.h"

namespace geosft {

// Numbers of a dataset, stored in a ReaderRoom.
struct Hdf5Numbers {
  std::vector<int64_t> sizes;
  at::ScalarType type;
};

// One open file.
class Hdf5Library {
 public:
  // `name` is for messages. Throws DataError if the file is not HDF5.
  Hdf5Library(const std::string& name, const std::string& path);
  ~Hdf5Library();
  Hdf5Library(const Hdf5Library&) = delete;
  Hdf5Library& operator=(const Hdf5Library&) = delete;

  // As in Hdf5File. read() stores the numbers in `room`, as `type`: kLong, kFloat, or kDouble, which becomes kFloat if
  // float32 holds every number of the stored type.
  std::vector<std::string> list() const;
  bool has(const std::string& dataset) const;
  std::optional<int64_t> unsigned_max(const std::string& dataset) const;
  Hdf5Numbers read(const std::string& dataset, at::ScalarType type, ReaderRoom& room) const;

 private:
  std::string name_, path_;
  int64_t handle_;
};

}  // namespace geosft
