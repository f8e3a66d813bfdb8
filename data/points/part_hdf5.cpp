// SPDX-License-Identifier: Apache-2.0
#include "data/points/point_formats.h"

#include <c10/util/StringUtil.h>

#include "data/points/array_dataset.h"
#include "data/read_file.h"

namespace geosft {
namespace {

namespace fs = std::filesystem;

constexpr const char* shapenet_names = "all_object_categories.txt";

class ArrayPartDataset final : public PartDataset {
 public:
  ArrayPartDataset(const CloudArrays& arrays, std::vector<std::string> class_names, PartList parts,
                   const std::string& file)
      : parts_(std::move(parts)), clouds_(arrays, std::move(class_names), file), file_(file) {
    if (!arrays.parts.defined()) return;
    check_parts(arrays, file);
    counts_.emplace(static_cast<int64_t>(parts_.size())).add(arrays.parts);
  }
  int64_t size() const override { return clouds_.size(); }
  Shape get(int64_t index) const override { return clouds_.get(index); }
  int64_t label(int64_t index) const override { return clouds_.label(index); }
  std::string name(int64_t index) const override { return clouds_.name(index); }
  const std::vector<std::string>& class_names() const override { return clouds_.class_names(); }
  bool has_normals() const override { return clouds_.has_normals(); }
  bool in_memory() const override { return true; }
  std::vector<std::string> warnings() const override { return clouds_.warnings(); }
  const PartList& parts() const override { return parts_; }
  bool has_parts() const override { return counts_.has_value(); }
  LabelCounts count_parts() const override {
    if (counts_) return *counts_;
    throw DataError(file_, "an array pid, the parts of the points, in each HDF5 file", "none");
  }

 private:
  // Returns the cloud and the point of the first true entry of a mask [clouds, points], which has one.
  static std::pair<int64_t, int64_t> first_of(const at::Tensor& mask) {
    const auto cloud = mask.any(1).to(at::kByte).argmax().item<int64_t>();
    return {cloud, mask[cloud].to(at::kByte).argmax().item<int64_t>()};
  }

  void check_parts(const CloudArrays& arrays, const std::string& file) const {
    const auto count = static_cast<int64_t>(parts_.size());
    const at::Tensor unknown = (arrays.parts < unlabelled_part).logical_or(arrays.parts >= count);
    if (unknown.any().item<bool>()) {
      const auto [cloud, point] = first_of(unknown);
      throw DataError(file,
                      "parts from 0 to " + std::to_string(count - 1) + " in " +
                          arrays.names[static_cast<size_t>(cloud)] + ", or -1 without a label",
                      "part " + std::to_string(arrays.parts[cloud][point].item<int64_t>()));
    }
    std::vector<int64_t> owners;
    owners.reserve(parts_.size());
    for (const ShapePart& part : parts_) owners.push_back(part.category);
    const at::Tensor owner = at::tensor(owners, at::kLong).index_select(0, arrays.parts.flatten().clamp_min(0));
    const at::Tensor wrong =
        (owner.view_as(arrays.parts) != arrays.labels.unsqueeze(1)).logical_and(arrays.parts != unlabelled_part);
    if (!wrong.any().item<bool>()) return;
    const auto [cloud, point] = first_of(wrong);
    const std::string& name = class_names()[static_cast<size_t>(label(cloud))];
    throw DataError(file, "parts of " + name + " in " + arrays.names[static_cast<size_t>(cloud)],
                    "part " + std::to_string(arrays.parts[cloud][point].item<int64_t>()));
  }

  PartList parts_;
  ArrayDataset clouds_;
  std::string file_;
  std::optional<LabelCounts> counts_;  // absent without parts
};

// Returns the files of one split; empty if the dataset does not have it.
std::vector<fs::path> part_files_of(const fs::path& folder, const std::string& split) {
  for (const char* ending : {"_hdf5_file_list.txt", "_files.txt"}) {
    const fs::path list = folder / (split + ending);
    if (fs::exists(list)) return listed_clouds(list);
  }
  return unlisted_clouds(folder, split);
}

std::vector<std::string> hdf5_splits_of(const fs::path& folder, PartSplit split) {
  if (split == PartSplit::test) return {"test"};
  if (split == PartSplit::validation) return {"val"};
  if (split == PartSplit::train || part_files_of(folder, "val").empty()) return {"train"};
  return {"train", "val"};
}

}  // namespace

bool is_part_hdf5(const fs::path& folder) {
  return fs::is_directory(folder) && (fs::exists(folder / part_list_name) || fs::exists(folder / shapenet_names)) &&
         !(part_files_of(folder, "train").empty() && part_files_of(folder, "test").empty());
}

bool part_hdf5_has_split(const fs::path& folder, PartSplit split) {
  return !part_files_of(folder, hdf5_splits_of(folder, split).front()).empty();
}

std::unique_ptr<PartDataset> open_part_hdf5(const fs::path& folder, PartSplit split) {
  std::vector<fs::path> files;
  for (const std::string& name : hdf5_splits_of(folder, split)) {
    const std::vector<fs::path> found = part_files_of(folder, name);
    if (found.empty()) {
      const std::string expected =
          c10::str(name, "_hdf5_file_list.txt, ", name, "_files.txt or ply_data_", name, "*.h5");
      throw DataError(folder.string(), expected, "none of these");
    }
    files.insert(files.end(), found.begin(), found.end());
  }
  std::vector<std::string> class_names;
  PartList parts;
  if (fs::exists(folder / part_list_name)) {
    class_names = read_lines(folder / "shape_names.txt");
    parts = read_part_list(folder / part_list_name, class_names);
  } else {
    check_shapenet_classes(folder / shapenet_names, /*all=*/true);
    class_names = shapenet_class_names();
    parts = shapenet_part_list();
  }
  const CloudArrays arrays = read_clouds(files, class_names.size(), parts.size());
  return std::make_unique<ArrayPartDataset>(arrays, class_names, parts, folder.string());
}

}  // namespace geosft
