// SPDX-License-Identifier: Apache-2.0
#include "models/training/distributed/nccl/nccl_library.h"

#include <dlfcn.h>

#include <stdexcept>

namespace geosft::nccl {
namespace {

template <class Function>
void find(void* library, const std::string& name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name.c_str()));
  if (function == nullptr) throw std::runtime_error("NCCL has no function " + name + ": 2.13 or later is needed");
}

}  // namespace

Library load_library(const std::string& name) {
  void* const loaded = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr) throw std::runtime_error(std::string("NCCL cannot be loaded: ") + dlerror());
  Library library{};
  find(loaded, "ncclGetUniqueId", library.get_unique_id);
  find(loaded, "ncclCommInitRank", library.comm_init_rank);
  find(loaded, "ncclAllReduce", library.all_reduce);
  find(loaded, "ncclCommGetAsyncError", library.comm_get_async_error);
  find(loaded, "ncclCommAbort", library.comm_abort);
  find(loaded, "ncclCommDestroy", library.comm_destroy);
  find(loaded, "ncclGetErrorString", library.get_error_string);
  find(loaded, "ncclGetLastError", library.get_last_error);
  return library;
}

std::string error_message(const Library& library, Result result, Group* group) {
  std::string reason = library.get_error_string(result);
  const char* const more = library.get_last_error(group);
  if (more != nullptr && *more != '\0') reason += std::string(" (") + more + ")";
  return reason;
}

void require_success(const Library& library, Result result, Group* group, const std::string& what) {
  if (result == Result::success) return;
  throw std::runtime_error("NCCL " + what + ": " + error_message(library, result, group));
}

}  // namespace geosft::nccl
