// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include "data/formats/point_labels.h"
#include "data/points/point_formats.h"
#include "data/read_file.h"
#include "data/seeds.h"
#include "geometry/knn.h"

namespace geosft {
namespace {

namespace fs = std::filesystem;

// The ids of the parts of a class by their labels in its files; unlabelled_part for those of points without a label.
using IdsByLabel = std::map<int64_t, int64_t>;

// Reads a cloud, or samples a mesh with labelled vertices. The parts of the shape are the labels in the file.
Shape read_labelled_shape(const DatasetItem& item, const ShapeReadOptions& options) {
  const std::string file = item.file.string();
  FileShape content = parse_shape(read_file(item.file), file, options);
  at::Tensor labels = point_labels(content, file);
  Shape shape = to_cloud(content, PointDatasetOptions{}.points_per_mesh, text_hash(item.name), file);
  if (content.is_mesh()) {
    const at::Tensor& vertices = content.mesh.vertices;
    const at::Tensor near_origin = shape.offset.defined() ? vertices - shape.offset : vertices;
    labels = labels.index_select(0, std::get<0>(knn(near_origin, shape.points.to(at::kDouble), 1)).squeeze(1));
    content.warnings.push_back("a mesh, of which " + std::to_string(shape.points.size(0)) +
                               " points are sampled, each with the label of the nearest vertex");
  }
  if (std::string warning = label_choice_text(content.names); !warning.empty()) {
    content.warnings.push_back(std::move(warning));
  }
  shape.parts = labels;
  shape.label = item.label;
  shape.name = item.name;
  shape.warnings = std::move(content.warnings);
  return shape;
}

// What is kept of a file when the dataset is opened.
struct LabelledFile {
  std::map<int64_t, int64_t> points;  // of each label, and of unlabelled_part
  bool with_normals = false;
  std::vector<std::string> warnings;
};

LabelledFile describe(Shape shape) {
  LabelledFile file{{}, shape.normals.defined(), std::move(shape.warnings)};
  const auto [labels, rows, counts] =
      at::_unique2(shape.parts, /*sorted=*/true, /*return_inverse=*/false, /*return_counts=*/true);
  for (int64_t i = 0; i < labels.size(0); ++i) file.points[labels[i].item<int64_t>()] = counts[i].item<int64_t>();
  return file;
}

std::vector<LabelledFile> describe_files(const std::vector<DatasetItem>& items, const ShapeReadOptions& options) {
  std::vector<LabelledFile> files(items.size());
  for_each_file(static_cast<int64_t>(items.size()), [&](int64_t i) {
    const auto at = static_cast<size_t>(i);
    files[at] = describe(read_labelled_shape(items[at], options));
  });
  return files;
}

// Takes the labels in the files of a class as its parts, which are named by them.
LabelledParts parts_in_files(const std::vector<DatasetItem>& items, const std::vector<LabelledFile>& files,
                             const std::vector<std::string>& class_names, const fs::path& root) {
  std::vector<std::set<int64_t>> found(class_names.size());
  for (size_t i = 0; i < items.size(); ++i) {
    for (const auto& [label, points] : files[i].points) {
      if (label != unlabelled_part) found[static_cast<size_t>(items[i].label)].insert(label);
    }
  }
  LabelledParts list;
  for (size_t category = 0; category < class_names.size(); ++category) {
    if (found[category].empty()) {
      throw DataError(root.string(), "a labelled point in the files of " + class_names[category], "none");
    }
    for (const int64_t label : found[category]) {
      list.parts.push_back({std::to_string(label), static_cast<int64_t>(category), label});
    }
  }
  return list;
}

class LabelledTree final : public PartDataset {
 public:
  // `files` describe the items of the listing, in their order. Throws BrokenFiles for labels that are of no part.
  LabelledTree(DatasetListing listing, const std::vector<LabelledFile>& files, LabelledParts parts,
               ShapeReadOptions options);
  int64_t size() const override { return static_cast<int64_t>(listing_.items.size()); }
  Shape get(int64_t index) const override;
  int64_t label(int64_t index) const override { return item(index).label; }
  std::string name(int64_t index) const override { return item(index).name; }
  const std::vector<std::string>& class_names() const override { return listing_.class_names; }
  bool has_normals() const override { return file_without_normals_.empty(); }
  std::string file_without_normals() const override { return file_without_normals_; }
  std::vector<std::string> warnings() const override { return listing_.warnings; }
  const PartList& parts() const override { return parts_; }
  LabelCounts count_parts() const override { return counts_; }

 private:
  const DatasetItem& item(int64_t index) const {
    check_item(index, size());
    return listing_.items[static_cast<size_t>(index)];
  }
  int64_t id_of(int64_t label, const DatasetItem& item) const;

