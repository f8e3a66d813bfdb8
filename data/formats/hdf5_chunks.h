// SPDX-License-Identifier: Apache-2.0
// Reads chunked datasets of HDF5 files.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/formats/hdf5_filters.h"

namespace geosft {

// `dataset`, its creation properties `layout` and its `type` are the library's handles.
struct ChunkedDataset {
  int64_t dataset, layout, type;
  const std::vector<int64_t>& shape;
  uint64_t file_bytes;
  const std::string& name;  // for messages
};

class Hdf5Chunks {
 public:
  // Takes memory, which ReaderRoom allows. Throws DataError, naming the dataset, for chunks that are larger, stored or
  // unpacked, than data/formats/unpacked_size.h allows for a file of so many bytes, for far more of them than the file
  // has room for, and for filters that Hdf5Filters refuses.
  explicit Hdf5Chunks(const ChunkedDataset& of);

  // Fills `out` with all numbers, converted to `type`, a handle of the library for numbers of so many bytes; those of
  // chunks that are not stored are the dataset's fill value. Throws DataError for a chunk that is damaged, or does not
  // unpack to its size.
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
  Place shape_, size_;              // of the dataset, of a chunk
  uint64_t count_ = 0, bytes_ = 0;  // numbers in a chunk
  Hdf5Filters filters_;
  // As large as any chunk that the file can hold: the library copies there what a chunk is said to have, whatever it
  // has answered before.
  uint64_t room_ = 0;
  std::shared_ptr<unsigned char> packed_;
};

}  // namespace geosft
