// SPDX-License-Identifier: Apache-2.0
#include "geometry/operators.h"

#include <dlfcn.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "geometry/knn.h"
#include "geometry/version.h"
#include "tests/support.h"
#include "tests/temporary_path.h"

namespace geosft::test::test_operators {

using Knn = decltype(geosft::knn);
using Version = decltype(geosft::version);

// The warnings of this thread, as long as it lives.
class Warnings final : public c10::WarningHandler {
 public:
  std::vector<std::string> texts;
  void process(const c10::Warning& warning) override { texts.push_back(warning.msg()); }

 private:
  c10::WarningUtils::WarningHandlerGuard guard_{this};
};

// A copy of a library beside the one that this program is linked with.
class Copy {
 public:
  explicit Copy(const std::string& library) : library_(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    INFO((library_ == nullptr ? dlerror() : ""));
    REQUIRE(library_ != nullptr);
  }
  template <class Function>
  Function* find(const char* symbol) const {
    void* const found = dlsym(library_, symbol);
    REQUIRE(found != nullptr);
    return reinterpret_cast<Function*>(found);
  }
  // Mangled: what a program that links this copy would call.
  Knn* knn() const { return find<Knn>("_ZN6geosft3knnERKN2at6TensorES3_lRKSt8optionalIS1_ES7_"); }
  Version* version() const { return find<Version>("_ZN6geosft7versionEv"); }

 private:
  void* library_;  // never closed: it stays
};

std::string file_of_operators() {
  using Library = std::tuple<std::string, std::string>();
  return std::get<1>(find_operator<Library>("_library").call());
}

TEST_CASE("a second copy of the library is served by the operators of the first") {
  const std::filesystem::path folder = temporary_path("second copy");
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file(GEOSFT_OPS, folder / "libgeosft_ops.so");
  Warnings warnings;
  const Copy copy(folder / "libgeosft_ops.so");
  std::filesystem::remove_all(folder);
  REQUIRE(warnings.texts.empty());
  REQUIRE(file_of_operators().find("second copy") == std::string::npos);
  REQUIRE(copy.knn() != &geosft::knn);
  const at::Tensor points = at::randn({20, 3}, generator(1));
  require_equal(std::get<0>(copy.knn()(points, points, 3, {}, {})), std::get<0>(geosft::knn(points, points, 3)), "knn");
}

TEST_CASE("a copy of another version warns, refuses calls, and leaves the first one alone") {
  Warnings warnings;
  const Copy other(GEOSFT_OPS_OF_ANOTHER_VERSION);
  REQUIRE(warnings.texts.size() == 1);
  for (const char* word : {"geosft 99.1.0", "another_version", geosft::version(), "refused"}) {
    INFO(warnings.texts[0]);
    REQUIRE(warnings.texts[0].find(word) != std::string::npos);
  }
  REQUIRE(std::string(other.version()()) == "99.1.0");
  REQUIRE(std::string(geosft::version()) == GEOSFT_VERSION);
  const at::Tensor points = at::randn({20, 3}, generator(1));
  require_error([&] { other.knn()(points, points, 3, {}, {}); },
                {"geosft 99.1.0", geosft::version(), "load one version"});
  require_equal(std::get<0>(geosft::knn(points, points, 1)).squeeze(1), at::arange(20), "the nearest of itself");
}

}  // namespace geosft::test::test_operators
