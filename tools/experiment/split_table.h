// SPDX-License-Identifier: Apache-2.0
// Lists the items of each split of a run, for the file split.csv of its RUN folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace geosft {

// An item of a split: its number in the data, by which predict and geosft-view ask for it, its name there, and its
// label: a class, or targets with semicolons between them. Both are empty where items have none, and so is a target
// that is not known.
struct SplitRow {
  std::string split;  // "train", "validation" or "test"
  int64_t item = 0;
  std::string name = {};
  std::string label = {};
};

// Formats the rows as a table with the columns split, item, name and label (RFC 4180); empty without rows.
std::string split_csv(const std::vector<SplitRow>& rows);

// Returns the rows of a split.csv; empty if there is no such file, as in runs of earlier versions, some of which have
// files without labels. Throws DataError for a file of another form.
std::vector<SplitRow> read_split_rows(const std::filesystem::path& file);

// Throws DataError naming `data` if `rows`, the items of its splits now, are not those that the split.csv of a run
// lists: another number of them, or one in another split, of another name, class or target. What is empty, and a folder
// that all names begin with, is not compared. The message ends with `advice`. Nothing is compared where
// there is no such file.
void require_recorded_split(const std::filesystem::path& file, std::vector<SplitRow> rows, const std::string& data,
                            const std::string& advice);

// Says how the items of a split.csv may differ from those of the data.
struct SplitAllowance {
  size_t absent = 0;      // as many listed items may be missing, by name
  bool unlisted = false;  // the data may have items that are not listed
};

// Throws DataError as require_recorded_split does, for data of which one split alone is at hand: `rows` are its items,
// numbered from 0, and the file lists them in `splits`, one or several that are numbered together. Returns in which of
// `splits` each item is listed, "" for one that is not; empty where there is no such file.
std::vector<std::string> require_recorded_items(const std::filesystem::path& file,
                                                const std::vector<std::string>& splits, std::vector<SplitRow> rows,
                                                const SplitAllowance& allowed, const std::string& data,
                                                const std::string& advice);

// Returns how many items of the split "test" have the name of one in "train" or "validation". Empty names are not
// counted.
int64_t tested_training_items(const std::vector<SplitRow>& rows);

// Returns how many of these items of other data have the name of one that the split.csv lists in "train" or
// "validation". Empty names are not counted; 0 if there is no such file.
int64_t known_training_items(const std::filesystem::path& file, const std::vector<std::string>& names);

// Returns the number of items of each split that a split.csv lists, in the order of the file; empty if there is no such
// file, as in runs of earlier versions. Throws DataError for a file of another form.
std::vector<std::pair<std::string, int64_t>> split_counts(const std::filesystem::path& file);

// Returns "640 train, 71 validation, 178 test"; empty without counts.
std::string split_counts_text(const std::vector<std::pair<std::string, int64_t>>& counts);

}  // namespace geosft
