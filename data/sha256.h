// SPDX-License-Identifier: Apache-2.0
// The hash function SHA-256 (FIPS 180-4), for checksums of downloaded files.
#pragma once

#include <string>
#include <string_view>

namespace geosft {

// Returns the hash as 64 hexadecimal digits in lower case.
std::string sha256(std::string_view bytes);

}  // namespace geosft
