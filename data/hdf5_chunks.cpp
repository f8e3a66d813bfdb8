// SPDX-License-Identifier: Apache-2.0
#include "data/hdf5_chunks.h"

#include <hdf5.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>

#include "data/shape.h"
#include "data/unpacked_size.h"

namespace geosft {
namespace {

// One dataset in chunks.
class Chunks {
 public:
  explicit Chunks(const ChunkedDataset& of)
      : of_(of), shape_(of.shape.begin(), of.shape.end()), size_(of.shape.size()) {
    const int dimensions = static_cast<int>(size_.size());
    if (H5Pget_chunk(of.layout, dimensions, size_.data()) != dimensions) {
      throw DataError(of.name, "chunks of as many dimensions as the numbers", "others");
    }
    const int filters = H5Pget_nfilters(of.layout);
    for (int i = 0; i < filters; ++i) add_filter(static_cast<unsigned>(i));
  }

  uint64_t check() const {
    const double bytes = chunk_bytes();
    const auto most = static_cast<double>(most_unpacked(of_.file_bytes));
    if (bytes > most) fail("chunks of at most " + std::to_string(most_unpacked(of_.file_bytes)) + " bytes", bytes);
    const auto stored = static_cast<double>(H5Dget_storage_size(of_.dataset));
    if (stored > static_cast<double>(of_.file_bytes)) fail("chunks that the file has room for", stored);
    // Each takes memory while the whole is read, and room in the file.
    constexpr double few = 65536, least_bytes = 16;
    const double count = chunk_count();
    if (count > few + static_cast<double>(of_.file_bytes) / least_bytes) fail("fewer chunks", count);
    if (deflate_ >= 0 && static_cast<double>(deflate_ratio) * stored > most) check_each(bytes);
    return static_cast<uint64_t>(bytes);
  }

 private:
  [[noreturn]] void fail(const std::string& expected, double found) const {
    throw DataError(of_.name, expected, std::to_string(static_cast<uint64_t>(std::min(found, 1e18))));
  }

  void add_filter(unsigned place) {
    unsigned flags = 0, config = 0;
    size_t values = 0;
    const H5Z_filter_t filter = H5Pget_filter2(of_.layout, place, &flags, &values, nullptr, 0, nullptr, &config);
    const bool deflate = filter == H5Z_FILTER_DEFLATE;
    if ((deflate && deflate_ >= 0) || (!deflate && filter != H5Z_FILTER_SHUFFLE && filter != H5Z_FILTER_FLETCHER32)) {
      throw DataError(of_.name, "deflate (once), shuffle and Fletcher32 as filters",
                      "filter " + std::to_string(filter));
    }
    if (deflate) deflate_ = static_cast<int>(place);
    if (!deflate && deflate_ >= 0 && filter == H5Z_FILTER_FLETCHER32) sum_bytes_ += 4;
  }

  double chunk_bytes() const {
    auto bytes = static_cast<double>(of_.number_size);
    for (const hsize_t size : size_) bytes *= static_cast<double>(size);
    return bytes;
  }

  double chunk_count() const {
    double count = 1;
    for (size_t i = 0; i < size_.size(); ++i) {
      count *= std::ceil(static_cast<double>(shape_[i]) / static_cast<double>(std::max<hsize_t>(size_[i], 1)));
    }
    return count;
  }

  // The library unpacks a chunk to its end, however long that is: those that could become more than is allowed are
  // unpacked here first, into nothing.
  void check_each(double bytes) const {
    const uint64_t suspect = most_unpacked(of_.file_bytes) / deflate_ratio;
    std::vector<hsize_t> corner(shape_.size(), 0);
    do {
      hsize_t stored = 0;
      if (H5Dget_chunk_storage_size(of_.dataset, corner.data(), &stored) < 0) continue;  // not stored
      if (stored > suspect && !unpacks_to(corner, stored, bytes)) {
        throw DataError(of_.name,
                        "chunks that unpack to their " + std::to_string(static_cast<uint64_t>(bytes)) + " bytes",
                        "one of more");
      }
    } while (advance(corner));
  }

  bool advance(std::vector<hsize_t>& corner) const {
    for (size_t i = corner.size(); i-- > 0;) {
      corner[i] += size_[i];
      if (corner[i] < shape_[i]) return true;
      corner[i] = 0;
    }
    return false;
  }

  // Whether a chunk, packed, holds at most so many bytes. One that is damaged does: reading it ends there.
  bool unpacks_to(const std::vector<hsize_t>& corner, hsize_t stored, double bytes) const {
    std::vector<unsigned char> packed(stored), nowhere(65536);
    uint32_t left_out = 0;
    if (H5Dread_chunk(of_.dataset, H5P_DEFAULT, corner.data(), &left_out, packed.data()) < 0) return true;
    if ((left_out >> deflate_ & 1U) != 0) return true;
    z_stream stream{};
    stream.next_in = packed.data();
    stream.avail_in = static_cast<uInt>(stored - std::min<hsize_t>(sum_bytes_, stored));
    if (inflateInit(&stream) != Z_OK) return true;
    int state = Z_OK;
    while (state == Z_OK && static_cast<double>(stream.total_out) <= bytes + sum_bytes_room) {
      stream.next_out = nowhere.data();
      stream.avail_out = static_cast<uInt>(nowhere.size());
      state = inflate(&stream, Z_NO_FLUSH);
    }
    inflateEnd(&stream);
    return static_cast<double>(stream.total_out) <= bytes + sum_bytes_room;
  }

  // Sums that were added before packing.
  static constexpr double sum_bytes_room = 64;

  const ChunkedDataset& of_;
  std::vector<hsize_t> shape_, size_;  // of the dataset, of a chunk
  int deflate_ = -1;                   // its place among the filters
  hsize_t sum_bytes_ = 0;              // of sums that stand behind what is packed
};

}  // namespace

uint64_t check_chunks(const ChunkedDataset& chunked) {
  return Chunks(chunked).check();
}

}  // namespace geosft
