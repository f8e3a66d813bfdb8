// SPDX-License-Identifier: Apache-2.0
// Locates and names the files of the cache.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace geosft {

// $XDG_CACHE_HOME/geosft, or ~/.cache/geosft; empty when neither variable is set to an absolute path.
std::filesystem::path default_cache_folder();

// The path of the cache file in `folder` for `id`, with this ending.
std::filesystem::path cache_file(const std::filesystem::path& folder, const std::string& id, const std::string& ending);

// Makes `folder` where it is absent. False when it is empty or cannot be made.
bool make_cache_folder(const std::filesystem::path& folder);

// All regular files below the folders, sorted by path.
std::vector<std::filesystem::path> files_below(const std::vector<std::filesystem::path>& folders);

// A key of the contents of `files`, of their names and of those of their folders, read in parallel. A file that is
// absent or cannot be read has a key, too.
std::string contents_key(const std::vector<std::filesystem::path>& files);

}  // namespace geosft
