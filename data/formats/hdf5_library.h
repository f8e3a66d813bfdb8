// SPDX-License-Identifier: Apache-2.0
// Reads HDF5 files with the HDF5 library, which a hostile file can crash; used only in a separate process
// (hdf5_file.h).
#pragma once

#include <ATen/ATen.h>

#include <string>
#include <vector>

#include "data/reader_process.h"

namespace geosft {

// One open file.
class Hdf5Library {
 public:
  // `name` is for messages. Throws DataError if the file is not HDF5.
  Hdf5Library(const std::string& name, const std::string& path);
  ~Hdf5Library();
  Hdf5Library(const Hdf5Library&) = delete;
  Hdf5Library& operator=(const Hdf5Library&) = delete;

  // As in Hdf5File. read() stores the numbers in `room` and returns the sizes.
  std::vector<std::string> list() const;
  bool has(const std::string& dataset) const;
  std::vector<int64_t> read(const std::string& dataset, at::ScalarType type, ReaderRoom& room) const;

 private:
  std::string name_, path_;
  int64_t handle_;
};

}  // namespace geosft
