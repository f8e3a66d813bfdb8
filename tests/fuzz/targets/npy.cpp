// SPDX-License-Identifier: Apache-2.0
#include "data/formats/shape_file.h"
#include "tests/data/formats/npy_bytes.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

const Registration npy({"npy", [](const std::string& input) { to_cloud(read_npy(input, "input"), 8, 1, "input"); },
                        [] {
                          const std::string halves = test::raw_all<uint16_t>({0, 15360, 0, 0, 0, 15360});
                          return Inputs{
                              test::npy_bytes("<f4", false, "(2, 3)", test::raw_all<float>({0, 1, 2, 3, 4, 5})),
                              test::npy_bytes(">f8", true, "(1, 2, 3)",
                                              test::raw_all<double>({0, 1, 2, 3, 4, 5}, true)),
                              test::npy_bytes("<f2", false, "(1, 6)", halves),
                              test::npy_bytes("|u1", false, "(2L, 4L)", "abcdefgh")};
                        }});

}  // namespace
}  // namespace geosft::fuzz
