// SPDX-License-Identifier: Apache-2.0
// The metrics of a run as CSV: step,epoch,split,loss,SCORE,learning_rate,seconds,ITEMS_per_second,waiting, where SCORE
// is the name of the task's metric and ITEMS what it counts: accuracy and clouds, say.
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

// How the metric of a task is called and read.
struct ScoreStyle {
  std::string name = "accuracy";  // in snake_case
  std::string items = "clouds";
  bool share = true;             // from 0 to 1, shown in percent
  bool lower_is_better = false;  // then the training loop's score is its negative

  // From the training loop's score, where higher is better.
  double value(double score) const { return lower_is_better ? -score : score; }
  // "accuracy 91.2 %", "mae 0.2513".
  std::string text(double value) const;
};

struct MetricsRow {
  int64_t step = 0;             // optimiser steps done; those whose gradient was not finite do not count
  int64_t epoch = 0;            // epochs begun
  std::string split = "train";  // train | validation (held out of the training set) | test
  double loss = 0.0;            // mean over the items since the last row of this split; not finite: unknown
  double score = 0.0;           // in its own unit; not finite: unknown
  double learning_rate = 0.0;
  double seconds = 0.0;  // of training so far, over all resumed parts
  double items_per_second = 0.0;
  double waiting = 0.0;  // share of the time of the epoch's steps that they waited for data; NaN: not known

  bool operator==(const MetricsRow&) const = default;
};

// The rows of a file. Throws DataError naming file and line for anything that MetricsWriter would not have written; a
// last line without its line end (the process was killed) is left out.
std::vector<MetricsRow> read_metrics(const std::filesystem::path& file);

// Appends rows, each flushed as a whole line. A run that is resumed at step s and epoch e keeps the rows up to these
// and drops later ones, so every row is there once.
class MetricsWriter {
 public:
  // Throws DataError when the file cannot be written or, resuming, is broken. A new run replaces what is there.
  explicit MetricsWriter(std::filesystem::path file, const ScoreStyle& style = {});
  MetricsWriter(std::filesystem::path file, int64_t resume_step,
                int64_t resume_epoch = std::numeric_limits<int64_t>::max(), const ScoreStyle& style = {});

  // Throws std::invalid_argument for an unknown split or a row that is not after the last one of its split (a later
  // step, or the same step in a later epoch: no step of an epoch may have counted), DataError when the disk is full.
  void append(const MetricsRow& row);

 private:
  void begin(const std::vector<MetricsRow>& rows);

  std::filesystem::path file_;
  std::string header_;
  std::ofstream out_;
  std::map<std::string, std::pair<int64_t, int64_t>> last_;  // (step, epoch) of a split
};

}  // namespace geosft
