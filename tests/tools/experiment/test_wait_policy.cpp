// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "tests/environment.h"
#include "tests/places.h"
#include "tests/tools/experiment/subprocess.h"

namespace geosft::test::test_wait_policy {

TEST_CASE("waiting threads of the programs sleep, unless the user wants them to spin", "[wait_policy]") {
  // The policy alone does not show: libgomp prints PASSIVE, and spins, where nobody has set one.
  const EnvironmentVariable shown("OMP_DISPLAY_ENV", "VERBOSE");
  for (const char* name : {"geosft-classify", "geosft-segment", "geosft-graph", "geosft-sequence", "geosft-bench"}) {
    INFO(name);
    const std::string program = program_path(name);
    const ProcessResult result = run_process(program, {"--version"});
    CHECK(result.err.find("GOMP_SPINCOUNT = '0'") != std::string::npos);
    const EnvironmentVariable wanted("OMP_WAIT_POLICY", "ACTIVE");
    const ProcessResult other = run_process(program, {"--version"});
    CHECK(other.err.find("OMP_WAIT_POLICY = 'ACTIVE'") != std::string::npos);
    CHECK(other.err.find("GOMP_SPINCOUNT = '0'") == std::string::npos);
  }
}

}  // namespace geosft::test::test_wait_policy
