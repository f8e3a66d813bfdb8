// SPDX-License-Identifier: Apache-2.0
#include "tools/common/processes.h"

#include <catch2/catch.hpp>

#include "tests/environment.h"
#include "tests/support.h"
#include "tools/common/arguments.h"

namespace geosft::test::test_processes {

TEST_CASE("a process that was started alone joins nobody") {
  CHECK(join_processes() == nullptr);
  const EnvironmentVariable one("WORLD_SIZE", "1"), word("PMIX_RANK", "none");
  CHECK(join_processes() == nullptr);
}

TEST_CASE("processes without an MPI between them are refused") {
  const EnvironmentVariable world("WORLD_SIZE", "4"), rank("RANK", "1");
  require_error([] { join_processes(); }, {"WORLD_SIZE is 4", "mpirun", "torchrun"});
  CHECK_THROWS_AS(join_processes(), UsageError);
}

}  // namespace geosft::test::test_processes
