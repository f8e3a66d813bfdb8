// SPDX-License-Identifier: Apache-2.0
#include "data/cache_folder.h"

#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "data/seeds.h"

namespace geosft {

std::filesystem::path default_cache_folder() {
  const auto absolute = [](const char* variable) {
    const char* value = std::getenv(variable);
    const std::filesystem::path path = value == nullptr ? "" : value;
    return path.is_absolute() ? path : std::filesystem::path();
  };
  if (const auto cache = absolute("XDG_CACHE_HOME"); !cache.empty()) return cache / "geosft";
  if (const auto home = absolute("HOME"); !home.empty()) return home / ".cache" / "geosft";
  return {};
}

std::filesystem::path cache_file(const std::filesystem::path& folder, const std::string& id,
                                 const std::string& ending) {
  char name[32];
  std::snprintf(name, sizeof name, "%016llx", static_cast<unsigned long long>(text_hash(id)));
  return folder / (name + ending);
}

bool make_cache_folder(const std::filesystem::path& folder) {
  std::error_code error;
  if (folder.empty()) return false;
  std::filesystem::create_directories(folder, error);
  return !error;
}

}  // namespace geosft
