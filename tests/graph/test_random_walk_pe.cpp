// SPDX-License-Identifier: Apache-2.0
#include "graph/random_walk_pe.h"

#include <catch2/catch.hpp>

#include "tests/support.h"

using namespace geosft;

TEST_CASE("random_walk_pe: fixtures") {
  const std::string name =
      GENERATE("cycle_loops", "directed", "directed_weighted", "packed", "triangle_path", "weighted");
  const at::ScalarType dtype = GENERATE(at::kDouble, at::kFloat);
  const test::Fixture fixture("random_walk_pe_" + name);
  const at::Tensor result =
      random_walk_pe(fixture.get("rowptr"), fixture.get("col"), static_cast<int64_t>(fixture.number("steps", 0)),
                     fixture.get("weight", dtype));
  test::require_close(result, fixture.get("out"), dtype == at::kDouble ? 1e-10 : 1e-5, name);
}
