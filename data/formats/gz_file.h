// SPDX-License-Identifier: Apache-2.0
// Reads files that may be compressed by gzip.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace geosft {

// Decompresses `bytes` if they are gzip (one or more members), otherwise returns them unchanged. Throws DataError,
// naming `file`, if they are damaged, truncated, or unpack to more than data/formats/unpacked_size.h allows. Memory
// grows with the actual data, not with sizes claimed by a header.
std::string gunzipped(std::string bytes, const std::string& file);

// Reads a file that may be gzip. Throws DataError as above, and if it cannot be read.
std::string read_gz_file(const std::filesystem::path& file);

// Returns the first `size` bytes of such a file, unpacked; fewer if the file is shorter or damaged behind them. Throws
// DataError if it cannot be read.
std::string gz_file_head(const std::filesystem::path& file, size_t size);

// Returns `file`, or `file` with .gz appended if only that exists.
std::filesystem::path file_or_gz(const std::filesystem::path& file);

}  // namespace geosft
