// SPDX-License-Identifier: Apache-2.0
#include "data/safe_join.h"

#include <algorithm>
#include <system_error>

#include "data/data_error.h"

namespace geosft {
namespace {

namespace fs = std::filesystem;

bool is_within(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

}  // namespace

fs::path safe_join(const fs::path& folder, const std::string& name, const fs::path& list) {
  std::string slashed = name;
  std::replace(slashed.begin(), slashed.end(), '\\', '/');
  const fs::path path(slashed);
  const bool drive = slashed.size() >= 2 && slashed[1] == ':';
  if (path.empty() || drive || path.is_absolute() || std::find(path.begin(), path.end(), "..") != path.end()) {
    throw DataError(list.string(), "names of files in its folder", "\"" + name.substr(0, 80) + "\"");
  }
  return folder / path;
}

void check_links(const fs::path& folder) {
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  const auto lenient = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator at(folder, lenient, error), end; !error && at != end; at.increment(error)) {
    std::error_code unknown;
    if (!at->is_symlink(unknown)) continue;
    const fs::path target = fs::canonical(at->path(), unknown);
    if (unknown || is_within(target, root)) continue;
    throw DataError(at->path().string(), "a link that stays in " + root.string(), "one to " + target.string());
  }
}

bool path_exists(const fs::path& file) {
  std::error_code error;
  return fs::exists(file, error);
}

}  // namespace geosft
