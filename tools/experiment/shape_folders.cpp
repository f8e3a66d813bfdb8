// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/shape_folders.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "data/data_error.h"
#include "data/points/point_formats.h"
#include "data/read_file.h"
#include "data/seeds.h"
#include "geometry/threads.h"
#include "tools/experiment/cloud_checks.h"

namespace geosft {
namespace {

constexpr std::string_view left_out = "left out: ";

// Lists the shape files of a split; nothing for a dataset of another form.
std::optional<DatasetListing> list_shapes(const std::filesystem::path& source, Split split,
                                          const PointDatasetOptions& options) {
  if (source.empty() || source == "furniture") return std::nullopt;
  if (is_normal_resampled(source)) return list_normal_resampled(source, split, options.allow_missing);
  if (!std::filesystem::is_directory(source) || is_scan_object_nn(source) || is_modelnet_hdf5(source)) {
    return std::nullopt;
  }
  return list_folder_tree(source, split, options.test_every, options.split_order);
}

// Returns the error of reading an item; empty if it can be read. A readable one is then in the cache.
std::string error_of(const DatasetItem& item, const DatasetListing& listing, const PointDatasetOptions& options) {
  try {
    const FileDataset one({{item}, listing.class_names, {}, listing.columns}, options);
    return {};
  } catch (const DataError& error) {
    return error.what();
  }
}

// Moves the broken items of a listing to its warnings.
void drop_broken(DatasetListing& listing, PointDatasetOptions options) {
  options.progress = {};
  std::vector<DatasetItem> readable;
  std::vector<std::string> broken;
  std::set<int64_t> before, after;
  for (DatasetItem& item : listing.items) {
    const std::string error = error_of(item, listing, options);
    before.insert(item.label);
    if (!error.empty()) {
      broken.push_back(std::string(left_out) + error);
      continue;
    }
    after.insert(item.label);
    readable.push_back(std::move(item));
  }
  listing.items = std::move(readable);
  for (const int64_t label : before) {
    if (after.contains(label)) continue;
    broken.push_back("all files of the class " + listing.class_names.at(static_cast<size_t>(label)) + " are broken");
  }
  listing.warnings.insert(listing.warnings.end(), broken.begin(), broken.end());
}

ShapeFilesCheck check_arrays(const std::filesystem::path& source, const PointDatasetOptions& options) {
  ShapeFilesCheck check;
  check.items = "clouds";
  std::vector<std::unique_ptr<PointDataset>> splits;
  for (const Split split : {Split::train, Split::test}) {
    try {
      splits.push_back(open_point_dataset(source, split, options));
    } catch (const DataError&) {
      if (split == Split::train) throw;
      continue;  // no cloud to test with
    }
    check.count += static_cast<size_t>(splits.back()->size());
    const std::string name = source.string() + (split == Split::train ? " (train)" : " (test)");
    for (std::string& warning : cloud_form_warnings(*splits.back(), name)) check.warnings.push_back(std::move(warning));
  }
  if (splits.size() < 2) return check;
  if (std::string copies = copies_warning({splits[0].get()}, *splits[1], source.string()); !copies.empty()) {
    check.warnings.push_back(std::move(copies));
  }
  return check;
}

}  // namespace

std::unique_ptr<PointDataset> open_readable_shapes(const std::filesystem::path& source, Split split,
                                                   const PointDatasetOptions& options) {
  try {
    return open_point_dataset(source, split, options);
  } catch (const BrokenFiles&) {
    std::optional<DatasetListing> listing = list_shapes(source, split, options);
    if (!listing) throw;
    drop_broken(*listing, options);
    if (listing->items.empty()) throw;
    return std::make_unique<FileDataset>(std::move(*listing), options);
  }
}

std::vector<std::string> broken_files(const std::vector<std::string>& warnings) {
  std::vector<std::string> found;
  for (const std::string& warning : warnings) {
    if (warning.starts_with(left_out)) found.push_back(warning.substr(left_out.size()));
  }
  return found;
}

std::string broken_files_text(size_t count) {
  if (count == 0) return "";
  return std::to_string(count) + (count == 1 ? " broken file is left out" : " broken files are left out");
}

std::string split_rule_note(const std::filesystem::path& source, const PointDatasetOptions& options) {
  PointDatasetOptions whole = options;
  whole.test_every = 0;
  const auto files_of = [&](Split split, const PointDatasetOptions& of) {
    std::set<std::filesystem::path> files;
    if (const auto listing = list_shapes(source, split, of)) {
      for (const DatasetItem& item : listing->items) files.insert(item.file);
    }
    return files;
  };
  try {
    const std::set<std::filesystem::path> all = files_of(Split::test, whole);
    if (all.empty() || is_normal_resampled(source) || all != files_of(Split::train, whole)) return {};
    const std::string begin = source.string() + " has no folders train and test: ";
    if (options.test_every == 0) return begin + "each split has all of its " + std::to_string(all.size()) + " files";
    return begin + std::to_string(files_of(Split::test, options).size()) + " of its " + std::to_string(all.size()) +
           " files, one in " + std::to_string(options.test_every) +
           " of each class, are its test set (--test-every 0: all)";
  } catch (const DataError&) {
    return {};  // opening the dataset says what is wrong
  }
}

ShapeFilesCheck check_shape_files(const std::filesystem::path& source, PointDatasetOptions options) {
  struct Place {
    std::string class_name;
    std::set<Split> splits;
  };
  std::map<std::filesystem::path, Place> files;
  for (const Split split : {Split::train, Split::test}) {
    std::optional<DatasetListing> listing;
    try {
      listing = list_shapes(source, split, options);
    } catch (const DataError&) {
      if (split == Split::train) throw;
      continue;  // no shape to test with
    }
    if (!listing) return check_arrays(source, options);
    for (const DatasetItem& item : listing->items) {
      Place& place = files[item.file];
      place.class_name = listing->class_names.at(static_cast<size_t>(item.label));
      place.splits.insert(split);
    }
    if (options.columns.empty()) options.columns = listing->columns;
  }
  std::vector<std::filesystem::path> all;
  for (const auto& [file, place] : files) all.push_back(file);
  std::vector<std::string> errors(all.size());
  std::vector<std::vector<std::string>> warnings(all.size());
  std::vector<uint64_t> contents(all.size());
  std::vector<CheckedNormals> normals(all.size());
  parallel_items(static_cast<int64_t>(all.size()), at::get_num_threads(), [&](int64_t i) {
    const auto at = static_cast<size_t>(i);
    try {
      const Shape shape = read_shape(all[at], options, &warnings[at]);
      contents[at] = text_hash(read_file(all[at]));
      normals[at] = {all[at].string(), normal_fault(shape)};
      for (const std::string& warning : training_cloud_warnings(shape.points)) {
        warnings[at].push_back(all[at].string() + ": " + warning);
      }
    } catch (const DataError& error) {
      errors[at] = error.what();
    }
  });
  ShapeFilesCheck check;
  check.count = all.size();
  if (std::string text = normal_faults_text(source.string(), normals, "files"); !text.empty()) {
    check.warnings.push_back(std::move(text));
  }
  for (std::string& text : misfit_texts(normals)) check.warnings.push_back(std::move(text));
  std::map<uint64_t, size_t> first_with;  // these contents
  for (size_t i = 0; i < all.size(); ++i) {
    if (!errors[i].empty()) {
      check.broken.push_back(errors[i]);
      continue;
    }
    for (const std::string& warning : warnings[i]) {
      // That points of a mesh are sampled is no news of a training set.
      if (!warning.ends_with(" points are sampled")) check.warnings.push_back(warning);
    }
    if (const auto [first, is_first] = first_with.emplace(contents[i], i); !is_first) {
      const Place &here = files.at(all[i]), &there = files.at(all[first->second]);
      std::string text = all[i].string() + ": a copy of " + all[first->second].string();
      if (here.class_name != there.class_name) text += ", which is of the class " + there.class_name;
      if (here.splits != there.splits) text += "; one of them is trained on, the other tests the model";
      check.warnings.push_back(std::move(text));
    }
  }
  return check;
}

}  // namespace geosft
