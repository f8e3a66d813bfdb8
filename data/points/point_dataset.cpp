// SPDX-License-Identifier: Apache-2.0
#include "data/points/point_dataset.h"

#include <algorithm>
#include <map>
#include <system_error>

#include "data/dataset_formats.h"
#include "data/folds.h"
#include "data/formats/shape_file.h"
#include "data/points/file_dataset.h"
#include "data/points/point_formats.h"
#include "data/points/point_loader.h"
#include "data/read_file.h"
#include "data/safe_join.h"
#include "data/seeds.h"

namespace geosft {
namespace {

bool is_furniture(const std::filesystem::path& source) {
  return source.empty() || source == "furniture";
}

using PointReader = std::unique_ptr<PointDataset>(const std::filesystem::path&, Split, const PointDatasetOptions&);

// A format of which `read` opens a dataset, or else `list` names its files.
struct PointFormat : DatasetFormat<PointReader> {
  DatasetListing (*list)(const std::filesystem::path&, Split, const PointDatasetOptions&) = nullptr;
  std::string summary_name = {};  // if that is not `name`

  std::unique_ptr<PointDataset> open(const std::filesystem::path& source, Split split,
                                     const PointDatasetOptions& options) const {
    if (read != nullptr) return read(source, split, options);
    return std::make_unique<FileDataset>(list(source, split, options), options);
  }
};

const std::vector<PointFormat>& point_formats() {
  using Path = std::filesystem::path;
  using Options = PointDatasetOptions;
  static const std::vector<PointFormat> formats = {
      {{"ScanObjectNN", "*_objectdataset*.h5", is_scan_object_nn,
        [](const Path& source, Split split, const Options& options) {
          return open_scan_object_nn(source, split, options.drop_background);
        }}},
      {{"ModelNet40 HDF5", "train_files.txt or ply_data_*.h5",
        [](const Path& source) { return std::filesystem::is_directory(source) && is_modelnet_hdf5(source); },
        [](const Path& source, Split split, const Options&) { return open_modelnet_hdf5(source, split); }}},
      {{"normal_resampled", "modelnet40_shape_names.txt", is_normal_resampled, nullptr},
       [](const Path& source, Split split, const Options& options) {
         return list_normal_resampled(source, split, options.allow_missing);
       }},
      {{"files that end in " + shape_extensions(), "a folder for each class",
        [](const Path& source) { return std::filesystem::is_directory(source); }, nullptr},
       [](const Path& source, Split split, const Options& options) {
         return list_folder_tree(source, split, options.test_every, options.split_order);
       },
       "a folder for each class"},
  };
  return formats;
}

// Throws DataError if the format is unknown.
const PointFormat& format_of(const std::filesystem::path& source) {
  if (!std::filesystem::exists(source)) throw DataError(source.string(), "a folder of shapes", "nothing of this name");
  if (std::filesystem::is_directory(source)) check_links(source);
  const PointFormat* format = find_format(point_formats(), source);
  if (format != nullptr) return *format;
  throw DataError(source.string(), "a folder of shapes, or a file that names a variant of a set", "another file");
}

void count_split(const std::vector<int64_t>& labels, std::vector<int64_t>& counts, size_t classes) {
  counts.assign(classes, 0);
  for (const int64_t label : labels) ++counts.at(static_cast<size_t>(label));
}

// Counts the clouds of a split, and adds its warnings.
void summarize_split(const std::filesystem::path& source, Split split, const PointDatasetOptions& options,
                     PointDatasetSummary& summary) {
  std::vector<int64_t> labels;
  std::vector<std::string> warnings;
  const auto take_listing = [&](const DatasetListing& listing) {
    for (const DatasetItem& item : listing.items) labels.push_back(item.label);
    summary.class_names = listing.class_names;
    warnings = listing.warnings;
  };
  if (is_furniture(source)) {
    summary.format = "furniture";
    take_listing(list_furniture(split));
  } else if (const PointFormat& format = format_of(source); format.list != nullptr) {
    summary.format = format.summary_name.empty() ? format.name : format.summary_name;
    take_listing(format.list(source, split, options));
  } else {
    summary.format = format.name;
    const std::unique_ptr<PointDataset> dataset = format.open(source, split, options);
    for (int64_t i = 0; i < dataset->size(); ++i) labels.push_back(dataset->label(i));
    summary.class_names = dataset->class_names();
    summary.normals = summary.normals.value_or(true) && dataset->has_normals();
    warnings = dataset->warnings();
  }
  for (const std::string& warning : warnings) {
    const auto& known = summary.warnings;
    if (std::find(known.begin(), known.end(), warning) == known.end()) summary.warnings.push_back(warning);
  }
  count_split(labels, split == Split::train ? summary.train : summary.test, summary.class_names.size());
}

}  // namespace

PointDatasetSummary summarize_point_dataset(const std::filesystem::path& source, const PointDatasetOptions& options) {
  PointDatasetSummary summary;
  std::vector<std::string> errors;
  for (const Split split : {Split::train, Split::test}) {
    try {
      summarize_split(source, split, options, summary);
    } catch (const DataError& error) {
      errors.emplace_back(error.what());
    }
  }
  if (errors.size() == 2) throw DataError(errors.front());
  summary.warnings.insert(summary.warnings.end(), errors.begin(), errors.end());
  summary.train.resize(summary.class_names.size());
  summary.test.resize(summary.class_names.size());
  return summary;
}

std::string point_formats_text() {
  return formats_text(point_formats());
}

std::string empty_classes_text(const std::vector<std::string>& empty, size_t classes, const std::string& what,
                               const std::string& kind) {
  constexpr size_t max_names = 5;
  std::string text = std::to_string(empty.size()) + " of " + std::to_string(classes) + " " + kind +
                     (empty.size() == 1 ? " has " : " have ") + what + ":";
  for (size_t i = 0; i < empty.size() && i < max_names; ++i) text += (i > 0 ? ", " : " ") + empty[i];
  return text + (empty.size() > max_names ? ", and " + std::to_string(empty.size() - max_names) + " more" : "");
}

std::filesystem::path absolute_source(const std::filesystem::path& source) {
  return is_furniture(source) ? source : std::filesystem::absolute(source).lexically_normal();
}

std::unique_ptr<PointDataset> open_point_dataset(const std::filesystem::path& source, Split split,
                                                 const PointDatasetOptions& options) {
  if (is_furniture(source)) return std::make_unique<FileDataset>(list_furniture(split), options);
  return format_of(source).open(source, split, options);
}

ReadOptionUse read_option_use(const std::filesystem::path& source) {
  if (is_furniture(source)) return {false, false};
  std::error_code error;
  if (!std::filesystem::exists(source, error)) return {};
  const PointFormat* const format = find_format(point_formats(), source);
  if (format == nullptr) return {};
  if (format->list == nullptr) return {false, false};
  PointDatasetOptions options;
  options.test_every = 0;  // all files
  options.allow_missing = true;
  ReadOptionUse use{false, false};
  bool listed = false;
  for (const Split split : {Split::train, Split::test}) {
    try {
      for (const DatasetItem& item : format->list(source, split, options).items) {
        use.columns = use.columns || has_columns(item.file);
        use.drop_invalid = use.drop_invalid || can_hold_cloud(item.file);
      }
      listed = true;
    } catch (const DataError&) {  // opening the dataset says what is wrong
    }
  }
  return listed ? use : ReadOptionUse{};
}

Shape read_shape(const std::filesystem::path& file, const PointDatasetOptions& options,
                 std::vector<std::string>* warnings, FileShape* content) {
  TORCH_CHECK(options.points_per_mesh >= 1, "points_per_mesh must be at least 1, got ", options.points_per_mesh);
  FileShape read = parse_shape(read_file(file), file.string(), {options.columns, options.drop_invalid});
  const uint64_t seed = combine_seeds({options.seed, text_hash(file.filename().string())});
  Shape shape = to_cloud(read, options.points_per_mesh, seed, file.string());
  shape.name = file.string();
  if (warnings != nullptr) {
    for (const std::string& warning : read.warnings) warnings->push_back(shape.name + ": " + warning);
  }
  if (warnings != nullptr && read.is_mesh()) {
    warnings->push_back(shape.name + ": a mesh, of which " + std::to_string(shape.points.size(0)) +
                        " points are sampled");
  }
  if (content != nullptr) *content = std::move(read);
  return shape;
}

PointSubset::PointSubset(const PointDataset& whole, std::vector<int64_t> rows) : whole_(whole), rows_(std::move(rows)) {
  for (const int64_t row : rows_) {
    if (row < 0 || row >= whole.size()) {
      throw std::out_of_range("row " + std::to_string(row) + " of a dataset of " + std::to_string(whole.size()));
    }
  }
}

std::pair<std::vector<int64_t>, std::vector<int64_t>> stratified_split(const PointDataset& dataset, double second_share,
                                                                       uint64_t seed) {
  std::vector<int64_t> labels;
  labels.reserve(static_cast<size_t>(dataset.size()));
  for (int64_t row = 0; row < dataset.size(); ++row) labels.push_back(dataset.label(row));
  return stratified_split(labels, second_share, seed);
}

std::vector<int64_t> limited_per_class(const PointDataset& dataset, const std::vector<int64_t>& rows, int64_t count,
                                       uint64_t seed) {
  TORCH_CHECK(count >= 0, "count must be at least 0, got ", count);
  const uint64_t own_seed = combine_seeds({seed, text_hash("limited per class")});
  std::map<int64_t, int64_t> used;
  std::vector<int64_t> kept;
  for (const int64_t place : epoch_order(static_cast<int64_t>(rows.size()), /*shuffle=*/true, own_seed, /*epoch=*/0)) {
    const int64_t row = rows[static_cast<size_t>(place)];
    if (++used[dataset.label(row)] <= count) kept.push_back(row);
  }
  std::sort(kept.begin(), kept.end());
  return kept;
}

}  // namespace geosft
