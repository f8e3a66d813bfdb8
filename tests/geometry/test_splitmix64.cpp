// SPDX-License-Identifier: Apache-2.0
#include "geometry/splitmix64.h"

#include <catch2/catch.hpp>

namespace geosft::test::test_splitmix64 {

TEST_CASE("the finaliser gives the first numbers of splitmix64 from the seed 0") {
  constexpr uint64_t step = 0x9e3779b97f4a7c15;
  CHECK(splitmix64_finalizer(step) == 0xe220a8397b1dcdaf);
  CHECK(splitmix64_finalizer(2 * step) == 0x6e789e6aa1b965f4);
  CHECK(splitmix64_finalizer(0) == 0);
}

}  // namespace geosft::test::test_splitmix64
