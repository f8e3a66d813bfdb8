// SPDX-License-Identifier: Apache-2.0
// The metrics of a run as CSV: step,epoch,split,loss,accuracy,learning_rate,seconds,clouds_per_second
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace geosft {

struct MetricsRow {
  int64_t step = 0;             // optimiser steps done
  int64_t epoch = 0;            // epochs begun
  std::string split = "train";  // train | validation
  double loss = 0.0;            // mean over the clouds since the last row of this split; not finite: unknown
  double accuracy = 0.0;        // 0 to 1
  double learning_rate = 0.0;
  double seconds = 0.0;  // of training so far, over all resumed parts
  double clouds_per_second = 0.0;

  bool operator==(const MetricsRow&) const = default;
};

// The rows of a file. Throws DataError naming file and line for anything that MetricsWriter would not have written; a
// last line without its line end (the process was killed) is left out.
std::vector<MetricsRow> read_metrics(const std::filesystem::path& file);

// Appends rows, each flushed as a whole line. A run that is resumed at step s keeps the rows up to s and drops later
// ones, so every step is there once.
class MetricsWriter {
 public:
  // Throws DataError when the file cannot be written or, resuming, is broken. A new run replaces what is there.
  explicit MetricsWriter(std::filesystem::path file);
  MetricsWriter(std::filesystem::path file, int64_t resume_step);

  // Throws std::invalid_argument for an unknown split or a step that is not after the last one of its split, DataError
  // when the disk is full.
  void append(const MetricsRow& row);

 private:
  void begin(const std::vector<MetricsRow>& rows);

  std::filesystem::path file_;
  std::ofstream out_;
  std::map<std::string, int64_t> last_step_;
};

}  // namespace geosft
