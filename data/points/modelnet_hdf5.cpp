// SPDX-License-Identifier: Apache-2.0
#include "data/points/point_formats.h"

#include "data/points/array_dataset.h"
#include "data/read_file.h"

namespace geosft {
namespace {

namespace fs = std::filesystem;

std::string split_name(Split split) {
  return split == Split::train ? "train" : "test";
}

std::vector<fs::path> split_files(const fs::path& folder, Split split) {
  const fs::path list = folder / (split_name(split) + "_files.txt");
  std::vector<fs::path> files;
  if (fs::exists(list)) {
    files = listed_clouds(list);
  } else {
    files = unlisted_clouds(folder, split_name(split));
  }
  if (files.empty()) {
    throw DataError(folder.string(), list.filename().string() + " or ply_data_" + split_name(split) + "*.h5",
                    "neither");
  }
  return files;
}

}  // namespace

bool is_modelnet_hdf5(const fs::path& folder) {
  return fs::exists(folder / "train_files.txt") || fs::exists(folder / "test_files.txt") ||
         !unlisted_clouds(folder, "train").empty() || !unlisted_clouds(folder, "test").empty();
}

std::unique_ptr<PointDataset> open_modelnet_hdf5(const fs::path& folder, Split split) {
  const std::vector<std::string> classes = read_lines(folder / "shape_names.txt");
  CloudArrays arrays = read_clouds(split_files(folder, split), classes.size());
  warn_of_empty_classes(arrays, classes, folder.string() + " (" + split_name(split) + ")");
  return std::make_unique<ArrayDataset>(std::move(arrays), classes, folder.string());
}

}  // namespace geosft
