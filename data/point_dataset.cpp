// SPDX-License-Identifier: Apache-2.0
#include "data/point_dataset.h"

#include "data/file_dataset.h"
#include "data/folder_tree.h"
#include "data/furniture.h"
#include "data/inner_path.h"
#include "data/modelnet_hdf5.h"
#include "data/normal_resampled.h"
#include "data/read_file.h"
#include "data/scan_object_nn.h"
#include "data/seeds.h"
#include "data/shape_file.h"

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
                 std::vector<std::string>* warnings, Mesh* mesh) {
  TORCH_CHECK(options.points_per_mesh >= 1, "points_per_mesh must be at least 1, got ", options.points_per_mesh);
  const FileShape content = parse_shape(read_file(file), file.string());
  const uint64_t seed = combine_seeds({options.seed, text_hash(file.filename().string())});
  Shape shape = to_cloud(content, options.points_per_mesh, seed, file.string());
  shape.name = file.string();
  if (mesh != nullptr && content.is_mesh()) *mesh = content.mesh;
  if (warnings != nullptr && content.is_mesh()) {
    warnings->push_back(shape.name + ": a mesh, of which " + std::to_string(shape.points.size(0)) +
                        " points are sampled");
  }
  return shape;
}

}  // namespace geosft
