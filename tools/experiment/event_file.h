// SPDX-License-Identifier: Apache-2.0
// Writes scalars for TensorBoard: a file of records (TFRecord), each of which holds an Event message (protocol
// buffers).
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace geosft {

// Returns the CRC-32C (Castagnoli) of the bytes: 0xe3069283 for "123456789".
uint32_t crc32c(std::string_view bytes);

// Returns a record: length (8 bytes), masked CRC of these bytes, the bytes, their masked CRC; all little-endian. The
// mask is ((crc >> 15) | (crc << 17)) + 0xa282ead8.
std::string tf_record(std::string_view bytes);

// Returns the Event {wall_time, step, summary {value {tag, simple_value}}}; `seconds` since 1970.
std::string scalar_event(std::string_view tag, double value, int64_t step, double seconds);

class EventFile {
 public:
  // Makes FOLDER/events.out.tfevents.SECONDS.HOST.PROCESS.NUMBER, with missing folders, and writes the first event, the
  // version of the format. Throws DataError if that is impossible.
  explicit EventFile(const std::filesystem::path& folder);
  // Appends a scalar with the present time, and flushes. Throws DataError if the disk is full.
  void add_scalar(std::string_view tag, double value, int64_t step);
  const std::filesystem::path& path() const { return path_; }

 private:
  void write(std::string_view event);

  std::filesystem::path path_;
  std::ofstream out_;
};

}  // namespace geosft
