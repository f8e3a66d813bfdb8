// SPDX-License-Identifier: Apache-2.0
// The runs of an experiment: a single one, or one per seed and fold, each in its own folder.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "models/training/distributed/communicator.h"
#include "tools/experiment/config.h"
#include "tools/experiment/graph_data.h"
#include "tools/experiment/metrics_csv.h"
#include "tools/experiment/result_table.h"
#include "tools/experiment/run_folder.h"

namespace geosft {

struct PlannedRun {
  std::string name;  // folder name: "seed_1", "fold_3", "seed_1_fold_3"; empty for a single run
  GraphSettings settings;
  int64_t number = 1, count = 1;  // its place among the runs, from 1
};

// Throws UsageError for a fold above 0 of data that are not split into folds.
void check_fold(const GraphSettings& settings, const PackedItems& graphs);

// Lists the runs for `repeats` and `every_fold`. Throws UsageError for folds of data with a published split.
std::vector<PlannedRun> planned_runs(const GraphSettings& settings, const PackedItems& graphs);

struct RunResult {
  std::string name;
  NamedValues metrics;  // on the test split
  uint64_t seed = 0;
  int64_t fold = 0;
  int64_t count = 0;  // items in the test split
  GraphTask task = GraphTask::classification;
  int64_t parameters = 0, epochs = 0;
  double seconds = 0.0;  // of the training, including validation
};

// Keys that are used only with some data.
inline constexpr std::array<const char*, 2> keys_for_some_data = {"refit", "regression_loss"};

// Throws the errors of an experiment whose settings do not fit its data, before anything is trained. Returns the uses
// of keys_for_some_data.
std::vector<KeyUse> check_experiment(const GraphSettings& settings);

using RefuseUnused = std::function<void(const std::vector<KeyUse>&)>;

// Trains the rest of the experiment in `folder` (created or opened by the caller), evaluates every run on its test
// split, and writes result.json and pictures to its folder; several runs use subfolders, with a table of all runs in
// table.md and table.csv. With `refit` a run has a subfolder `selection`, trained without the validation split.
// `note` is printed before the training begins. A new experiment passes the keys that are used only with some data to
// `refuse_unused`, which may throw, before it trains. Finished runs are evaluated again. Throws Interrupted if a signal
// arrives. In distributed training only rank 0 evaluates: other ranks return no results.
std::vector<RunResult> run_experiment(const GraphSettings& settings, const RunFolder& folder, bool resume,
                                      at::Device device = at::kCPU, const Communicator& processes = one_process(),
                                      const std::string& note = "", const RefuseUnused& refuse_unused = {});

// Returns the epoch that a validation split of `items` items chooses: the last whose score is within one standard error
// of the best up to it, or one item if that is more; for scores that are no shares, the last of the best ones. A small
// split, which tells epochs apart by chance alone, then chooses the end of the training. Without validated epochs it is
// the last epoch.
int64_t chosen_epoch(const std::vector<MetricsRow>& rows, int64_t items, const ScoreStyle& style);

// Returns the seconds of the first epoch of the experiment's first run, including validation. The run stays in
// `folder`, which is new. Throws Interrupted if a signal arrives.
double seconds_of_an_epoch(const GraphSettings& settings, const RunFolder& folder, at::Device device);

// Returns table columns: number of parameters, epochs, and mean training time in seconds.
std::vector<std::pair<std::string, std::string>> cost_labels(const std::vector<RunResult>& results);

// Returns one row per run of a finished experiment and, for several runs, their mean.
std::vector<ResultRow> experiment_rows(const std::vector<RunResult>& results);

// Returns the mean of several runs in the format of a single one: {"task", "split", "count" (of all test splits of a
// repetition), "rotation", "repeats" (seeds), "folds", "metrics", "deviations", "runs": [{"name", "metrics"}, …]}.
nlohmann::json experiment_json(const std::vector<RunResult>& results);

// Returns mean and deviation, per metric, of the differences between `results` and the runs of `first` with the same
// seed and fold. Empty if there are no such pairs.
std::vector<std::pair<std::string, Summary>> paired_differences(const std::vector<RunResult>& results,
                                                                const std::vector<RunResult>& first);

}  // namespace geosft
