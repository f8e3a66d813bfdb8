// SPDX-License-Identifier: Apache-2.0
// Locates and names the files of the cache.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace geosft {

// Returns $XDG_CACHE_HOME/geosft or ~/.cache/geosft; empty if neither variable is set to an absolute path.
std::filesystem::path default_cache_folder();

// Returns the path of the cache file for `id` in `folder`, with this file extension.
std::filesystem::path cache_file(const std::filesystem::path& folder, const std::string& id, const std::string& ending);

// Creates `folder` if it is absent. Returns false if the path is empty or the folder cannot be created.
bool make_cache_folder(const std::filesystem::path& folder);

// Returns all regular files below the folders, sorted by path.
std::vector<std::filesystem::path> files_below(const std::vector<std::filesystem::path>& folders);

// Hashes the contents of `files`, their names and the names of their folders, reading in parallel. A file that is
// absent or unreadable contributes a fixed value.
std::string contents_key(const std::vector<std::filesystem::path>& files);

}  // namespace geosft
