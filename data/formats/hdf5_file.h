// SPDX-License-Identifier: Apache-2.0
// Reads and writes datasets of HDF5 files as tensors.
#pragma once

#include <ATen/ATen.h>

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace geosft {

class IsolatedReader;

// A file is read in a process of its own, so that one that is made to crash the HDF5 library, or to keep it busy, is an
// error like any other. Thread-safe: calls take turns.
class Hdf5File {
 public:
  // Throws DataError when the file is absent or no HDF5, or the system has no more processes.
  explicit Hdf5File(const std::filesystem::path& file);
  ~Hdf5File();
  Hdf5File(const Hdf5File&) = delete;
  Hdf5File& operator=(const Hdf5File&) = delete;

  // Names of the datasets at the root, sorted.
  std::vector<std::string> list() const;
  bool has(const std::string& dataset) const;
  // A dataset of any integer or floating type, converted: to float32, or to int64. Throws DataError naming file and
  // dataset when it is absent, not numeric, damaged, lies in another file, or claims a size that its storage cannot
  // hold or that data/formats/unpacked_size.h does not allow.
  at::Tensor read_float(const std::string& dataset) const { return read(dataset, at::kFloat); }
  at::Tensor read_int(const std::string& dataset) const { return read(dataset, at::kLong); }

 private:
  at::Tensor read(const std::string& dataset, at::ScalarType type) const;
  std::string ask(char what, const std::string& dataset) const;
  std::string file_;
  std::unique_ptr<IsolatedReader> reader_;
  mutable std::mutex turn_;
};

// Writes a file with a dataset for every tensor (uint8, int32, int64, float32 or float64), compressed, by AtomicFile:
// after an error, which is a DataError, the old file remains. The whole compressed file is held in memory meanwhile.
void write_hdf5(const std::filesystem::path& file, const std::map<std::string, at::Tensor>& datasets);

// A text as such a dataset, uint8.
at::Tensor as_bytes(const std::string& text);

}  // namespace geosft
