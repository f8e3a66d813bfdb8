// SPDX-License-Identifier: Apache-2.0
#include "data/formats/shape_file.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/data/files.h"
#include "tests/support.h"

namespace geosft::test::test_kitti_bin {

namespace {

std::string floats(const std::vector<float>& values) {
  std::string bytes;
  for (const float value : values) bytes += raw(value);
  return bytes;
}

}  // namespace

TEST_CASE("KITTI: points with intensity, those of nuScenes with a ring as well") {
  const at::Tensor expected = at::tensor({1.5, 2.0, 3.0, -4.0, 5.0, 6.0}, at::kDouble).view({2, 3});
  test::require_equal(read_kitti_bin(floats({1.5, 2, 3, 0.5, -4, 5, 6, NAN}), "000001.bin").mesh.vertices, expected,
                      "points");
  test::require_equal(read_kitti_bin(floats({1.5, 2, 3, 0.5, 7, -4, 5, 6, 1, 31}), "scan.pcd.BIN").mesh.vertices,
                      expected, "points");
}

TEST_CASE("KITTI: broken files") {
  const auto fails = [](const std::string& bytes, const std::vector<std::string>& words) {
    test::require_error([&] { read_kitti_bin(bytes, "a.bin").require_finite(); }, words);
  };
  fails("", {"a.bin", "at least one point"});
  fails(floats({1, 2, 3, 4, 5}), {"a.bin", "points of 16 bytes", "20 bytes"});
  // 5 numbers a point under a name that says 4; a count that can be nothing else is read with any intensity.
  std::vector<float> wide;
  for (int i = 0; i < 20; ++i) wide.insert(wide.end(), {-1.0F, -2.0F, -3.0F, 0.5F, 7.0F});
  fails(floats(wide), {"a.bin", "4 numbers a point", ".npy", "intensity -3", "point 2"});
  CHECK(read_kitti_bin(floats({1, 2, 3, -1}), "a.bin").mesh.vertices.size(0) == 1);
  fails(floats({1, NAN, 3, 4}), {"finite coordinates", "point 1"});
  fails(floats({1, 2, 3, 4, 1, 2, 3e8F, 4}), {"a laser scan", "point 2"});
}

}  // namespace geosft::test::test_kitti_bin
