// SPDX-License-Identifier: Apache-2.0
#include "tests/models/ops/point_cases.h"

namespace geosft::test::test_cpu_point_attention {
using namespace point_cases;

TEST_CASE("the kernels of distances agree with the reference at awkward sizes", "[cpu_point_attention]") {
  require_references(1, 20);
}

TEST_CASE("the kernels of distances pass gradcheck", "[cpu_point_attention]") {
  require_gradcheck(fused, random_points({{6}, {5}, 1, 2, 3}, 31, 1));
  require_gradcheck(fused, random_points({{4, 3}, {2, 5}, 2, 3, 2}, 38, 1));
}

TEST_CASE("the kernels of distances and normals agree with the reference at awkward sizes", "[cpu_point_attention]") {
  // Measured over 1,000 seeds, at most: 5.4e-14 of 1e-10, 5.1e-6 of 2e-5, 3.8e-5 of 0.0001 that are allowed.
  require_references(2, 60);
}

TEST_CASE("the kernels of distances and normals pass gradcheck", "[cpu_point_attention]") {
  require_gradcheck(fused, random_points({{5, 3}, {4, 2}, 2, 3, 2}, 30, 2));
}

TEST_CASE("the kernels of angles agree with the reference at awkward sizes", "[cpu_point_attention]") {
  // Measured over 1,000 seeds, at most: 7.1e-14 of 1e-10, 5.4e-6 of 2e-5, 4.2e-5 of 0.0001 that are allowed.
  require_references(4, 90);
}

TEST_CASE("the kernels of angles pass gradcheck", "[cpu_point_attention]") {
  require_gradcheck(fused, random_points({{5, 3}, {4, 2}, 2, 3, 2}, 41, 4));
}

TEST_CASE("the kernels of angles and chirality agree with the reference at awkward sizes", "[cpu_point_attention]") {
  // Measured over 1,000 seeds, at most: 8.0e-14 of 1e-10, 9.0e-6 of 2e-5, 2.8e-5 of 0.0001 that are allowed.
  require_references(5, 120);
}

TEST_CASE("the kernels of angles and chirality pass gradcheck", "[cpu_point_attention]") {
  require_gradcheck(fused, random_points({{6}, {5}, 1, 2, 3}, 42, 5));
  require_gradcheck(fused, random_points({{5, 3}, {4, 2}, 2, 3, 2}, 43, 5));
}

}  // namespace geosft::test::test_cpu_point_attention
