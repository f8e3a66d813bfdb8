// SPDX-License-Identifier: Apache-2.0
// Where what was worked out once is kept.
#pragma once

#include <filesystem>
#include <string>

namespace geosft {

// $XDG_CACHE_HOME/geosft, or ~/.cache/geosft; empty when neither variable is set to an absolute path.
std::filesystem::path default_cache_folder();

// The file in `folder` for what `id` says, with this ending.
std::filesystem::path cache_file(const std::filesystem::path& folder, const std::string& id, const std::string& ending);

// Makes `folder` where it is absent. False when it is empty or cannot be made.
bool make_cache_folder(const std::filesystem::path& folder);

}  // namespace geosft
