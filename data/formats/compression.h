// SPDX-License-Identifier: Apache-2.0
// Unpacks compressed files: gzip, and LZF in PCD files; and limits what they may unpack to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace geosft {

// Decompresses `bytes` if they are gzip (one or more members), otherwise returns them unchanged. Throws DataError,
// naming `file`, if they are damaged, truncated, or unpack to more than max_unpacked allows. Memory
// grows with the actual data, not with sizes claimed by a header.
std::string gunzipped(std::string bytes, const std::string& file);

// Reads a file that may be gzip. Throws DataError as above, and if it cannot be read.
std::string read_gz_file(const std::filesystem::path& file);

// Returns the first `size` bytes of such a file, unpacked; fewer if the file is shorter or damaged behind them. Throws
// DataError if it cannot be read.
std::string gz_file_head(const std::filesystem::path& file, size_t size);

// Returns `file`, or `file` with .gz appended if only that exists.
std::filesystem::path file_or_gz(const std::filesystem::path& file);

// Unpacks exactly `size` bytes from an LZF stream. Returns nothing if the stream is damaged or has another size.
std::optional<std::string> decompress_lzf(std::string_view packed, size_t size);

// Deflate compresses at most 1,032 to 1. Real data seldom exceed 100 to 1, and those that do (labels, masks) are small.
// A file that unpacks to more is assumed to be crafted to exhaust memory.
inline constexpr uint64_t deflate_ratio = 1032;

constexpr uint64_t max_unpacked(uint64_t packed_bytes) {
  return (uint64_t{256} << 20) + 100 * packed_bytes;
}

}  // namespace geosft
