// SPDX-License-Identifier: Apache-2.0
// Labelled time series in the .ts form of the UEA and UCR archives.
#pragma once

#include <ATen/ATen.h>

#include <filesystem>
#include <string>
#include <vector>

namespace geosft {

struct TsFile {
  std::string problem;               // @problemName
  std::vector<std::string> classes;  // in the order of @classLabel
  at::Tensor values;                 // float32 [sum of the lengths, dimensions]; NaN where the file has "?" or "NaN"
  at::Tensor ptr;                    // int64 [B + 1], the series
  at::Tensor labels;                 // int64 [B], which of the classes

  int64_t size() const { return labels.size(0); }
  int64_t dimensions() const { return values.size(1); }
};

// Reads a file of series with one dimension or more, of any lengths; the dimensions of a series have the same length.
// Throws DataError, naming the file and the line: time stamps and files without class labels, which are not supported,
// unknown keywords, words that are no numbers, missing values where @missing says that there are none, dimensions and
// lengths that are not those that the header names, classes that it does not name, files without series.
TsFile read_ts_file(const std::filesystem::path& file);

}  // namespace geosft
