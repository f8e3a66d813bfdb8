// SPDX-License-Identifier: Apache-2.0
#include "data/points/point_formats.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <nlohmann/json.hpp>

#include "data/data_error.h"
#include "data/formats/part_text.h"
#include "data/formats/shape_file.h"
#include "data/points/array_dataset.h"
#include "data/read_file.h"
#include "data/safe_join.h"

namespace geosft {
namespace {

namespace fs = std::filesystem;

constexpr const char* category_list = "synsetoffset2category.txt";

struct TextItem {
  std::string name;  // "Airplane/1a04e3eab45ca15dd86060f189eb133"
  int64_t label;
  fs::path points, labels;  // labels empty: they are in the points file
};

class TextPartDataset final : public PartDataset {
 public:
  TextPartDataset(std::vector<TextItem> items, bool with_normals, ShapeReadOptions options)
      : items_(std::move(items)), with_normals_(with_normals), options_(std::move(options)) {}
  int64_t size() const override { return static_cast<int64_t>(items_.size()); }
  Shape get(int64_t index) const override;
  int64_t label(int64_t index) const override {
    check_item(index, size());
    return items_[static_cast<size_t>(index)].label;
  }
  std::string name(int64_t index) const override {
    check_item(index, size());
    return items_[static_cast<size_t>(index)].name;
  }
  const std::vector<std::string>& class_names() const override { return class_names_; }
  // Files are read on demand: that one has no normals is known once it has been read.
  bool has_normals() const override { return with_normals_ && !found_bare_; }
  const PartList& parts() const override { return parts_; }
  LabelCounts count_parts() const override;

