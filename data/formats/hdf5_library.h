// SPDX-License-Identifier: Apache-2.0
// HDF5 files as the library reads them, which a hostile file can crash: in a process for it alone (hdf5_file.h).
#pragma once

#include <ATen/ATen.h>

#include <string>
#include <vector>

#include "data/reader_process.h"

namespace geosft {

// One open file.
class Hdf5Library {
 public:
  // `name` is for messages. Throws DataError when the file is no HDF5.
  Hdf5Library(const std::string& name, const std::string& path);
  ~Hdf5Library();
  Hdf5Library(const Hdf5Library&) = delete;
  Hdf5Library& operator=(const Hdf5Library&) = delete;

  // As Hdf5File has them; the numbers of a dataset go to `room`, its sizes are returned.
  std::vector<std::string> list() const;
  bool has(const std::string& dataset) const;
  std::vector<int64_t> read(const std::string& dataset, at::ScalarType type, ReaderRoom& room) const;

 private:
  std::string name_, path_;
  int64_t handle_;
};

}  // namespace geosft
