// SPDX-License-Identifier: Apache-2.0
// Opens datasets with a file per shape although some of the files are broken, and finds the broken ones.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "data/points/point_dataset.h"

namespace geosft {

// Opens a dataset as open_point_dataset does, but without the shapes whose files are broken. The warnings of the
// dataset name each of them (broken_files). Throws the error of open_point_dataset if no shape is left, or if the
// dataset has no file per shape.
std::unique_ptr<PointDataset> open_readable_shapes(const std::filesystem::path& source, Split split,
                                                   const PointDatasetOptions& options);

// Returns those of the warnings that each name a broken file that was left out, without "left out: ".
std::vector<std::string> broken_files(const std::vector<std::string>& warnings);

// Returns "1 broken file is left out", or of several; empty if there is none.
std::string broken_files_text(size_t count);

// Returns which clouds an evaluation takes of a folder without train and test folders: "DATA has no folders train and
// test: 4 of its 20 files, one in 5 of each class, are its test set (--test-every 0: all)". Empty for data of another
// form.
std::string split_rule_note(const std::filesystem::path& source, const PointDatasetOptions& options);

// Holds what reading all shapes of a dataset has found.
struct ShapeFilesCheck {
  size_t count = 0;
  const char* items = "files";        // what is counted; "clouds" of a dataset without a file per shape
  std::vector<std::string> broken;    // the errors
  std::vector<std::string> warnings;  // what is left out or assumed of the other files, and which are copies
};
// Reads all files of both splits, in parallel, or looks at the clouds of a dataset without a file per shape.
ShapeFilesCheck check_shape_files(const std::filesystem::path& source, PointDatasetOptions options);

}  // namespace geosft
