// SPDX-License-Identifier: Apache-2.0
// Decompresses LZF, the compression of PCD files.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace geosft {

// Unpacks exactly `size` bytes from an LZF stream. Returns nothing if the stream is damaged or has another size.
std::optional<std::string> decompress_lzf(std::string_view packed, size_t size);

}  // namespace geosft
