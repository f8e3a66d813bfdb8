// SPDX-License-Identifier: Apache-2.0
// Maps former names of configuration keys, which are still read, and other libraries' names, which hints know.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace geosft {

// Returns the present name of the key: `name` itself or its replacement. Former names are accepted for one release.
std::string current_key(std::string_view name);
// Returns the former name of the key; empty if it was never renamed.
std::string former_key(std::string_view key);
// Returns the value, as the text of an option, that the key had in effect before it existed, where that is not its
// default; else empty. RUN folders without the key have this value.
std::string former_value(std::string_view key);
// Returns a shorter name of the key as an option: "--validation" of validation_fraction; empty if it has none.
std::string option_alias(std::string_view key);
// Returns the notice for a former option: "--learning-rate is now called --lr; ...".
std::string renaming_notice(const std::string& former_option, const std::string& option);

// Returns the number of insertions, deletions, substitutions and transpositions that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

// Returns the known name that `name` probably means: a synonym (ema, dropout, hidden_dim, ...), else the one with the
// smallest edit distance (the first if equal); empty if none is near. Accepts keys and options with leading dashes.
std::string nearest_name(std::string_view name, const std::vector<std::string>& known);
// Returns "; the nearest known is 'NAME'", or an empty string if none is near.
std::string nearest_hint(std::string_view name, const std::vector<std::string>& known);

}  // namespace geosft
