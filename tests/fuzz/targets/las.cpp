// SPDX-License-Identifier: Apache-2.0
#include "data/formats/shape_file.h"
#include "tests/data/formats/las_bytes.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

const Registration las({"las", [](const std::string& input) { to_cloud(read_las(input, "input"), 8, 1, "input"); },
                        [] {
                          test::LasExample newest;
                          newest.minor = 4;
                          newest.format = 7;
                          return Inputs{test::las_bytes({}), test::las_bytes(newest)};
                        }});

}  // namespace
}  // namespace geosft::fuzz
