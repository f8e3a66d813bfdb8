// SPDX-License-Identifier: Apache-2.0
#include "data/formats/hdf5_file.h"
#include "data/points/point_formats.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

void read_cloud_hdf5(const std::string& input) {
  static const InputFolder folder({});
  test::write_text(folder / "shape_names.txt", "lamp\nmug\n");
  test::write_text(folder / "ply_data_train0.h5", input);
  open_modelnet_hdf5(folder.fill(""), Split::train)->get(0);
}

Inputs cloud_seeds() {
  const at::Tensor points = at::arange(30, at::kFloat).view({2, 5, 3}), labels = at::tensor({1, 0}, at::kByte);
  return {bytes_of_file([&](const auto& file) {
            geosft::write_hdf5(file, {{"data", points}, {"normal", points}, {"label", labels.unsqueeze(1)}});
          }),
          bytes_of_file([&](const auto& file) {
            geosft::write_hdf5(file, {{"data", points.to(at::kDouble)}, {"label", labels.to(at::kLong)}});
          }),
          bytes_of_file([&](const auto& file) {
            const at::Tensor far = points.to(at::kDouble) / 64 + 694386.1;
            geosft::write_hdf5(file, {{"data", far}, {"label", labels.to(at::kLong)}});
          })};
}

const Registration cloud_hdf5({"cloud_hdf5", read_cloud_hdf5, cloud_seeds});

}  // namespace
}  // namespace geosft::fuzz
