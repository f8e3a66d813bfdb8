// SPDX-License-Identifier: Apache-2.0
// Recognizes files that hold something else than their name says.
#pragma once

#include <string>
#include <string_view>

namespace geosft {

// Returns e.g. "an HTML page" or "a Git LFS pointer", for messages; nothing for content that may be a shape.
std::string foreign_content(std::string_view bytes);
// Like foreign_content(), but only recognizes text: for formats whose data may begin with any bytes.
std::string foreign_text(std::string_view bytes);

}  // namespace geosft
