// SPDX-License-Identifier: Apache-2.0
#include "data/points/part_dataset.h"

#include "data/dataset_formats.h"
#include "data/points/point_formats.h"
#include "data/safe_join.h"

namespace geosft {
namespace {

using PartReader = std::unique_ptr<PartDataset>(const std::filesystem::path&, PartSplit, const ShapeReadOptions&);

std::unique_ptr<PartDataset> read_hdf5(const std::filesystem::path& source, PartSplit split, const ShapeReadOptions&) {
  return open_part_hdf5(source, split);
}

const std::vector<DatasetFormat<PartReader>>& part_formats() {
  static const std::vector<DatasetFormat<PartReader>> formats = {
      {"HDF5", "ply_data_*.h5 with parts.txt or all_object_categories.txt", is_part_hdf5, read_hdf5},
      {"ShapeNetPart as text", "synsetoffset2category.txt with folders of text", is_shapenet_part_text,
       open_shapenet_part_text},
  };
  return formats;
}

}  // namespace

std::unique_ptr<PartDataset> open_part_dataset(const std::filesystem::path& source, PartSplit split,
                                               const ShapeReadOptions& options) {
  if (!std::filesystem::is_directory(source)) {
    throw DataError(source.string(), "a folder of shapes with parts",
                    std::filesystem::exists(source) ? "a file" : "nothing of this name");
  }
  check_links(source);
  const DatasetFormat<PartReader>* format = find_format(part_formats(), source);
  if (format == nullptr) {
    throw DataError(source.string(), "shapes with parts: " + formats_text(part_formats()), "none of these");
  }
  return format->read(source, split, options);
}

bool has_validation_split(const std::filesystem::path& source) {
  return is_part_hdf5(source) ? part_hdf5_has_validation(source) : is_shapenet_part_text(source);
}

}  // namespace geosft
