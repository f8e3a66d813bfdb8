// SPDX-License-Identifier: Apache-2.0
// Opens datasets of point clouds that have a part label for each point.
#pragma once

#include <ATen/ATen.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/formats/shape_file.h"
#include "data/points/part_list.h"
#include "data/points/point_dataset.h"

namespace geosft {

// If a dataset has no published validation split, `validation` is an error and `train_and_validation` is the training
// split.
enum class PartSplit { train, validation, train_and_validation, test };

// Numbers of points by their label.
struct LabelCounts {
  explicit LabelCounts(int64_t count = 0) : parts(at::zeros({count}, at::kLong)) {}
  // Adds clouds: labels int64 [clouds, points] in [0, count), or unlabelled_part.
  void add(const at::Tensor& labels);

  int64_t labelled() const { return parts.sum().item<int64_t>(); }  // points with a label

  at::Tensor parts;               // int64 [count]: points of each part
  int64_t unlabelled = 0;         // points without a label
  int64_t clouds = 0;             // all of them
  int64_t unlabelled_clouds = 0;  // clouds without a labelled point
};

// A dataset whose shapes have `parts`: part ids of the shape's class, or unlabelled_part, in the order of the points in
// the file. Those of HDF5 files without `pid` have none, and can only be predicted.
class PartDataset : public PointDataset {
 public:
  virtual const PartList& parts() const = 0;
  // Returns whether the shapes have parts.
  virtual bool has_parts() const { return true; }
  // Counts the labels of all points, for which it reads the shapes that are otherwise read on demand. Throws
  // BrokenFiles with all broken ones, and DataError if the shapes have no parts.
  virtual LabelCounts count_parts() const = 0;
};

// Returns a warning if some classes have no shape, and one if parts of the other classes have no labelled point, unless
// no point has a label. `counts` are those of count_parts, absent if they are not known; `source` names the split.
std::vector<std::string> empty_parts_warnings(const PartDataset& shapes, const std::optional<LabelCounts>& counts,
                                              const std::string& source);

// Returns a warning of points without a label, with their number, or that no point has one; empty if all have one.
std::string unlabelled_warning(const LabelCounts& counts, const std::string& source);

// Returns count_parts() of a split that is to be learned or evaluated. Throws as it does, and DataError naming `source`
// if no point is labelled; `advice` says why that is needed and what to do.
LabelCounts count_required_parts(const PartDataset& shapes, const std::string& source, const std::string& advice = {});

// Throws DataError, with `advice` on what to do, if none of the clouds of a subset has a labelled point. `source` names
// the data, `subset` the clouds, as in "8 clouds to train with". Reads clouds until one has such a point.
void require_labelled_cloud(const PointDataset& clouds, const std::string& source, const std::string& subset,
                            const std::string& advice);

// Detects the format of the folder. Throws DataError for an unknown format, listing the known ones, and for broken
// data.
//   HDF5 (held in memory): ply_data_{train,val,test}*.h5, or the files listed in {train,val,test}_hdf5_file_list.txt or
//     {train,val,test}_files.txt, with `data`, `label` and, in all or none, `pid` and `normal`. Either parts.txt
//     (id, class, part) and shape_names.txt define the parts, or the dataset is ShapeNetPart with
//     all_object_categories.txt. A `pid` of -1 is unlabelled_part.
//   ShapeNetPart as text (read on demand): synsetoffset2category.txt, train_test_split/shuffled_*_file_list.json
//     and SYNSET/ID.txt with normals, or, older, SYNSET/points/ID.pts and SYNSET/points_label/ID.seg, with parts
//     counted from 1 in each class. A part of -1 is unlabelled_part.
//   Labelled clouds (read on demand, but for the numbers of parts): CLASS/FILE with train and test folders above or
//     below the class, or each fourth file of a class for testing, in formats of can_hold_labels. A label
//     (label_column) is the number of a part in its class: parts.txt names them, or they are named by their numbers.
//     -1 is unlabelled_part. Of a mesh with labelled vertices 4,096 points are sampled.
// `options` are for the texts and the labelled clouds; their columns for the older texts and for tables.
std::unique_ptr<PartDataset> open_part_dataset(const std::filesystem::path& source, PartSplit split,
                                               const ShapeReadOptions& options = {});

// Returns whether the folder is one of these formats.
bool is_part_dataset(const std::filesystem::path& source);

// Returns whether the points of the folder have labels of parts, of a folder of files by the first one. Otherwise
// labelled clouds are recognised by the names of files alone, which are those of classes of shapes as well.
bool has_part_labels(const std::filesystem::path& source, const ShapeReadOptions& options = {});

// Returns which options of reading have an effect on such a dataset, as read_option_use does. Can throw DataError.
ReadOptionUse part_read_option_use(const std::filesystem::path& source);

// Returns whether the dataset has this split; `validation` is a published one.
bool has_split(const std::filesystem::path& source, PartSplit split);

}  // namespace geosft
