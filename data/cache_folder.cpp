// SPDX-License-Identifier: Apache-2.0
#include "data/cache_folder.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "data/data_error.h"
#include "data/read_file.h"
#include "data/seeds.h"
#include "geometry/threads.h"

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

std::vector<std::filesystem::path> files_below(const std::vector<std::filesystem::path>& folders) {
  std::vector<std::filesystem::path> files;
  for (const std::filesystem::path& folder : folders) {
    std::error_code error;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, error)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string contents_key(const std::vector<std::filesystem::path>& files) {
  std::vector<std::string> keys(files.size());
  parallel_items(static_cast<int64_t>(files.size()), at::get_num_threads(), [&](int64_t i) {
    const std::filesystem::path& file = files[static_cast<size_t>(i)];
    std::string& key = keys[static_cast<size_t>(i)];
    key = (file.parent_path().filename() / file.filename()).string() + " ";
    try {
      key += std::to_string(text_hash(read_file(file)));
    } catch (const DataError&) {
      key += "absent";
    }
  });
  std::string all;
  for (const std::string& key : keys) all += key + "\n";
  return std::to_string(keys.size()) + " files " + std::to_string(text_hash(all));
}

}  // namespace geosft
