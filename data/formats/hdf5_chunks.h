// SPDX-License-Identifier: Apache-2.0
// Reads chunked datasets of HDF5 files.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/formats/hdf5_filters.h"

namespace geosft {

// `dataset`, its creation properties `layout` and its `type` are HDF5 handles.
struct ChunkedDataset {
  int64_t dataset, layout, type;
  const std::vector<int64_t>& shape;
  uint64_t file_bytes;
  const std::string& name;  // for messages
};

class Hdf5Chunks {
 public:
  // Allocates memory, raising the limit with ReaderRoom. Throws DataError, naming the dataset, if chunks are larger
  // than data/formats/compression.h allows for the size of the file, if there are far more chunks than the file has
  // room for, and for filters that Hdf5Filters refuses.
  explicit Hdf5Chunks(const ChunkedDataset& of);

  // Fills `out` with all numbers, converted to `type`, an HDF5 type of `number_size` bytes. Chunks that are not stored
  // get the dataset's fill value. Throws DataError for a chunk that is damaged or does not unpack to its size.
  void read(int64_t type, size_t number_size, unsigned char* out) const;

 private:
  using Place = std::vector<uint64_t>;
  [[noreturn]] void fail(const std::string& expected, double found) const;
  [[noreturn]] void damaged() const;
  double chunk_count() const;
  uint64_t memory() const;
  Place extent(const Place& corner) const;
  Bytes stored(const Place& corner) const;
  uint64_t stored_count() const;
  Bytes block(const Bytes& chunk, const Place& corner, int64_t type, size_t number_size) const;
  void fill(int64_t type, size_t number_size, unsigned char* out) const;
  bool advance(Place& corner) const;

  ChunkedDataset of_;
  Place shape_, size_;              // dimensions of the dataset and of a chunk
  uint64_t count_ = 0, bytes_ = 0;  // numbers and bytes in a chunk
  Hdf5Filters filters_;
  // Buffer size: the largest chunk that the file can hold. The library copies as many bytes as the chunk claims, which
  // can differ from the size it reported before.
  uint64_t room_ = 0;
  std::shared_ptr<unsigned char> packed_;
};

}  // namespace geosft
