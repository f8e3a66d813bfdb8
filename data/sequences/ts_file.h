// SPDX-License-Identifier: Apache-2.0
// Reads time series in the .ts format of the UEA and UCR archives and of the Monash, UEA & UCR regression archive.
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
  at::Tensor labels;                 // int64 [B], indices into `classes`; undefined without @classLabel true
  at::Tensor targets;                // float32 [B], NaN if missing; defined with @targetLabel true (regression)

  int64_t size() const { return ptr.size(0) - 1; }
  int64_t dimensions() const { return values.size(1); }
};

// Reads series with one or more dimensions and any lengths; all dimensions of a series have the same length. Lines that
// begin with # or % are comments. Throws DataError, naming file and line: time stamps (unsupported), neither
// @classLabel nor @targetLabel or both with true, unknown keywords, non-numeric words, missing values despite @missing
// false, dimensions, lengths or classes that differ from the header, files without series.
TsFile read_ts_file(const std::filesystem::path& file);

}  // namespace geosft
