// SPDX-License-Identifier: Apache-2.0
// Reads and writes a run's metrics as CSV: step,epoch,split,loss,SCORE,learning_rate,seconds,ITEMS_per_second,waiting,
// where SCORE is the task's metric and ITEMS names its items, for example accuracy and clouds.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace geosft {

// Name and format of the metric of a task.
struct ScoreStyle {
  std::string name = "accuracy";  // in snake_case
  std::string items = "clouds";
  bool share = true;             // in [0, 1], shown in percent
  bool lower_is_better = false;  // the training loop's score is then the negated metric

  // Converts the training loop's score (higher is better) to the metric.
  double value(double score) const { return lower_is_better ? -score : score; }
  // Returns "accuracy 91.2 %" or "mae 0.2513".
  std::string text(double value) const;
};

struct MetricsRow {
  int64_t step = 0;             // optimiser steps done; skipped non-finite steps do not count
  int64_t epoch = 0;            // epochs begun
  std::string split = "train";  // train | validation (held out of the training set) | test
  double loss = 0.0;            // mean over the items since the previous row of this split; not finite: unknown
  double score = 0.0;           // in its own unit; not finite: unknown
  double learning_rate = 0.0;
  double seconds = 0.0;  // of training so far, including the time before the run was resumed
  double items_per_second = 0.0;
  double waiting = 0.0;  // fraction of the step time of the epoch spent waiting for data; NaN: unknown

  bool operator==(const MetricsRow&) const = default;
};

// Reads the rows of a file. Throws DataError naming file and line for anything that MetricsWriter would not have
// written; ignores an incomplete last line (the process was killed).
std::vector<MetricsRow> read_metrics(const std::filesystem::path& file);

// Appends rows, each flushed as a whole line. A run resumed at step s and epoch e keeps the rows up to these and drops
// later ones, so no row is repeated.
class MetricsWriter {
 public:
  // Throws DataError if the file cannot be written or, when resuming, is invalid. A new run replaces an existing file.
  explicit MetricsWriter(std::filesystem::path file, const ScoreStyle& style = {});
  MetricsWriter(std::filesystem::path file, int64_t resume_step,
                int64_t resume_epoch = std::numeric_limits<int64_t>::max(), const ScoreStyle& style = {});

  // Throws std::invalid_argument for an unknown split or a row that is not after the last one of its split (a later
  // step, or the same step in a later epoch if no step counted); DataError if the disk is full.
  void append(const MetricsRow& row);

 private:
  void begin(const std::vector<MetricsRow>& rows);

  std::filesystem::path file_;
  std::string header_;
  std::ofstream out_;
  std::map<std::string, std::pair<int64_t, int64_t>> last_;  // (step, epoch) per split
};

}  // namespace geosft
