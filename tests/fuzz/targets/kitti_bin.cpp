// SPDX-License-Identifier: Apache-2.0
#include "data/formats/shape_file.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

void read_kitti(const std::string& input) {
  to_cloud(read_kitti_bin(input, "input"), 8, 1, "input");
}

const Registration kitti_bin({"kitti_bin", read_kitti, [] {
                                std::string bytes;
                                for (int i = 0; i < 12; ++i) bytes += test::raw(0.5F * static_cast<float>(i));
                                return Inputs{bytes};
                              }});

}  // namespace
}  // namespace geosft::fuzz
