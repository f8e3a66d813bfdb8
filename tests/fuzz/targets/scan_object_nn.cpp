// SPDX-License-Identifier: Apache-2.0
#include "data/formats/hdf5_file.h"
#include "data/points/point_formats.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

void read_scan_object_nn(const std::string& input) {
  static const InputFolder folder({});
  test::write_text(folder / "training_objectdataset.h5", input);
  open_scan_object_nn(folder.fill(""), Split::train, true)->get(0);
}

Inputs scan_seeds() {
  return {bytes_of_file([](const auto& file) {
    geosft::write_hdf5(file, {{"data", at::ones({2, 4, 3})},
                              {"label", at::tensor({14, 0}, at::kByte)},
                              {"mask", at::tensor({-1, 3, 3, -1, 0, 0, 0, 0}, at::kLong).view({2, 4})}});
  })};
}

const Registration scan_object_nn({"scan_object_nn", read_scan_object_nn, scan_seeds});

}  // namespace
}  // namespace geosft::fuzz
