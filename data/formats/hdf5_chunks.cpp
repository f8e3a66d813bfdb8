// SPDX-License-Identifier: Apache-2.0
#include "data/formats/hdf5_chunks.h"

#include <hdf5.h>
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "data/data_error.h"
#include "data/formats/compression.h"
#include "data/formats/hdf5_handles.h"
#include "data/reader_process.h"

namespace geosft {

namespace {

uint64_t product(const std::vector<uint64_t>& sizes) {
  uint64_t count = 1;
  for (const uint64_t size : sizes) count *= size;
  return count;
}

// An array and the corner of a box in it.
template <class Byte>
struct Box {
  Byte* numbers;
  const std::vector<uint64_t>& sizes;
  const std::vector<uint64_t>& corner;

  // Returns the flat index in the array of position `row` of the box; trailing dimensions missing from `row` are 0.
  uint64_t at(const std::vector<uint64_t>& row) const {
    uint64_t place = 0;
    for (size_t i = 0; i < sizes.size(); ++i) place = place * sizes[i] + corner[i] + (i < row.size() ? row[i] : 0);
    return place;
  }
};

// Copies a box of size `extent`.
void copy_box(const Box<const unsigned char>& from, const Box<unsigned char>& to, const std::vector<uint64_t>& extent,
              size_t number_size) {
  // From dimension `outer` on, the box is contiguous in both arrays.
  size_t outer = extent.size() - 1;
  while (outer > 0 && extent[outer] == from.sizes[outer] && extent[outer] == to.sizes[outer]) --outer;
  uint64_t run = number_size;
  for (size_t i = outer; i < extent.size(); ++i) run *= extent[i];
  std::vector<uint64_t> row(outer, 0);
  size_t next = 0;
  do {
    std::memcpy(to.numbers + to.at(row) * number_size, from.numbers + from.at(row) * number_size, run);
    next = outer;
    while (next > 0 && ++row[next - 1] == extent[next - 1]) row[--next] = 0;
  } while (next > 0);
}

// Reserves memory that is committed on first write.
std::shared_ptr<unsigned char> reserved(uint64_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  return {static_cast<unsigned char*>(memory), [bytes](unsigned char* taken) { ::munmap(taken, bytes); }};
}

}  // namespace

Hdf5Chunks::Hdf5Chunks(const ChunkedDataset& of)
    : of_(of), shape_(of.shape.begin(), of.shape.end()), size_(of.shape.size()), filters_(of.layout, of.name) {
  const int dimensions = static_cast<int>(size_.size());
  std::vector<hsize_t> sizes(size_.size());
  if (dimensions == 0 || H5Pget_chunk(of.layout, dimensions, sizes.data()) != dimensions) {
    throw DataError(of.name, "chunks of as many dimensions as the numbers", "others");
  }
  size_.assign(sizes.begin(), sizes.end());
  auto bytes = static_cast<double>(H5Tget_size(of.type));
  for (const uint64_t size : size_) bytes *= static_cast<double>(size);
  const uint64_t maximum = max_unpacked(of.file_bytes);
  if (bytes > static_cast<double>(maximum)) fail("chunks of at most " + std::to_string(maximum) + " bytes", bytes);
  // Each chunk takes space in the file.
  constexpr double few = 65536, min_bytes = 16;
  const double chunks = chunk_count();
  if (chunks > few + static_cast<double>(of.file_bytes) / min_bytes) fail("fewer chunks", chunks);
  count_ = product(size_);
  if (count_ == 0) fail("chunks that hold something", 0);
  bytes_ = count_ * H5Tget_size(of.type);
  constexpr uint64_t largest_stored = std::numeric_limits<uint32_t>::max();  // chunk sizes are stored in four bytes
  room_ = std::max(std::min(of.file_bytes, largest_stored), bytes_);
  ReaderRoom::allow(memory());
  packed_ = reserved(room_);
  TORCH_CHECK(packed_, "no memory for the chunks of ", of.name);
}

void Hdf5Chunks::fail(const std::string& expected, double found) const {
  throw DataError(of_.name, expected, std::to_string(static_cast<uint64_t>(std::min(found, 1e18))));
}

void Hdf5Chunks::damaged() const {
  throw DataError(of_.name, "readable data", "damaged or truncated data");
}

double Hdf5Chunks::chunk_count() const {
  double count = 1;
  for (size_t i = 0; i < size_.size(); ++i) {
    count *= std::ceil(static_cast<double>(shape_[i]) / static_cast<double>(std::max<uint64_t>(size_[i], 1)));
  }
  return count;
}

uint64_t Hdf5Chunks::memory() const {
  constexpr uint64_t largest_number = 16;
  return 2 * room_ + 3 * bytes_ + 2 * largest_number * std::min(count_, product(shape_));
}

// Returns the size of the part of a chunk that lies inside the dataset.
Hdf5Chunks::Place Hdf5Chunks::extent(const Place& corner) const {
  Place extent(corner.size());
  for (size_t i = 0; i < corner.size(); ++i) extent[i] = std::min(size_[i], shape_[i] - corner[i]);
  return extent;
}

// Returns an unpacked chunk; empty if it is not stored.
Bytes Hdf5Chunks::stored(const Place& corner) const {
  const std::vector<hsize_t> at(corner.begin(), corner.end());
  hsize_t size = 0;
  if (H5Dget_chunk_storage_size(of_.dataset, at.data(), &size) < 0 || size == 0) return {};
  if (size > room_) fail("chunks that the file has room for", static_cast<double>(size));
  uint32_t left_out = 0;
  // Without filters the reported size is the nominal one, and fewer bytes may be read.
  if (filters_.none()) std::memset(packed_.get(), 0, bytes_);
  if (H5Dread_chunk(of_.dataset, H5P_DEFAULT, at.data(), &left_out, packed_.get()) < 0) damaged();
  unsigned options = 0;
  H5Pget_chunk_opts(of_.layout, &options);
  const bool plain = (options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) != 0 && extent(corner) != size_;
  return filters_.unpack({packed_.get(), packed_.get() + size}, plain ? Hdf5Filters::all : left_out, bytes_);
}

// Returns the part of a chunk that lies inside the dataset, converted and contiguous.
Bytes Hdf5Chunks::block(const Bytes& chunk, const Place& corner, int64_t type, size_t number_size) const {
  const Place sizes = extent(corner), origin(corner.size(), 0);
  const uint64_t count = product(sizes);
  const size_t packed_size = H5Tget_size(of_.type);
  Bytes numbers(count * std::max(number_size, packed_size));
  copy_box({chunk.data(), size_, origin}, {numbers.data(), sizes, origin}, sizes, packed_size);
  if (H5Tconvert(of_.type, type, count, numbers.data(), nullptr, H5P_DEFAULT) < 0) damaged();
  return numbers;
}

// Fills `out` with the fill value.
void Hdf5Chunks::fill(int64_t type, size_t number_size, unsigned char* out) const {
  Bytes value(number_size, 0);
  if (H5Pget_fill_value(of_.layout, type, value.data()) < 0) std::fill(value.begin(), value.end(), 0);
  const uint64_t count = product(shape_);
  for (uint64_t i = 0; i < count; ++i) std::memcpy(out + i * number_size, value.data(), number_size);
}

bool Hdf5Chunks::advance(Place& corner) const {
  for (size_t i = corner.size(); i-- > 0;) {
    corner[i] += size_[i];
    if (corner[i] < shape_[i]) return true;
    corner[i] = 0;
  }
  return false;
}

// Returns the number of stored chunks. For a damaged index this fails, whereas looking up single chunks would silently
// find none.
uint64_t Hdf5Chunks::stored_count() const {
  const Handle space(H5Dget_space(of_.dataset), H5Sclose);
  hsize_t count = 0;
  if (H5Dget_num_chunks(of_.dataset, space, &count) < 0) damaged();
  return count;
}

void Hdf5Chunks::read(int64_t type, size_t number_size, unsigned char* out) const {
  if (product(shape_) == 0) return;
  const uint64_t wanted = stored_count();
  if (static_cast<double>(wanted) > chunk_count()) damaged();
  if (static_cast<double>(wanted) < chunk_count()) fill(type, number_size, out);
  uint64_t found = 0;
  Place corner(shape_.size(), 0);
  // Stops once all stored chunks are found: looking up a missing chunk is slower than reading one.
  for (bool more = true; more && found < wanted; more = advance(corner)) {
    const Bytes chunk = stored(corner);
    if (chunk.empty()) continue;
    ++found;
    const Bytes numbers = block(chunk, corner, type, number_size);
    const Place sizes = extent(corner);
    copy_box({numbers.data(), sizes, Place(corner.size(), 0)}, {out, shape_, corner}, sizes, number_size);
  }
  if (found != wanted) {
    throw DataError(of_.name, std::to_string(wanted) + " stored chunks", std::to_string(found));
  }
}

}  // namespace geosft
