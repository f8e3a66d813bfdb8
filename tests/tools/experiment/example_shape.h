// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include "data/points/shape.h"
#include "tests/support.h"

namespace geosft::test {

// A cloud of 300 random points far from the origin, of class 2.
inline Shape example_shape(bool normals = true) {
  Shape shape;
  shape.points = at::randn({300, 3}, generator(1)) + 5;
  if (normals) {
    shape.normals = at::randn({300, 3}, generator(2));
    shape.normals = shape.normals / shape.normals.norm(2, 1, true);
  }
  shape.label = 2;
  shape.name = "example";
  return shape;
}

}  // namespace geosft::test
