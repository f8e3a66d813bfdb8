// SPDX-License-Identifier: Apache-2.0
// Undoes the filters of chunks of HDF5 files. The library itself trusts a chunk to unpack to its size, and reads on
// behind one that does not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace geosft {

using Bytes = std::vector<unsigned char>;

class Hdf5Filters {
 public:
  // Those of a dataset's creation properties, a handle of the library. Throws DataError, with `name` of the dataset,
  // for others than deflate (once), shuffle and Fletcher32.
  Hdf5Filters(int64_t layout, const std::string& name);

  // A chunk of exactly so many bytes, unpacked; of the filters those were left out whose bits are set. Throws DataError
  // where it is damaged, or unpacks to more or fewer bytes.
  Bytes unpack(Bytes packed, uint32_t left_out, size_t bytes) const;
  bool none() const { return filters_.empty(); }
  // With all filters left out.
  static constexpr uint32_t all = ~uint32_t{0};

 private:
  struct Filter {
    int kind;
    size_t number_size;  // of shuffle
  };
  Bytes undone(size_t place, Bytes packed, uint32_t left_out, size_t bytes) const;
  size_t sums_before(size_t place, uint32_t left_out) const;
  std::vector<Filter> filters_;
  std::string name_;
};

}  // namespace geosft
