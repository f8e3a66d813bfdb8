// SPDX-License-Identifier: Apache-2.0
#include "data/points/point_formats.h"

#include <algorithm>
#include <set>

#include "data/formats/hdf5_file.h"
#include "data/points/array_dataset.h"

namespace geosft {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view stem = "_objectdataset";

std::string variant_files(const std::string& variant) {
  return "*_objectdataset" + variant + ".h5";
}

// Returns the variant, e.g. "_augmentedrot_scale75" for "training_objectdataset_augmentedrot_scale75.h5" or "" for the
// plain one; nothing for other files.
std::optional<std::string> variant_of(const fs::path& file) {
  const std::string name = file.stem().string();
  const size_t at = name.find(stem);
  const bool known = at != std::string::npos && (name.substr(0, at) == "training" || name.substr(0, at) == "test");
  if (!known || file.extension() != ".h5") return std::nullopt;
  return name.substr(at + stem.size());
}

std::set<std::string> variants_in(const fs::path& folder) {
  std::set<std::string> variants;
  if (!fs::is_directory(folder)) return variants;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (const auto variant = variant_of(entry.path())) variants.insert(*variant);
  }
  return variants;
}

fs::path folder_of(const fs::path& source) {
  if (!fs::is_directory(source)) return source.parent_path();
  return variants_in(source).empty() ? source / "main_split" : source;
}

// Adds a warning if the folder has several variants, and one is taken.
std::string choose_variant(const fs::path& source, const fs::path& folder, std::vector<std::string>& warnings) {
  if (const auto variant = variant_of(source)) return *variant;
  const std::set<std::string> variants = variants_in(folder);
  if (variants.size() == 1) return *variants.begin();
  std::string names;
  for (const std::string& variant : variants) names += " " + variant_files(variant);
  if (variants.contains("")) {
    warnings.push_back(folder.string() + ": " + std::to_string(variants.size()) + " variants, of which " +
                       variant_files("") +
                       " is taken; one of its files in place of the folder selects another:" + names);
    return "";
  }
  throw DataError(folder.string(), "one variant of ScanObjectNN, or one of its files named instead of the folder",
                  "several:" + names);
}

}  // namespace

bool is_scan_object_nn(const fs::path& source) {
  return variant_of(source).has_value() || (fs::is_directory(source) && !variants_in(folder_of(source)).empty());
}

std::unique_ptr<PointDataset> open_scan_object_nn(const fs::path& source, Split split, bool drop_background) {
  const fs::path folder = folder_of(source);
  const std::string prefix = split == Split::train ? "training" : "test";
  CloudArrays arrays;
  const std::string variant = choose_variant(source, folder, arrays.warnings);
  const fs::path path = folder / (prefix + std::string(stem) + variant + ".h5");
  const Hdf5File file(path);
  set_clouds(arrays, file.read_real("data"));
  arrays.labels = file.read_int("label").flatten();
  if (drop_background) arrays.keep = file.read_int("mask") != -1;
  const std::vector<std::string> classes = {"bag",   "bin",   "box", "cabinet", "chair", "desk", "display", "door",
                                            "shelf", "table", "bed", "pillow",  "sink",  "sofa", "toilet"};
  check_clouds(arrays, classes.size(), path.string());
  warn_of_empty_classes(arrays, classes, path.string());
  arrays.names = numbered_clouds(path, arrays.points.size(0));
  return std::make_unique<ArrayDataset>(std::move(arrays), classes, path.string());
}

}  // namespace geosft
