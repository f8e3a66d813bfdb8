// SPDX-License-Identifier: Apache-2.0
// Reads time series in the .ts format of the UEA and UCR archives.
#pragma once

#include <ATen/ATen.h>

#include <filesystem>
#include <string>
#include <vector>

namespace geosft {

struct TsFile {
  std::string problem;               // @problemName
  std::vector<std::string> classes;  // in the order of @classLabel
  at::Tensor values;                 // float32 [total length, dimensions]; NaN for "?" or "NaN" in the file
  at::Tensor ptr;                    // int64 [B + 1], offsets of the series
  at::Tensor labels;                 // int64 [B], indices into `classes`; undefined with @classLabel false

  int64_t size() const { return ptr.size(0) - 1; }
  int64_t dimensions() const { return values.size(1); }
};

// Reads series with one or more dimensions and any lengths; all dimensions of a series have the same length. Throws
// DataError, naming file and line: time stamps (unsupported), no @classLabel, unknown keywords, non-numeric words,
// missing values despite @missing false, dimensions, lengths or classes that differ from the header, files
// without series.
TsFile read_ts_file(const std::filesystem::path& file);

}  // namespace geosft
