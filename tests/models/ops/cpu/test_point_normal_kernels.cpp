// SPDX-License-Identifier: Apache-2.0
#include "tests/models/ops/point_cases.h"

namespace geosft::test::test_point_normal_kernels {
using namespace point_cases;

TEST_CASE("the kernels of distances and normals agree with the reference at awkward sizes", "[point_normal_kernels]") {
  require_references(true, 60);
}

TEST_CASE("the kernels of distances and normals pass gradcheck", "[point_normal_kernels]") {
  require_gradcheck(fused, random_points({{5, 3}, {4, 2}, 2, 3, 2}, 30, true));
}

}  // namespace geosft::test::test_point_normal_kernels
