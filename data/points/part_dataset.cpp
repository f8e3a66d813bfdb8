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
      {"labelled clouds", "a folder for each class with files *.ply, *.pcd, *.txt, … that have a label for each point",
       is_labelled_tree, open_labelled_tree},
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
    throw DataError(source.string(), "shapes with parts: " + formats_text(part_formats()),
                    not_labelled_tree_text(source));
  }
  return format->read(source, split, options);
}

std::vector<std::string> empty_parts_warnings(const PartDataset& shapes, const std::optional<LabelCounts>& counts,
                                              const std::string& source) {
  const std::vector<std::string>& classes = shapes.class_names();
  std::vector<bool> present(classes.size(), false);
  for (int64_t i = 0; i < shapes.size(); ++i) present.at(static_cast<size_t>(shapes.label(i))) = true;
  std::vector<std::string> warnings, empty;
  for (size_t label = 0; label < classes.size(); ++label) {
    if (!present[label]) empty.push_back(classes[label]);
  }
  if (!empty.empty()) warnings.push_back(source + ": " + empty_classes_text(empty, classes.size(), "no shape"));
  if (!counts || counts->labelled() == 0) return warnings;
  empty.clear();
  for (size_t id = 0; id < shapes.parts().size(); ++id) {
    const ShapePart& part = shapes.parts()[id];
    const auto category = static_cast<size_t>(part.category);
    if (present[category] && counts->parts[static_cast<int64_t>(id)].item<int64_t>() == 0) {
      empty.push_back(classes[category] + " " + part.name);
    }
  }
  if (!empty.empty()) {
    const char* const what = counts->unlabelled > 0 ? "no labelled point" : "no point";
    warnings.push_back(source + ": " + empty_classes_text(empty, shapes.parts().size(), what, "parts"));
  }
  return warnings;
}

void LabelCounts::add(const at::Tensor& labels) {
  const at::Tensor found = at::bincount(labels.flatten() - unlabelled_part, {}, parts.size(0) + 1);
  unlabelled += found[0].item<int64_t>();
  parts += found.slice(0, 1);
  clouds += labels.size(0);
  unlabelled_clouds += (labels == unlabelled_part).all(1).sum().item<int64_t>();
}

std::string unlabelled_warning(const LabelCounts& counts, const std::string& source) {
  if (counts.unlabelled == 0) return {};
  const int64_t labelled = counts.labelled();
  if (labelled == 0) {
    return source + ": none of its " + std::to_string(counts.unlabelled) + " points has a label: the parts can only " +
           "be predicted";
  }
  std::string text = source + ": " + std::to_string(counts.unlabelled) + " of " +
                     std::to_string(counts.unlabelled + labelled) +
                     (counts.unlabelled == 1 ? " points has" : " points have") + " no label";
  if (counts.unlabelled_clouds > 0) {
    text += ", and " + std::to_string(counts.unlabelled_clouds) + " of " + std::to_string(counts.clouds) +
            (counts.unlabelled_clouds == 1 ? " clouds has" : " clouds have") + " no labelled point";
  }
  return text + ": losses and metrics leave them out";
}

LabelCounts count_required_parts(const PartDataset& shapes, const std::string& source, const std::string& advice) {
  LabelCounts counts = shapes.count_parts();
  if (counts.labelled() > 0) return counts;
  throw DataError(source, "a point with a label",
                  "none among " + std::to_string(counts.unlabelled) + (advice.empty() ? "" : ": " + advice));
}

void require_labelled_cloud(const PointDataset& clouds, const std::string& source, const std::string& subset,
                            const std::string& advice) {
  for (int64_t row = 0; row < clouds.size(); ++row) {
    if ((clouds.get(row).parts != unlabelled_part).any().item<bool>()) return;
  }
  throw DataError(source, "a labelled point in the " + subset, "none: " + advice);
}

bool is_part_dataset(const std::filesystem::path& source) {
  return std::filesystem::is_directory(source) && find_format(part_formats(), source) != nullptr;
}

ReadOptionUse part_read_option_use(const std::filesystem::path& source) {
  if (!is_part_dataset(source)) return {};
  if (is_part_hdf5(source)) return {false, false};
  if (is_shapenet_part_text(source)) return {is_older_shapenet_part_text(source), true};
  return labelled_tree_option_use(source);
}

bool has_split(const std::filesystem::path& source, PartSplit split) {
  if (is_part_hdf5(source)) return part_hdf5_has_split(source, split);
  if (is_shapenet_part_text(source)) return true;
  if (split == PartSplit::validation || !is_labelled_tree(source)) return false;
  return labelled_tree_has_split(source, split == PartSplit::test ? Split::test : Split::train);
}

bool has_part_labels(const std::filesystem::path& source, const ShapeReadOptions& options) {
  if (!is_part_dataset(source)) return false;
  return is_part_hdf5(source) || is_shapenet_part_text(source) || labelled_tree_has_labels(source, options);
}

}  // namespace geosft
