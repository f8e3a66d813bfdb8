// SPDX-License-Identifier: Apache-2.0
#include "tests/models/ops/point_cases.h"

namespace geosft::test::test_cpu_point_attention {
using namespace point_cases;

TEST_CASE("the kernels of distances agree with the reference at awkward sizes", "[cpu_point_attention]") {
  require_references(false, 20);
}

TEST_CASE("the kernels of distances pass gradcheck", "[cpu_point_attention]") {
  require_gradcheck(fused, random_points({{6}, {5}, 1, 2, 3}, 31, false));
  require_gradcheck(fused, random_points({{4, 3}, {2, 5}, 2, 3, 2}, 38, false));
}

TEST_CASE("the kernels of distances and normals agree with the reference at awkward sizes", "[cpu_point_attention]") {
  require_references(true, 60);
}

TEST_CASE("the kernels of distances and normals pass gradcheck", "[cpu_point_attention]") {
  require_gradcheck(fused, random_points({{5, 3}, {4, 2}, 2, 3, 2}, 30, true));
}

}  // namespace geosft::test::test_cpu_point_attention
