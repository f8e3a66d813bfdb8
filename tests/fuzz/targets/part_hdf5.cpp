// SPDX-License-Identifier: Apache-2.0
#include "data/formats/hdf5_file.h"
#include "data/points/point_formats.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

void read_part_hdf5(const std::string& input) {
  static const InputFolder folder({});
  test::write_text(folder / "shape_names.txt", "lamp\nmug\n");
  test::write_text(folder / "parts.txt", "0 lamp top\n1 lamp pole\n2 lamp foot\n3 mug cup\n4 mug base\n");
  test::write_text(folder / "ply_data_train0.h5", input);
  open_part_hdf5(folder.fill(""), PartSplit::train)->get(0);
}

Inputs part_seeds() {
  const at::Tensor points = at::arange(30, at::kFloat).view({2, 5, 3}), labels = at::tensor({1, 0}, at::kByte);
  const at::Tensor parts = at::tensor({3, 4, 3, 4, 3, 0, 1, 2, 1, 0}, at::kByte).view({2, 5});
  return {bytes_of_file([&](const auto& file) {
    geosft::write_hdf5(file, {{"data", points}, {"label", labels}, {"pid", parts}});
  })};
}

const Registration part_hdf5({"part_hdf5", read_part_hdf5, part_seeds});

}  // namespace
}  // namespace geosft::fuzz
