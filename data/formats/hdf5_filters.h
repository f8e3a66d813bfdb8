// SPDX-License-Identifier: Apache-2.0
// Decodes the filters of HDF5 chunks. The HDF5 library assumes that a chunk unpacks to its full size, and reads out of
// bounds if it does not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace geosft {

using Bytes = std::vector<unsigned char>;

class Hdf5Filters {
 public:
  // Reads the filters from a dataset's creation properties `layout`, an HDF5 handle. Throws DataError, with the dataset
  // `name`, for filters other than deflate (once), shuffle and Fletcher32.
  Hdf5Filters(int64_t layout, const std::string& name);

  // Unpacks a chunk to exactly `bytes` bytes. Filters whose bits are set in `left_out` are skipped. Throws DataError if
  // the chunk is damaged or unpacks to a different size.
  Bytes unpack(Bytes packed, uint32_t left_out, size_t bytes) const;
  bool none() const { return filters_.empty(); }
  // Value of `left_out` that skips all filters.
  static constexpr uint32_t all = ~uint32_t{0};

 private:
  struct Filter {
    int kind;
    size_t number_size;  // element size of shuffle
  };
  Bytes undone(size_t place, Bytes packed, uint32_t left_out, size_t bytes) const;
  size_t sums_before(size_t place, uint32_t left_out) const;
  std::vector<Filter> filters_;
  std::string name_;
};

}  // namespace geosft
