// SPDX-License-Identifier: Apache-2.0
// Reads text files that may be compressed by gzip.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace geosft {

// What `bytes` hold: unpacked where they are gzip (one member or several), else themselves. Throws DataError, naming
// `file`, when they are damaged, truncated, or become larger than data/formats/unpacked_size.h allows. Memory grows
// with what is there, not with what a header claims.
std::string gunzipped(std::string bytes, const std::string& file);

// The contents of a file that may be gzip. DataError as above, and when it cannot be read.
std::string read_gz_file(const std::filesystem::path& file);

// `file`, or the same name with .gz after it where only that one exists.
std::filesystem::path file_or_gz(const std::filesystem::path& file);

}  // namespace geosft
