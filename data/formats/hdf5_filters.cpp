// SPDX-License-Identifier: Apache-2.0
#include "data/formats/hdf5_filters.h"

#include <hdf5.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "data/data_error.h"

namespace geosft {
namespace {

constexpr size_t sum_bytes = 4;

bool applied(uint32_t left_out, size_t place) {
  return (left_out >> std::min<size_t>(place, 31) & 1U) == 0;
}

// Computes the Fletcher checksum over big-endian 16-bit words, modulo 65,535.
uint32_t fletcher32(const unsigned char* bytes, size_t size) {
  constexpr size_t words_without_overflow = 360;
  uint32_t low = 0, high = 0;
  const auto folded = [](uint32_t sum) { return (sum & 0xffffU) + (sum >> 16); };
  for (size_t i = 0; i < size;) {
    const size_t end = std::min(size, i + 2 * words_without_overflow);
    for (; i < end; i += 2) {
      low += static_cast<uint32_t>(bytes[i]) << 8 | (i + 1 < size ? bytes[i + 1] : 0U);
      high += low;
    }
    low = folded(low);
    high = folded(high);
  }
  return folded(high) << 16 | folded(low);
}

// Undoes the shuffle: transposes bytes [size, count] to numbers [count, size]; trailing bytes are kept at the end.
template <class Word>
void gather_words(const unsigned char* bytes, size_t count, unsigned char* numbers) {
  for (size_t i = 0; i < count; ++i) {
    Word word = 0;
    for (size_t j = 0; j < sizeof(Word); ++j) word |= static_cast<Word>(bytes[j * count + i]) << (8 * j);
    std::memcpy(numbers + i * sizeof(Word), &word, sizeof(Word));
  }
}

Bytes unshuffled(Bytes bytes, size_t size) {
  const size_t count = bytes.size() / size;
  if (size == 1 || count == 0) return bytes;
  Bytes numbers(bytes.size());
  if (size == sizeof(uint32_t)) {
    gather_words<uint32_t>(bytes.data(), count, numbers.data());
  } else if (size == sizeof(uint64_t)) {
    gather_words<uint64_t>(bytes.data(), count, numbers.data());
  } else {
    for (size_t j = 0; j < size; ++j) {
      for (size_t i = 0; i < count; ++i) numbers[i * size + j] = bytes[j * count + i];
    }
  }
  std::copy(bytes.begin() + static_cast<int64_t>(count * size), bytes.end(),
            numbers.begin() + static_cast<int64_t>(count * size));
  return numbers;
}

enum class Inflated { whole, fewer, more, damaged };

// Inflates `packed` into `out`.
Inflated inflate_into(const Bytes& packed, Bytes& out) {
  z_stream stream{};
  stream.next_in = const_cast<Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(std::min<size_t>(packed.size(), std::numeric_limits<uInt>::max()));
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(out.size());
  if (inflateInit(&stream) != Z_OK) return Inflated::damaged;
  const int state = inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
  if (state == Z_STREAM_END) return stream.avail_out == 0 ? Inflated::whole : Inflated::fewer;
  return state == Z_BUF_ERROR && stream.avail_out == 0 ? Inflated::more : Inflated::damaged;
}

}  // namespace

Hdf5Filters::Hdf5Filters(int64_t layout, const std::string& name) : name_(name) {
  const int count = H5Pget_nfilters(layout);
  for (int i = 0; i < count; ++i) {
    unsigned flags = 0, config = 0;
    std::array<unsigned, 8> values{};
    size_t value_count = values.size();
    const H5Z_filter_t kind =
        H5Pget_filter2(layout, static_cast<unsigned>(i), &flags, &value_count, values.data(), 0, nullptr, &config);
    const bool again = kind == H5Z_FILTER_DEFLATE && std::any_of(filters_.begin(), filters_.end(), [](const auto& f) {
                         return f.kind == H5Z_FILTER_DEFLATE;
                       });
    const bool known = kind == H5Z_FILTER_DEFLATE || kind == H5Z_FILTER_FLETCHER32 ||
                       (kind == H5Z_FILTER_SHUFFLE && value_count > 0 && values[0] > 0);
    if (again || !known) {
      throw DataError(name_, "deflate (once), shuffle and Fletcher32 as filters", "filter " + std::to_string(kind));
    }
    filters_.push_back({kind, values[0]});
  }
}

// Returns the size of the checksums added by earlier filters.
size_t Hdf5Filters::sums_before(size_t place, uint32_t left_out) const {
  size_t sums = 0;
  for (size_t i = 0; i < place; ++i) {
    if (filters_[i].kind == H5Z_FILTER_FLETCHER32 && applied(left_out, i)) sums += sum_bytes;
  }
  return sums;
}

Bytes Hdf5Filters::undone(size_t place, Bytes packed, uint32_t left_out, size_t bytes) const {
  const Filter& filter = filters_[place];
  if (filter.kind == H5Z_FILTER_SHUFFLE) return unshuffled(std::move(packed), filter.number_size);
  const auto damaged = [&] { return DataError(name_, "readable data", "damaged or truncated data"); };
  if (filter.kind == H5Z_FILTER_FLETCHER32) {
    if (packed.size() < sum_bytes) throw damaged();
    const size_t kept = packed.size() - sum_bytes;
    uint32_t sum = 0;
    std::memcpy(&sum, packed.data() + kept, sum_bytes);
    if (sum != fletcher32(packed.data(), kept)) throw damaged();
    packed.resize(kept);
    return packed;
  }
  Bytes out(bytes + sums_before(place, left_out));
  const Inflated inflated = inflate_into(packed, out);
  if (inflated == Inflated::damaged) throw damaged();
  if (inflated != Inflated::whole) {
    throw DataError(name_, "chunks that unpack to their " + std::to_string(bytes) + " bytes",
                    inflated == Inflated::more ? "one of more" : "one of fewer");
  }
  return out;
}

Bytes Hdf5Filters::unpack(Bytes packed, uint32_t left_out, size_t bytes) const {
  for (size_t place = filters_.size(); place-- > 0;) {
    if (applied(left_out, place)) packed = undone(place, std::move(packed), left_out, bytes);
  }
  if (packed.size() != bytes) {
    throw DataError(name_, "chunks that unpack to their " + std::to_string(bytes) + " bytes",
                    "one of " + std::to_string(packed.size()));
  }
  return packed;
}

}  // namespace geosft
