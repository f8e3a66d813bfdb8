// SPDX-License-Identifier: Apache-2.0
#include "data/points/point_formats.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

void read_normal_resampled_folder(const std::string& input) {
  static const InputFolder folder({"modelnet40_shape_names.txt", "modelnet40_train.txt", "modelnet40_test.txt",
                                   "chair/chair_0001.txt", "bed/bed_0002.txt"});
  list_normal_resampled(folder.fill(input), Split::train, input.size() % 2 == 0);
}

const Registration normal_resampled({"normal_resampled", read_normal_resampled_folder, [] {
                                       return Inputs{joined({"bed\nchair\n", "chair_0001\nbed_0002\n", "bed_0002\n",
                                                             "0,0,0,0,0,1\n", "0,0,0,0,0,1\n"})};
                                     }});

}  // namespace
}  // namespace geosft::fuzz
