// SPDX-License-Identifier: Apache-2.0
// What a mistyped name was probably meant to be.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace geosft {

// Number of insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The known name with the smallest edit distance to `name`, the first of equals; empty when nothing is known.
std::string nearest_name(std::string_view name, const std::vector<std::string>& known);

}  // namespace geosft
