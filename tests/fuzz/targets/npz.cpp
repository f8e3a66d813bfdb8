// SPDX-License-Identifier: Apache-2.0
#include "data/formats/shape_file.h"
#include "tests/data/formats/npy_bytes.h"
#include "tests/data/zip_files.h"
#include "tests/fuzz/target.h"

namespace geosft::fuzz {
namespace {

Inputs npz_seeds() {
  const std::string points = test::npy_bytes("<f4", false, "(3, 3)", test::raw_all<float>({0, 0, 0, 1, 0, 0, 0, 1, 0}));
  const std::string faces = test::npy_bytes("<i8", false, "(1, 3)", test::raw_all<int64_t>({0, 1, 2}));
  const std::string labels = test::npy_bytes("|u1", false, "(3,)", test::raw_all<uint8_t>({0, 1, 255}));
  const auto archive = [](const std::vector<std::pair<std::string, std::string>>& members) {
    return bytes_of_file([&](const std::filesystem::path& file) { test::write_zip(file, members); });
  };
  return {archive({{"vertices.npy", points}, {"faces.npy", faces}}),
          archive({{"points.npy", points}, {"normals.npy", points}, {"label.npy", labels}}),
          archive({{"any.npy", points}})};
}

const Registration npz({"npz", [](const std::string& input) { to_cloud(read_npz(input, "input"), 8, 1, "input"); },
                        npz_seeds});

}  // namespace
}  // namespace geosft::fuzz
