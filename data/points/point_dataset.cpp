// SPDX-License-Identifier: Apache-2.0
#include "data/points/point_dataset.h"

#include "data/formats/shape_file.h"
#include "data/folds.h"
#include "data/points/file_dataset.h"
#include "data/points/folder_tree.h"
#include "data/points/furniture.h"
#include "data/points/modelnet_hdf5.h"
#include "data/points/normal_resampled.h"
#include "data/points/scan_object_nn.h"
#include "data/read_file.h"
#include "data/safe_join.h"
#include "data/seeds.h"

namespace geosft {
namespace {

bool is_furniture(const std::filesystem::path& source) {
  return source.empty() || source == "furniture";
}

DatasetListing list_files(const std::filesystem::path& source, Split split, const PointDatasetOptions& options) {
  if (is_normal_resampled(source)) return list_normal_resampled(source, split, options.allow_missing);
  if (!std::filesystem::is_directory(source)) {
    throw DataError(source.string(), "a folder of shapes, or a file that names a variant of a set", "another file");
  }
  return list_folder_tree(source, split, options.test_every);
}

}  // namespace

std::filesystem::path absolute_source(const std::filesystem::path& source) {
  return is_furniture(source) ? source : std::filesystem::absolute(source).lexically_normal();
}

std::unique_ptr<PointDataset> open_point_dataset(const std::filesystem::path& source, Split split,
                                                 const PointDatasetOptions& options) {
  if (is_furniture(source)) return std::make_unique<FileDataset>(list_furniture(split), options);
  if (!std::filesystem::exists(source)) throw DataError(source.string(), "a folder of shapes", "nothing of this name");
  if (std::filesystem::is_directory(source)) check_links(source);
  if (is_scan_object_nn(source)) return open_scan_object_nn(source, split, options.drop_background);
  if (std::filesystem::is_directory(source) && is_modelnet_hdf5(source)) return open_modelnet_hdf5(source, split);
  return std::make_unique<FileDataset>(list_files(source, split, options), options);
}

Shape read_shape(const std::filesystem::path& file, const PointDatasetOptions& options,
                 std::vector<std::string>* remarks, Mesh* mesh) {
  TORCH_CHECK(options.points_per_mesh >= 1, "points_per_mesh must be at least 1, got ", options.points_per_mesh);
  const FileShape content = parse_shape(read_file(file), file.string());
  const uint64_t seed = combine_seeds({options.seed, text_hash(file.filename().string())});
  Shape shape = to_cloud(content, options.points_per_mesh, seed, file.string());
  shape.name = file.string();
  if (mesh != nullptr && content.is_mesh()) *mesh = content.mesh;
  if (remarks != nullptr && content.is_mesh()) {
    remarks->push_back(shape.name + ": a mesh, of which " + std::to_string(shape.points.size(0)) +
                       " points are sampled");
  }
  return shape;
}

PointSubset::PointSubset(const PointDataset& whole, std::vector<int64_t> rows) : whole_(whole), rows_(std::move(rows)) {
  for (const int64_t row : rows_) {
    if (row < 0 || row >= whole.size()) {
      throw std::out_of_range("row " + std::to_string(row) + " of a dataset of " + std::to_string(whole.size()));
    }
  }
}

std::pair<std::vector<int64_t>, std::vector<int64_t>> stratified_split(const PointDataset& dataset, double second_share,
                                                                       uint64_t seed) {
  std::vector<int64_t> labels;
  labels.reserve(static_cast<size_t>(dataset.size()));
  for (int64_t row = 0; row < dataset.size(); ++row) labels.push_back(dataset.label(row));
  return stratified_split(labels, second_share, seed);
}

}  // namespace geosft
