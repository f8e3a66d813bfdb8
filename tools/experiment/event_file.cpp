// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/event_file.h"

#include <unistd.h>

#include <array>
#include <bit>
#include <chrono>

#include "data/data_error.h"

namespace geosft {
namespace {

std::array<uint32_t, 256> crc_table() {
  constexpr uint32_t polynomial = 0x82f63b78;  // reflected
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < table.size(); ++byte) {
    uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? polynomial : 0);
    table[byte] = value;
  }
  return table;
}

template <class Integer>
std::string little_endian(Integer value) {
  std::string bytes;
  for (size_t i = 0; i < sizeof value; ++i) bytes += static_cast<char>((value >> (8 * i)) & 0xff);
  return bytes;
}

std::string masked_crc(std::string_view bytes) {
  const uint32_t crc = crc32c(bytes);
  return little_endian(((crc >> 15) | (crc << 17)) + 0xa282ead8U);
}

// Protocol buffers: a field begins with its number and its wire type, in one varint.
enum WireType : uint64_t { varint_type = 0, double_type = 1, bytes_type = 2, float_type = 5 };

std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7f) | 0x80);
  return bytes + static_cast<char>(value);
}

std::string key(uint64_t number, WireType type) {
  return varint(number << 3 | type);
}
std::string bytes_field(uint64_t number, std::string_view bytes) {
  return key(number, bytes_type) + varint(bytes.size()) + std::string(bytes);
}
std::string double_field(uint64_t number, double value) {
  return key(number, double_type) + little_endian(std::bit_cast<uint64_t>(value));
}
std::string float_field(uint64_t number, float value) {
  return key(number, float_type) + little_endian(std::bit_cast<uint32_t>(value));
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 && name[0] != '\0' ? name.data() : "localhost";
}

// Returns a path that no file has: a run may be resumed within a second.
std::filesystem::path free_path(const std::filesystem::path& folder) {
  const std::string stem = "events.out.tfevents." + std::to_string(static_cast<int64_t>(seconds_now())) + "." +
                           host_name() + "." + std::to_string(::getpid()) + ".";
  int number = 0;
  while (std::filesystem::exists(folder / (stem + std::to_string(number)))) ++number;
  return folder / (stem + std::to_string(number));
}

}  // namespace

uint32_t crc32c(std::string_view bytes) {
  static const std::array<uint32_t, 256> table = crc_table();
  uint32_t crc = 0xffffffff;
  for (const char byte : bytes) crc = (crc >> 8) ^ table[(crc ^ static_cast<unsigned char>(byte)) & 0xff];
  return ~crc;
}

std::string tf_record(std::string_view bytes) {
  const std::string length = little_endian(static_cast<uint64_t>(bytes.size()));
  return length + masked_crc(length) + std::string(bytes) + masked_crc(bytes);
}

std::string scalar_event(std::string_view tag, double value, int64_t step, double seconds) {
  const std::string one = bytes_field(1, tag) + float_field(2, static_cast<float>(value));
  return double_field(1, seconds) + key(2, varint_type) + varint(static_cast<uint64_t>(step)) +
         bytes_field(5, bytes_field(1, one));
}

EventFile::EventFile(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw DataError(folder.string(), "a folder that can be made", error.message());
  path_ = free_path(folder);
  out_.open(path_, std::ios::binary);
  write(double_field(1, seconds_now()) + bytes_field(3, "brain.Event:2"));
}

void EventFile::add_scalar(std::string_view tag, double value, int64_t step) {
  write(scalar_event(tag, value, step, seconds_now()));
}

void EventFile::write(std::string_view event) {
  out_ << tf_record(event) << std::flush;
  if (!out_) throw DataError(path_.string(), "a file that can be written to", "none, or no room");
}

}  // namespace geosft
