// SPDX-License-Identifier: Apache-2.0
#include "tools/common/memory_error.h"

#include <ATen/ATen.h>

#include <catch2/catch.hpp>
#include <new>
#include <stdexcept>

namespace geosft::test::test_memory_error {

TEST_CASE("too little memory is told from other errors") {
  const auto text = [](const auto& fail) {
    try {
      fail();
    } catch (...) {
      return memory_error(std::current_exception());
    }
    return std::optional<std::string>();
  };
  CHECK(text([] { throw std::bad_alloc(); }) == "out of memory");
  CHECK_THAT(text([] { at::empty({int64_t{1} << 50}); }).value(),
             Catch::StartsWith("out of memory: ") && Catch::Contains("4503599627370496 bytes"));
  const auto gpu = [] { TORCH_CHECK_WITH(OutOfMemoryError, false, "CUDA out of memory.\nMore"); };
  CHECK(text(gpu) == "out of memory: CUDA out of memory.");
  CHECK_FALSE(text([] { TORCH_CHECK(false, "points: expected [n, 3]"); }));
  CHECK_FALSE(text([] { throw std::runtime_error("disk full"); }));
  CHECK_FALSE(text([] { throw 3; }));
}

}  // namespace geosft::test::test_memory_error
