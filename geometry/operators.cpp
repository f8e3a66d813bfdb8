// SPDX-License-Identifier: Apache-2.0
#include "geometry/operators.h"

#include <dlfcn.h>

#include <tuple>

#include "geometry/version.h"

namespace geosft {
namespace {

// Version and file of a loaded copy of the library.
using Copy = std::tuple<std::string, std::string>;

Copy this_copy() {
  Dl_info found{};
  const bool known = dladdr(reinterpret_cast<void*>(&this_copy), &found) != 0 && found.dli_fname != nullptr;
  return {version(), known ? found.dli_fname : "a file without a name"};
}

constexpr const char* kCopyOperator = "_library";

std::optional<Copy> registered_copy() {
  const auto op = c10::Dispatcher::singleton().findSchema({std::string("geosft::") + kCopyOperator, ""});
  if (!op) return std::nullopt;
  return op->typed<Copy()>().call();
}

// Returns "major.minor"; copies with equal values are interchangeable.
std::string release_of(const Copy& copy) {
  return std::get<0>(copy).substr(0, std::get<0>(copy).rfind('.'));
}

std::string both_copies(const Copy& registered, const Copy& own) {
  return "geosft " + std::get<0>(own) + " (" + std::get<1>(own) + ") was loaded after geosft " +
         std::get<0>(registered) + " (" + std::get<1>(registered) + "), whose operators this process has";
}

// Decides once which loaded copy of the library registers the operators: the first one. Constructed by the first of the
// static objects below, before any registration.
struct Registrar {
  std::optional<torch::Library> library;

  Registrar() {
    if (const auto registered = registered_copy()) {
      const Copy own = this_copy();
      if (release_of(*registered) != release_of(own)) {
        TORCH_WARN(both_copies(*registered, own), "; calls into the later one are refused");
      }
      return;
    }
    library.emplace(torch::Library::FRAGMENT, "geosft", std::nullopt, __FILE__, __LINE__);
    library->def((std::string(kCopyOperator) + "() -> (str version, str file)").c_str(), &this_copy);
  }
};

const Registrar& registrar() {
  static const Registrar one;
  return one;
}

}  // namespace

OperatorRegistration::OperatorRegistration(torch::Library::Kind kind, std::optional<c10::DispatchKey> key,
                                           void (*fill)(torch::Library&), const char* file, uint32_t line) {
  if (!registrar().library) return;
  library_.emplace(kind, "geosft", key, file, line);
  fill(*library_);
}

void check_operators_version() {
  if (registrar().library) return;
  const auto registered = registered_copy();
  const Copy own = this_copy();
  TORCH_CHECK(registered, "the copy of geosft that has registered the operators was unloaded");
  TORCH_CHECK(release_of(*registered) == release_of(own), both_copies(*registered, own), ": load one version");
}

}  // namespace geosft
