// SPDX-License-Identifier: Apache-2.0
// The LZF compression of PCD files.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace geosft {

// Exactly `size` bytes unpacked from a stream of LZF, or nothing when the stream is damaged or of another size.
std::optional<std::string> decompress_lzf(std::string_view packed, size_t size);

}  // namespace geosft
