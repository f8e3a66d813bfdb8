// SPDX-License-Identifier: Apache-2.0
// An experiment: one run, or one for every seed and fold, in folders of their own.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "models/training/communicator.h"
#include "tools/graph/graph_report.h"
#include "tools/graph/result_table.h"

namespace geosft {

struct PlannedRun {
  std::string name;  // of its folder: "seed_1", "fold_3", "seed_1_fold_3"; empty for the only run
  GraphSettings settings;
};

// What `repeats` and `every_fold` ask for. Throws UsageError for folds of data with a published split.
std::vector<PlannedRun> planned_runs(const GraphSettings& settings, const PackedGraphs& graphs);

struct RunResult {
  std::string name;
  NamedValues metrics;  // of the test part
};

// Trains what is left of the experiment in `folder` (which the caller has made or opened), evaluates every run on its
// test part, and leaves result.json and pictures in its folder; several runs lie in folders below, with a table of them
// all in table.md and table.csv. A finished run is evaluated again. Throws Interrupted when a signal comes. Of several
// processes that train together the leading one evaluates: the others have no results.
std::vector<RunResult> run_experiment(const GraphSettings& settings, const RunFolder& folder, bool resume,
                                      at::Device device = at::kCPU, const Communicator& processes = one_process());

// The runs of a finished experiment, and, for several, their mean.
std::vector<ResultRow> experiment_rows(const std::vector<RunResult>& results);

}  // namespace geosft
