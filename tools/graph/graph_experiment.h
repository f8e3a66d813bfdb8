// SPDX-License-Identifier: Apache-2.0
// An experiment: one run, or one for every seed and fold, in folders of their own.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "models/training/distributed/communicator.h"
#include "tools/graph/graph_report.h"
#include "tools/graph/result_table.h"

namespace geosft {

struct PlannedRun {
  std::string name;  // of its folder: "seed_1", "fold_3", "seed_1_fold_3"; empty for the only run
  GraphSettings settings;
};

// What `repeats` and `every_fold` ask for. Throws UsageError for folds of data with a published split.
std::vector<PlannedRun> planned_runs(const GraphSettings& settings, const PackedItems& graphs);

struct RunResult {
  std::string name;
  NamedValues metrics;  // of the test part
  uint64_t seed = 0;
  int64_t fold = 0;
  int64_t count = 0;  // of the test part
  GraphTask task = GraphTask::classification;
  int64_t parameters = 0, epochs = 0;
  double seconds = 0.0;  // of the training, its validations included
};

// Trains what is left of the experiment in `folder` (which the caller has made or opened), evaluates every run on its
// test part, and leaves result.json and pictures in its folder; several runs lie in folders below, with a table of them
// all in table.md and table.csv. A finished run is evaluated again. Throws Interrupted when a signal comes. Of several
// processes that train together the leading one evaluates: the others have no results.
std::vector<RunResult> run_experiment(const GraphSettings& settings, const RunFolder& folder, bool resume,
                                      at::Device device = at::kCPU, const Communicator& processes = one_process());

// Seconds that the first epoch of the experiment's first run takes, its validation included. It is left in `folder`,
// which is new. Throws Interrupted when a signal comes.
double seconds_of_an_epoch(const GraphSettings& settings, const RunFolder& folder, at::Device device);

// Columns of a table: parameters of the model, epochs, and the mean of the seconds of a training.
std::vector<std::pair<std::string, std::string>> cost_labels(const std::vector<RunResult>& results);

// The runs of a finished experiment, and, for several, their mean.
std::vector<ResultRow> experiment_rows(const std::vector<RunResult>& results);

// The mean of several runs in the form of one: {"task", "split", "count" (of all test parts of a repetition),
// "rotation", "repeats" (seeds), "folds", "metrics", "deviations", "runs": [{"name", "metrics"}, …]}.
nlohmann::json experiment_json(const std::vector<RunResult>& results);

// `results` less those of `first` with the same seed and fold, metric by metric: their mean and deviation. Nothing
// where no run has a partner.
std::vector<std::pair<std::string, Summary>> paired_differences(const std::vector<RunResult>& results,
                                                                const std::vector<RunResult>& first);

}  // namespace geosft
