// SPDX-License-Identifier: Apache-2.0
#include "tests/models/ops/point_cases.h"

namespace geosft::test::test_point_distance_kernels {
using namespace point_cases;

TEST_CASE("the kernels of distances agree with the reference at awkward sizes", "[point_distance_kernels]") {
  require_references(false, 20);
}

TEST_CASE("the kernels of distances pass gradcheck", "[point_distance_kernels]") {
  require_gradcheck(fused, random_points({{6}, {5}, 1, 2, 3}, 31, false));
  require_gradcheck(fused, random_points({{4, 3}, {2, 5}, 2, 3, 2}, 38, false));
}

}  // namespace geosft::test::test_point_distance_kernels
