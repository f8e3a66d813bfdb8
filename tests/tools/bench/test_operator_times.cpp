// SPDX-License-Identifier: Apache-2.0
// tools/bench/profile/operator_times.cpp, preloaded into a program.
#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/tools/experiment/subprocess.h"

namespace geosft::test::test_operator_times {

TEST_CASE("operator times are printed at the end of the program they are preloaded into", "[operator_times]") {
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const std::filesystem::path library = folder.parent_path() / "lib" / "libgeosft_operator_times.so";
  REQUIRE(std::filesystem::exists(library));
  const ProcessResult result =
      run_process("/usr/bin/env", {"LD_PRELOAD=" + library.string(), (folder / "geosft-bench").string(), "run",
                                   "--only", "softmax_pool", "--repeats", "1"});
  INFO(result.err);
  CHECK(result.exit == 0);
  CHECK(result.err.find("share     calls  operator") != std::string::npos);
  CHECK(result.err.find("geosft::_softmax_pool_forward") != std::string::npos);
}

}  // namespace geosft::test::test_operator_times
