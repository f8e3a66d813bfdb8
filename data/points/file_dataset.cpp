// SPDX-License-Identifier: Apache-2.0
#include "data/points/file_dataset.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <map>
#include <set>
#include <system_error>

#include "data/cache_folder.h"
#include "data/data_error.h"
#include "data/formats/shape_file.h"
#include "data/points/array_dataset.h"
#include "data/read_file.h"
#include "data/seeds.h"
#include "geometry/cloud_warnings.h"
#include "geometry/threads.h"

namespace geosft {
namespace {

// Part of every cache key. Increment whenever the points for the same file and options change.
constexpr const char* sampling_version = "sampled shape 8";

std::string sampling_text(const PointDatasetOptions& options) {
  return "points " + std::to_string(options.points_per_mesh) + "\nseed " + std::to_string(options.seed) +
         (options.columns.empty() ? "" : "\ncolumns " + options.columns) +
         (options.drop_invalid ? "\ndrop invalid" : "");
}

// Returns what kind of warning a text is: without its numbers.
std::string without_numbers(const std::string& text) {
  std::string kind;
  for (const char letter : text) {
    if (letter < '0' || letter > '9') kind += letter;
  }
  return kind;
}

PointDatasetOptions with_columns(PointDatasetOptions options, const std::string& columns) {
  if (options.columns.empty()) options.columns = columns;
  return options;
}

// Returns the name of an item in messages.
std::string place_of(const DatasetItem& item) {
  return item.member.empty() ? item.file.string() : item.file.string() + ":" + item.member;
}

}  // namespace

std::vector<std::string> first_of_each_kind(const std::vector<FileWarnings>& files) {
  std::vector<std::pair<std::string, int64_t>> said;  // the first warning of each kind, and how many files have one
  std::map<std::string, size_t> places;               // of these kinds
  for (const auto& [file, warnings] : files) {
    std::set<std::string> kinds;  // of this file
    for (const std::string& warning : warnings) {
      const std::string kind = without_numbers(warning);
      if (!kinds.insert(kind).second) continue;
      const auto [place, is_new] = places.emplace(kind, said.size());
      if (is_new) said.emplace_back(file + ": " + warning, 0);
      ++said[place->second].second;
    }
  }
  std::vector<std::string> texts;
  for (const auto& [text, count] : said) {
    const std::string more =
        count == 2 ? "; 1 more file has the like" : "; " + std::to_string(count - 1) + " more files have the like";
    texts.push_back(text + (count > 1 ? more : ""));
  }
  return texts;
}

std::vector<std::string> training_cloud_warnings(const at::Tensor& points) {
  constexpr int64_t few = 16;
  const int64_t available = points.size(0);
  if (available >= few) return point_warnings(points);
  return {std::to_string(available) + (available == 1 ? " point" : " points") + " only, too few to show a form"};
}

FileDataset::FileDataset(DatasetListing listing, const PointDatasetOptions& options)
    : listing_(std::move(listing)),
      options_(with_columns(options, listing_.columns)),
      cache_(options.cache.empty() ? default_cache_folder() : options.cache),
      in_memory_(listing_.items.size()) {
  TORCH_CHECK(options.points_per_mesh >= 1, "points_per_mesh must be at least 1, got ", options.points_per_mesh);
  std::vector<std::string> absent;
  for (const DatasetItem& item : listing_.items) {
    try {
      keys_.push_back(cache_key(item));
    } catch (const DataError& error) {
      absent.emplace_back(error.what());
      continue;
    }
    if (!item.member.empty() && !archives_.contains(item.file)) archives_.emplace(item.file, ZipArchive(item.file));
  }
  if (!absent.empty()) throw BrokenFiles(absent);
  std::vector<ItemNotes> notes(listing_.items.size());
  fill_cache(find_missing(notes), notes);
  take_notes(notes);
}

FileDataset::ItemNotes FileDataset::notes_on(const SampledShape& sampled) const {
  ItemNotes notes{sampled.shape.normals.defined(), sampled.warnings};
  if (sampled.missing_normals > 0 && options_.normals) {
    notes.warnings.push_back(missing_normals_text(sampled.shape, sampled.missing_normals));
  }
  return notes;
}

void FileDataset::take_notes(const std::vector<ItemNotes>& notes) {
  const auto without = std::find_if(notes.begin(), notes.end(), [](const ItemNotes& one) { return !one.with_normals; });
  if (without != notes.end()) file_without_normals_ = place_of(listing_.items[without - notes.begin()]);
  std::vector<FileWarnings> files;
  for (size_t i = 0; i < notes.size(); ++i) files.emplace_back(place_of(listing_.items[i]), notes[i].warnings);
  for (std::string& warning : first_of_each_kind(files)) listing_.warnings.push_back(std::move(warning));
}

std::vector<int64_t> FileDataset::find_missing(std::vector<ItemNotes>& notes) {
  std::vector<char> found(listing_.items.size(), 0);
  parallel_items(size(), at::get_num_threads(), [&](int64_t i) {
    const auto at = static_cast<size_t>(i);
    const std::optional<SampledShape> sampled = cache_.load(cache_id(listing_.items[at]), keys_[at]);
    found[at] = sampled.has_value();
    if (sampled) notes[at] = notes_on(*sampled);
  });
  std::vector<int64_t> missing;
  for (size_t i = 0; i < found.size(); ++i) {
    if (!found[i]) missing.push_back(static_cast<int64_t>(i));
  }
  return missing;
}

void FileDataset::fill_cache(const std::vector<int64_t>& missing, std::vector<ItemNotes>& notes) {
  const auto read = [&](int64_t i) {
    const auto at = static_cast<size_t>(missing[static_cast<size_t>(i)]);
    SampledShape sampled = sample(listing_.items[at]);
    notes[at] = notes_on(sampled);
    if (!cache_.store(cache_id(listing_.items[at]), keys_[at], sampled)) in_memory_[at] = std::move(sampled.shape);
  };
  for_each_file(static_cast<int64_t>(missing.size()), read, options_.progress);
}

SampledShape FileDataset::sample(const DatasetItem& item) const {
  const std::string source = place_of(item);
  const std::string bytes = item.member.empty() ? read_file(item.file) : archives_.at(item.file).read(item.member);
  const uint64_t seed = combine_seeds({options_.seed, text_hash(item.name)});
  const FileShape content = parse_shape(bytes, source, {options_.columns, options_.drop_invalid});
  SampledShape sampled{to_cloud(content, options_.points_per_mesh, seed, source), content.warnings};
  for (std::string& warning : training_cloud_warnings(sampled.shape.points)) {
    sampled.warnings.push_back(std::move(warning));
  }
  sampled.missing_normals = fill_missing_normals(sampled.shape);
  return sampled;
}

std::string FileDataset::cache_id(const DatasetItem& item) const {
  return std::filesystem::absolute(item.file).string() + '\n' + item.member + '\n' + item.name + '\n' +
         sampling_text(options_);
}

std::string FileDataset::cache_key(const DatasetItem& item) const {
  std::error_code error;
  const uintmax_t bytes = std::filesystem::file_size(item.file, error);
  if (error) throw DataError(item.file.string(), "a file", error.message());
  const auto changed = std::filesystem::last_write_time(item.file, error).time_since_epoch().count();
  return std::string(sampling_version) + '\n' + cache_id(item) + "\nbytes " + std::to_string(bytes) + "\nchanged " +
         std::to_string(changed);
}

int64_t FileDataset::label(int64_t index) const {
  check_item(index, size());
  return listing_.items[static_cast<size_t>(index)].label;
}

std::string FileDataset::name(int64_t index) const {
  check_item(index, size());
  return listing_.items[static_cast<size_t>(index)].name;
}

Shape FileDataset::get(int64_t index) const {
  check_item(index, size());
  const auto at = static_cast<size_t>(index);
  const DatasetItem& item = listing_.items[at];
  Shape shape = in_memory_[at];
  if (!shape.points.defined()) {
    std::optional<SampledShape> sampled = cache_.load(cache_id(item), keys_[at]);
    if (!sampled) {
      sampled = sample(item);
      cache_.store(cache_id(item), keys_[at], *sampled);
    }
    shape = std::move(sampled->shape);
  }
  shape.label = item.label;
  shape.name = item.name;
  return shape;
}

}  // namespace geosft
