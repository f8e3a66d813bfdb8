// SPDX-License-Identifier: Apache-2.0
#include "data/points/part_dataset.h"

#include "data/points/part_hdf5.h"
#include "data/points/shapenet_part_text.h"
#include "data/safe_join.h"

namespace geosft {

std::unique_ptr<PartDataset> open_part_dataset(const std::filesystem::path& source, PartSplit split) {
  if (!std::filesystem::is_directory(source)) {
    throw DataError(source.string(), "a folder of shapes with parts",
                    std::filesystem::exists(source) ? "a file" : "nothing of this name");
  }
  check_links(source);
  if (is_part_hdf5(source)) return open_part_hdf5(source, split);
  if (is_shapenet_part_text(source)) return open_shapenet_part_text(source, split);
  throw DataError(source.string(),
                  "shapes with parts: ply_data_*.h5 with parts.txt or all_object_categories.txt, or "
                  "synsetoffset2category.txt with folders of text",
                  "none of these");
}

bool has_validation_split(const std::filesystem::path& source) {
  return is_part_hdf5(source) ? part_hdf5_has_validation(source) : is_shapenet_part_text(source);
}

}  // namespace geosft
