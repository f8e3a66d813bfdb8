// SPDX-License-Identifier: Apache-2.0
// Keeps file accesses inside a dataset's folder, whatever names and links a downloaded set contains.
#pragma once

#include <filesystem>
#include <string>

namespace geosft {

// `folder` / `name`, for a name that the file `list` holds. Throws DataError, naming the list, for a name that is
// empty, absolute, or has a part "..".
std::filesystem::path safe_join(const std::filesystem::path& folder, const std::string& name,
                                const std::filesystem::path& list);

// Throws DataError for a symbolic link in `folder`, at any depth, that leads out of it, and names where to. The folder
// itself may be a link; links to nothing are for the readers to refuse.
void check_links(const std::filesystem::path& folder);

// Whether there is something of this name; nothing where a part of it is longer than names can be.
bool path_exists(const std::filesystem::path& file);

}  // namespace geosft