 private:
  std::vector<TextItem> items_;
  bool with_normals_;
  mutable std::atomic<bool> found_bare_ = false;  // a file without normals
  ShapeReadOptions options_;
  std::vector<std::string> class_names_ = shapenet_class_names();
  PartList parts_ = shapenet_part_list();
};

// Checks the part numbers of a class, which start at `first` in the file, and converts them to part ids of the dataset.
// Points without a label keep unlabelled_part.
void check_and_number_parts(Shape& shape, const ShapeNetPartClass& known, int64_t first, const fs::path& file) {
  const at::Tensor labelled = shape.parts != unlabelled_part, numbers = shape.parts.masked_select(labelled);
  if (numbers.numel() == 0) return;
  const int64_t low = numbers.min().item<int64_t>(), high = numbers.max().item<int64_t>();
  if (low < first || high >= first + known.parts) {
    throw DataError(file.string(),
                    "parts from " + std::to_string(first) + " to " + std::to_string(first + known.parts - 1) + " of " +
                        known.name + ", or -1 without a label",
                    "parts from " + std::to_string(low) + " to " + std::to_string(high));
  }
  shape.parts = at::where(labelled, shape.parts + (known.first_part - first), shape.parts);
}

Shape TextPartDataset::get(int64_t index) const {
  check_item(index, size());
  const TextItem& item = items_[static_cast<size_t>(index)];
  const ShapeNetPartClass& known = shapenet_part_classes()[static_cast<size_t>(item.label)];
  const std::string text = read_file(item.points);
  Shape shape;
  if (item.labels.empty()) {
    shape = read_labelled_points(text, item.points.string(), options_.drop_invalid);
    if (!shape.normals.defined()) found_bare_ = true;
    check_and_number_parts(shape, known, known.first_part, item.points);
  } else {
    FileShape content = read_xyz(text, item.points.string(), options_.columns);
    content.normals = at::Tensor();  // this format has no normals
    const at::Tensor parts =
        read_point_labels(read_file(item.labels), content.mesh.vertices.size(0), item.labels.string());
    shape = labelled_cloud(std::move(content), parts, item.points.string(), options_.drop_invalid);
    check_and_number_parts(shape, known, 1, item.labels);
  }
  shape.label = item.label;
  shape.name = item.name;
  return shape;
}

LabelCounts TextPartDataset::count_parts() const {
  LabelCounts counts(static_cast<int64_t>(parts_.size()));
  std::mutex mutex;
  for_each_file(size(), [&](int64_t i) {
    const at::Tensor labels = get(i).parts;
    const std::lock_guard lock(mutex);
    counts.add(labels.unsqueeze(0));
  });
  return counts;
}

// Reads a published list of shapes: ["shape_data/02691156/1a04e3eab45ca15dd86060f189eb133", …].
std::vector<std::string> read_shape_list(const fs::path& list) {
  const auto parsed = nlohmann::json::parse(read_file(list), nullptr, /*allow_exceptions=*/false);
  const auto is_text = [](const nlohmann::json& entry) { return entry.is_string(); };
  if (!parsed.is_array() || !std::all_of(parsed.begin(), parsed.end(), is_text)) {
    throw DataError(list.string(), "a JSON list of texts such as \"shape_data/02691156/ID\"",
                    parsed.is_discarded() ? "no JSON" : "other JSON");
  }
  return parsed.get<std::vector<std::string>>();
}

TextItem listed_shape(const std::string& entry, const fs::path& folder, bool older, const fs::path& list) {
  const fs::path path = safe_join({}, entry, list);  // only the last two path components are used
  const std::string id = path.filename().string(), synset = path.parent_path().filename().string();
  const auto& classes = shapenet_part_classes();
  const auto known =
      std::find_if(classes.begin(), classes.end(), [&](const auto& one) { return one.synset == synset; });
  if (known == classes.end() || id.empty()) {
    throw DataError(list.string(), "shapes such as \"shape_data/02691156/ID\", of a class of ShapeNetPart",
                    "\"" + entry + "\"");
  }
  TextItem item{std::string(known->name) + "/" + id, known - classes.begin(), folder / synset / (id + ".txt"), {}};
  if (older) {
    item.points = folder / synset / "points" / (id + ".pts");
    item.labels = folder / synset / "points_label" / (id + ".seg");
  }
  for (const fs::path& file : {item.points, item.labels}) {
    if (!file.empty() && !path_exists(file)) {
      throw DataError(file.string(), "a shape that " + list.filename().string() + " lists", "no such file");
    }
  }
  return item;
}

std::vector<std::string> text_splits_of(PartSplit split) {
  if (split == PartSplit::test) return {"test"};
  if (split == PartSplit::validation) return {"val"};
  if (split == PartSplit::train) return {"train"};
  return {"train", "val"};
}

}  // namespace

bool is_shapenet_part_text(const fs::path& folder) {
  return fs::exists(folder / category_list);
}

bool is_older_shapenet_part_text(const fs::path& folder) {
  for (const ShapeNetPartClass& known : shapenet_part_classes()) {
    if (fs::is_directory(folder / known.synset)) return fs::is_directory(folder / known.synset / "points");
  }
  throw DataError(folder.string(), "a folder for a class of ShapeNetPart, such as 02691156", "none");
}

std::unique_ptr<PartDataset> open_shapenet_part_text(const fs::path& folder, PartSplit split,
                                                     const ShapeReadOptions& options) {
  check_shapenet_classes(folder / category_list, /*all=*/false);
  const bool older = is_older_shapenet_part_text(folder);
  std::vector<TextItem> items;
  std::vector<std::string> broken;
  for (const std::string& name : text_splits_of(split)) {
    const fs::path list = folder / "train_test_split" / ("shuffled_" + name + "_file_list.json");
    for (const std::string& entry : read_shape_list(list)) {
      try {
        items.push_back(listed_shape(entry, folder, older, list));
      } catch (const DataError& error) {
        broken.emplace_back(error.what());
      }
    }
  }
  if (!broken.empty()) throw BrokenFiles(broken);
  if (items.empty()) throw DataError(folder.string(), "shapes in the list of this split", "none");
  return std::make_unique<TextPartDataset>(std::move(items), !older, options);
}

}  // namespace geosft
