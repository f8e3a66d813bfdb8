// SPDX-License-Identifier: Apache-2.0
// Keeps file accesses inside a dataset's folder, whatever names and links a downloaded set contains.
#pragma once

#include <filesystem>
#include <string>

namespace geosft {

// Returns `folder` / `name` for a name from the file `list`. Throws DataError, naming the list, if the name is empty,
// absolute, or contains "..". Backslashes separate folders too, as in lists written on Windows.
std::filesystem::path safe_join(const std::filesystem::path& folder, const std::string& name,
                                const std::filesystem::path& list);

// Throws DataError, naming the target, for a symbolic link in `folder`, at any depth, that leads out of it. The folder
// itself may be a link. Dangling links are left to the readers.
void check_links(const std::filesystem::path& folder);

// Returns whether the path exists; false if it cannot be checked, e.g. because a name is too long.
bool path_exists(const std::filesystem::path& file);

}  // namespace geosft
