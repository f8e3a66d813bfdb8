// SPDX-License-Identifier: Apache-2.0
// Reads and writes HDF5 datasets as tensors.
#pragma once

#include <ATen/ATen.h>

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace geosft {

class IsolatedReader;

// Reads a file in a separate process, so that a file crafted to crash or hang the HDF5 library only causes an error.
// Thread-safe: calls are serialised.
class Hdf5File {
 public:
  // Throws DataError if the file is absent or not HDF5, or if the system cannot create a process. The message tells a
  // Git LFS pointer and an HTML page apart from other files.
  explicit Hdf5File(const std::filesystem::path& file);
  ~Hdf5File();
  Hdf5File(const Hdf5File&) = delete;
  Hdf5File& operator=(const Hdf5File&) = delete;

  // Returns the names of the datasets at the root, sorted.
  std::vector<std::string> list() const;
  bool has(const std::string& dataset) const;
  // Read a dataset of any integer or floating type, converted to float32 or int64; read_real() to float64 unless
  // float32 holds every number of its type. Throw DataError, naming file and dataset, if it is absent, not numeric,
  // damaged, stored in another file, or claims a size that its storage cannot hold or data/formats/compression.h does
  // not allow.
  at::Tensor read_float(const std::string& dataset) const { return read(dataset, at::kFloat); }
  at::Tensor read_real(const std::string& dataset) const { return read(dataset, at::kDouble); }
  at::Tensor read_int(const std::string& dataset) const { return read(dataset, at::kLong); }
  // Returns the maximum of the type of a dataset, as read_int() reads it, if that is an unsigned integer type.
  std::optional<int64_t> unsigned_max(const std::string& dataset) const;

 private:
  at::Tensor read(const std::string& dataset, at::ScalarType type) const;
  std::string ask(char what, const std::string& dataset) const;
  std::string file_;
  std::unique_ptr<IsolatedReader> reader_;
  mutable std::mutex turn_;
};

// Writes a file with a compressed dataset per tensor (uint8, int32, int64, float32 or float64), using AtomicFile:
// throws DataError on an error, and the old file remains. The whole compressed file is first built in memory.
void write_hdf5(const std::filesystem::path& file, const std::map<std::string, at::Tensor>& datasets);

// Converts a text to a uint8 tensor for write_hdf5.
at::Tensor as_bytes(const std::string& text);

}  // namespace geosft
