// SPDX-License-Identifier: Apache-2.0
// Recognizes files that hold something else than their name says.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace geosft {

// The first bytes of a file that the functions below look at.
constexpr size_t max_foreign_bytes = 1000;

// Returns e.g. "an HTML page" or "a Git LFS pointer", for messages; nothing for content that may be a shape.
std::string foreign_content(std::string_view bytes);
// Works like foreign_content(), but only recognizes text: for formats whose data may begin with any bytes.
std::string foreign_text(std::string_view bytes);

// Throws DataError, naming `file`, for a text in UTF-16 or UTF-32 (with a converter), an HTML page, an XML document and
// a Git LFS pointer. UTF-16 is recognized without a byte-order mark, too.
void require_plain_text(std::string_view text, const std::string& file);

}  // namespace geosft
