// SPDX-License-Identifier: Apache-2.0
// Datasets of HDF5 files that lie there in chunks: what the library would allocate for them, unasked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace geosft {

// What the library would take memory for; `dataset` and `layout` (its creation properties) are the library's handles.
struct ChunkedDataset {
  int64_t dataset, layout;
  const std::vector<int64_t>& shape;
  uint64_t number_size, file_bytes;
  const std::string& name;  // for messages
};

// Throws DataError, naming the dataset, for chunks that are larger, stored or unpacked, than data/unpacked_size.h
// allows for a file of so many bytes, for far more of them than the file has room for, and for filters other than
// deflate (once), shuffle and Fletcher32. Returns the bytes of an unpacked chunk.
uint64_t check_chunks(const ChunkedDataset& chunked);

}  // namespace geosft
