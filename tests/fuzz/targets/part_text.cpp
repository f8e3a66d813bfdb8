// SPDX-License-Identifier: Apache-2.0
#include "data/formats/part_text.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

// The number of points of the older form's labels is at the beginning.
void read_part_text(const std::string& input) {
  if (input.starts_with('L')) {
    read_point_labels(std::string_view(input).substr(1), 3, "labels");
  } else {
    read_labelled_points(input, "points");
  }
}

const Registration part_text({"part_text", read_part_text, [] {
                                return Inputs{"0 0 0 0 0 1 3\n1 2 3 0 1 0 3.000000\n", "L1\n2\n3.0\n"};
                              }});

}  // namespace
}  // namespace geosft::fuzz