  DatasetListing listing_;
  PartList parts_;
  std::vector<IdsByLabel> ids_;  // of each class
  ShapeReadOptions options_;
  LabelCounts counts_;
  std::string file_without_normals_;
};

LabelledTree::LabelledTree(DatasetListing listing, const std::vector<LabelledFile>& files, LabelledParts parts,
                           ShapeReadOptions options)
    : listing_(std::move(listing)),
      parts_(std::move(parts.parts)),
      ids_(listing_.class_names.size()),
      options_(std::move(options)),
      counts_(static_cast<int64_t>(parts_.size())) {
  for (size_t id = 0; id < parts_.size(); ++id) {
    ids_[static_cast<size_t>(parts_[id].category)][parts_[id].label] = static_cast<int64_t>(id);
  }
  for (auto& ids : ids_) ids[unlabelled_part] = unlabelled_part;
  for (const auto& [category, label] : parts.unlabelled) ids_[static_cast<size_t>(category)][label] = unlabelled_part;
  std::vector<FileWarnings> warnings;
  std::vector<std::string> broken;
  auto* const points_of = counts_.parts.mutable_data_ptr<int64_t>();
  for (size_t i = 0; i < files.size(); ++i) {
    const DatasetItem& item = listing_.items[i];
    bool labelled = false;
    try {
      for (const auto& [label, points] : files[i].points) {
        const int64_t id = id_of(label, item);
        (id == unlabelled_part ? counts_.unlabelled : points_of[id]) += points;
        labelled = labelled || id != unlabelled_part;
      }
    } catch (const DataError& error) {
      broken.emplace_back(error.what());
    }
    ++counts_.clouds;
    if (!labelled) ++counts_.unlabelled_clouds;
    if (!files[i].with_normals && file_without_normals_.empty()) file_without_normals_ = item.file.string();
    warnings.push_back({item.file.string(), files[i].warnings});
  }
  if (!broken.empty()) throw BrokenFiles(broken);
  for (std::string& warning : first_of_each_kind(warnings)) listing_.warnings.push_back(std::move(warning));
}

int64_t LabelledTree::id_of(int64_t label, const DatasetItem& item) const {
  const IdsByLabel& ids = ids_[static_cast<size_t>(item.label)];
  if (const auto found = ids.find(label); found != ids.end()) return found->second;
  std::string known;
  for (const auto& [one, id] : ids) known += one == unlabelled_part ? "" : std::to_string(one) + ", ";
  const std::string &name = listing_.class_names[static_cast<size_t>(item.label)], number = std::to_string(label);
  throw DataError(item.file.string(), "labels of the parts of " + name + ", " + known + "or -1 without a label",
                  number + ": a line \"" + number + " " + name + " PART\" in " + part_list_name +
                      " names it, with unlabelled for PART if its points have no label");
}

Shape LabelledTree::get(int64_t index) const {
  const DatasetItem& one = item(index);
  Shape shape = read_labelled_shape(one, options_);
  auto [ids, rows, counts] = at::_unique2(shape.parts, /*sorted=*/true, /*return_inverse=*/true);
  auto* const id = ids.mutable_data_ptr<int64_t>();
  for (int64_t i = 0; i < ids.size(0); ++i) id[i] = id_of(id[i], one);
  shape.parts = ids.index_select(0, rows);
  return shape;
}

// Refuses names that a list of parts cannot hold, as those of a RUN, and, in the training split, classes without a
// file.
void check_classes(const DatasetListing& listing, Split split, const fs::path& root) {
  for (const std::string& name : listing.class_names) {
    if (name.find_first_of(" \t\v\f#") == std::string::npos) continue;
    throw DataError(root.string(), "folders of classes without blanks and # in their names", "\"" + name + "\"");
  }
  if (split == Split::test) return;
  std::vector<bool> present(listing.class_names.size(), false);
  for (const DatasetItem& item : listing.items) present[static_cast<size_t>(item.label)] = true;
  const auto absent = std::find(present.begin(), present.end(), false);
  if (absent == present.end()) return;
  const std::string& name = listing.class_names[static_cast<size_t>(absent - present.begin())];
  throw DataError(root.string(), "files of " + name + " to train with", "files to test with alone");
}

}  // namespace

bool is_labelled_tree(const fs::path& root) {
  try {
    return fs::is_directory(root) &&
           (labelled_tree_has_split(root, Split::train) || labelled_tree_has_split(root, Split::test));
  } catch (const DataError&) {
    return true;
  }
}

bool labelled_tree_has_labels(const fs::path& root, const ShapeReadOptions& options) {
  try {
    const Split split = labelled_tree_has_split(root, Split::train) ? Split::train : Split::test;
    const fs::path file = list_labelled_tree(root, split).items.at(0).file;
    const at::Tensor labels = parse_shape(read_file(file), file.string(), options).labels;
    return labels.defined() && labels.any().item<bool>();
  } catch (const DataError&) {
    return false;
  }
}

ReadOptionUse labelled_tree_option_use(const fs::path& root) {
  ReadOptionUse use{false, true};
  try {
    for (const Split split : {Split::train, Split::test}) {
      if (!labelled_tree_has_split(root, split)) continue;
      for (const DatasetItem& item : list_labelled_tree(root, split).items) {
        use.columns = use.columns || has_columns(item.file);
      }
    }
  } catch (const DataError&) {  // opening the dataset says what is wrong
    return {};
  }
  return use;
}

std::unique_ptr<PartDataset> open_labelled_tree(const fs::path& root, PartSplit split,
                                                const ShapeReadOptions& options) {
  if (split == PartSplit::validation) {
    throw DataError(root.string(), "a published validation split",
                    "files to train and to test with: --validation-fraction holds out some");
  }
  const Split own = split == PartSplit::test ? Split::test : Split::train;
  const Split other = own == Split::test ? Split::train : Split::test;
  DatasetListing listing = list_labelled_tree(root, own);
  check_classes(listing, own, root);
  const size_t count = listing.items.size();
  const bool named = fs::exists(root / part_list_name);
  std::vector<DatasetItem> items = listing.items;
  if (!named && labelled_tree_has_split(root, other)) {
    const std::vector<DatasetItem> more = list_labelled_tree(root, other).items;
    items.insert(items.end(), more.begin(), more.end());
  }
  LabelledParts parts;
  if (named) parts = read_labelled_parts(root / part_list_name, listing.class_names);
  std::vector<LabelledFile> files = describe_files(items, options);
  if (!named) parts = parts_in_files(items, files, listing.class_names, root);
  files.resize(count);
  return std::make_unique<LabelledTree>(std::move(listing), files, std::move(parts), options);
}

}  // namespace geosft
