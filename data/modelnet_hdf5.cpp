// SPDX-License-Identifier: Apache-2.0
#include "data/modelnet_hdf5.h"

#include <algorithm>

#include "data/array_dataset.h"
#include "data/hdf5_file.h"
#include "data/read_file.h"

namespace geosft {
namespace {

namespace fs = std::filesystem;

std::string split_name(Split split) {
  return split == Split::train ? "train" : "test";
}

std::vector<fs::path> unlisted_files(const fs::path& folder, Split split) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("ply_data_" + split_name(split)) && entry.path().extension() == ".h5") files.push_back(entry);
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<fs::path> split_files(const fs::path& folder, Split split) {
  const fs::path list = folder / (split_name(split) + "_files.txt");
  std::vector<fs::path> files;
  if (fs::exists(list)) {
    // Only the last part of a name counts, so a list cannot lead out of the folder.
    for (const std::string& line : read_lines(list)) files.push_back(folder / fs::path(line).filename());
  } else {
    files = unlisted_files(folder, split);
  }
  if (files.empty()) {
    throw DataError(folder.string(), list.filename().string() + " or ply_data_" + split_name(split) + "*.h5",
                    "neither");
  }
  return files;
}

CloudArrays read_arrays(const fs::path& path) {
  const Hdf5File file(path);
  CloudArrays arrays;
  arrays.points = file.read_float("data");
  arrays.labels = file.read_int("label");
  if (file.has("normal")) arrays.normals = file.read_float("normal");
  if (arrays.points.dim() != 3) throw DataError(path.string() + ":data", "shape [N, P, 3]", shape_text(arrays.points));
  if (arrays.labels.numel() != arrays.points.size(0)) {
    throw DataError(path.string() + ":label", std::to_string(arrays.points.size(0)) + " labels, one a cloud",
                    shape_text(arrays.labels));
  }
  arrays.labels = arrays.labels.flatten();
  for (int64_t i = 0; i < arrays.points.size(0); ++i) {
    arrays.names.push_back(path.stem().string() + ":" + std::to_string(i));
  }
  return arrays;
}

CloudArrays join(const std::vector<CloudArrays>& parts, const std::vector<fs::path>& files) {
  std::vector<at::Tensor> points, normals, labels;
  CloudArrays all;
  for (size_t i = 0; i < parts.size(); ++i) {
    const bool same = parts[i].points.sizes().slice(1) == parts[0].points.sizes().slice(1) &&
                      parts[i].normals.defined() == parts[0].normals.defined();
    if (!same) {
      throw DataError(files[i].string(),
                      "clouds as in " + files[0].filename().string() + ": " + shape_text(parts[0].points) +
                          (parts[0].normals.defined() ? " with normals" : " without normals"),
                      shape_text(parts[i].points) + (parts[i].normals.defined() ? " with" : " without") + " normals");
    }
    points.push_back(parts[i].points);
    labels.push_back(parts[i].labels);
    if (parts[i].normals.defined()) normals.push_back(parts[i].normals);
    all.names.insert(all.names.end(), parts[i].names.begin(), parts[i].names.end());
  }
  all.points = at::cat(points);
  all.labels = at::cat(labels);
  if (!normals.empty()) all.normals = at::cat(normals);
  return all;
}

}  // namespace

bool is_modelnet_hdf5(const fs::path& folder) {
  return fs::exists(folder / "train_files.txt") || fs::exists(folder / "test_files.txt") ||
         !unlisted_files(folder, Split::train).empty() || !unlisted_files(folder, Split::test).empty();
}

std::unique_ptr<PointDataset> open_modelnet_hdf5(const fs::path& folder, Split split) {
  const std::vector<std::string> classes = read_lines(folder / "shape_names.txt");
  const std::vector<fs::path> files = split_files(folder, split);
  std::vector<CloudArrays> parts;
  parts.reserve(files.size());
  for (const fs::path& file : files) parts.push_back(read_arrays(file));
  return std::make_unique<ArrayDataset>(join(parts, files), classes, folder.string());
}

}  // namespace geosft
