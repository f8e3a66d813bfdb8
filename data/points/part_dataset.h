// SPDX-License-Identifier: Apache-2.0
// Opens datasets of point clouds that have a part label for each point.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "data/points/part_list.h"
#include "data/points/point_dataset.h"

namespace geosft {

// Where a set has no published validation split, `validation` is an error and `train_and_validation` the training
// split.
enum class PartSplit { train, validation, train_and_validation, test };

// A dataset whose shapes have `parts`, ids of a part of the shape's class, in the order of the points of the file.
class PartDataset : public PointDataset {
 public:
  virtual const PartList& parts() const = 0;
};

// Opens a set by what lies in the folder. Throws DataError when nothing fits, saying what was looked for, and when
// anything is broken.
//   HDF5 (held in memory): ply_data_{train,val,test}*.h5, or those that {train,val,test}_hdf5_file_list.txt or
//     {train,val,test}_files.txt names, with `data`, `label`, `pid` and, in all or none, `normal`. Either parts.txt
//     (id, class, part) and shape_names.txt say what there is, or the set is ShapeNetPart with
//     all_object_categories.txt.
//   ShapeNetPart as text (read when asked for): synsetoffset2category.txt, train_test_split/shuffled_*_file_list.json
//     and SYNSET/ID.txt with normals, or, older, SYNSET/points/ID.pts and SYNSET/points_label/ID.seg, whose parts are
//     counted from 1 in each class.
std::unique_ptr<PartDataset> open_part_dataset(const std::filesystem::path& source, PartSplit split);

// Whether the set has a published validation split.
bool has_validation_split(const std::filesystem::path& source);

}  // namespace geosft
