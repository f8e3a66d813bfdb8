// SPDX-License-Identifier: Apache-2.0
#include "models/ops/cpu/simd.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/support.h"

namespace geosft::test::test_simd {

TEST_CASE("force_simd_target chooses every target and returns to the best", "[simd]") {
  const std::vector<std::string> names = simd_target_names();
  REQUIRE_FALSE(names.empty());
  for (const std::string& name : names) {
    force_simd_target(name);
    REQUIRE(simd_target_name() == name);
  }
  force_simd_target("");
  REQUIRE(simd_target_name() == names.front());
}

#if defined(__x86_64__)
TEST_CASE("every target that was compiled is there on a processor that has it, plain C++ on each", "[simd]") {
  const std::vector<std::string> names = simd_target_names();
  const auto has = [&](const char* name) { return std::find(names.begin(), names.end(), name) != names.end(); };
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  CHECK(has("AVX2") == avx2);
  CHECK(has("AVX3") == (avx2 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")));
  CHECK((names.back() == "SCALAR" || names.back() == "EMU128"));
}
#endif

TEST_CASE("force_simd_target refuses an unknown name and changes nothing for it", "[simd]") {
  require_error([] { force_simd_target("abacus"); }, {"name", "abacus"});
  REQUIRE(simd_target_name() == simd_target_names().front());
}

}  // namespace geosft::test::test_simd
