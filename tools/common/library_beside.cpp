// SPDX-License-Identifier: Apache-2.0
#include "tools/common/library_beside.h"

#include <dlfcn.h>

#include <filesystem>

namespace geosft {

void* function_beside(const std::string& library, const char* function) {
  Dl_info here;
  if (dladdr(reinterpret_cast<const void*>(&function_beside), &here) == 0) return nullptr;
  const std::filesystem::path path = std::filesystem::path(here.dli_fname).parent_path() / library;
  void* const loaded = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  return loaded == nullptr ? nullptr : dlsym(loaded, function);
}

}  // namespace geosft
