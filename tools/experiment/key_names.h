// SPDX-License-Identifier: Apache-2.0
// The names of configuration keys: earlier ones, which are still read, and those of other libraries, which hints know.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace geosft {

// The key that is called `name` today: itself, or what replaced it. Earlier names are accepted for one release.
std::string current_key(std::string_view name);
// What the key was called before; empty where it has always had its name.
std::string former_key(std::string_view key);
// What is said on stderr where the former option was given: "--learning-rate is now called --lr; ...".
std::string renaming_notice(const std::string& former_option, const std::string& option);

// Number of insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The known name that `name` probably stands for: a synonym of it (ema, dropout, hidden_dim, ...), else the one with
// the smallest edit distance, the first of equals; empty when none is near. Keys and options (leading dashes) are both
// taken.
std::string nearest_name(std::string_view name, const std::vector<std::string>& known);
// "; the nearest known is 'NAME'", or nothing when none is near.
std::string nearest_hint(std::string_view name, const std::vector<std::string>& known);

}  // namespace geosft
