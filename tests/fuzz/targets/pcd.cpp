// SPDX-License-Identifier: Apache-2.0
#include "data/formats/shape_file.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

std::string pcd_header(const std::string& data) {
  return "# .PCD v.7\nVERSION .7\nFIELDS x y z normal_x normal_y normal_z rgb\nSIZE 4 4 8 4 4 4 1\nTYPE F F F F F F U\n"
         "COUNT 1 1 1 1 1 1 3\nWIDTH 2\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS 2\nDATA " +
         data + "\n";
}

std::string pcd_point(float x) {
  return test::raw(x) + test::raw(1.0F) + test::raw(2.0) + test::raw(0.0F) + test::raw(0.0F) + test::raw(1.0F) + "rgb";
}

// Both points as literal runs of LZF, field by field.
std::string packed_points() {
  std::string plain;
  for (const std::string& field : {test::raw(0.5F), test::raw(1.0F), test::raw(2.0), test::raw(0.0F), test::raw(0.0F),
                                   test::raw(1.0F), std::string("rgb")}) {
    plain += field + field;
  }
  std::string packed;
  for (size_t i = 0; i < plain.size(); i += 31) packed += '\x1e' + plain.substr(i, 31);
  packed[(plain.size() / 31) * 32] = static_cast<char>(plain.size() % 31 - 1);
  return test::raw(static_cast<uint32_t>(packed.size())) + test::raw(static_cast<uint32_t>(plain.size())) + packed;
}

const Registration pcd({"pcd", [](const std::string& input) { to_cloud(read_pcd(input, "input"), 8, 1, "input"); },
                        [] {
                          return Inputs{pcd_header("ascii") + "0 0 0 0 0 1 1 2 3\n1 2 3 0 1 0 1 2 3\n",
                                        pcd_header("binary") + pcd_point(0) + pcd_point(1),
                                        pcd_header("binary_compressed") + packed_points()};
                        }});

}  // namespace
}  // namespace geosft::fuzz
