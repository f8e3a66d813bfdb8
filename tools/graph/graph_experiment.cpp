// SPDX-License-Identifier: Apache-2.0
#include "tools/graph/graph_experiment.h"

#include <ATen/Context.h>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "data/atomic_file.h"
#include "models/summary.h"
#include "tools/experiment/arguments.h"
#include "tools/experiment/batch_size_finder.h"
#include "tools/experiment/fine_tuning.h"
#include "tools/experiment/main_guard.h"
#include "tools/experiment/plots.h"
#include "tools/experiment/training_run.h"
#include "tools/graph/graph_task.h"

namespace geosft {
namespace {

bool train_once(const GraphSettings& settings, const PackedItems& graphs, const DatasetSplit& split,
                const RunFolder& folder, RunStart start, at::Device device, const Communicator& processes) {
  at::manual_seed(settings.seed);
  GraphModel model(settings.graph_model(graphs.schema));
  const LabelledItems training = labelled_items(graphs, split.train);
  model->standardize(training, graphs.schema.task == GraphTask::regression ? training.target : at::Tensor());
  model->to(device);
  const RunDescription run = describe_graph_run(settings, graphs.schema, !split.validation.empty());
  const bool resumes = start == RunStart::resumed && std::filesystem::exists(folder.last_checkpoint());
  const std::string origin = start_from_run(*model, settings.train, run, resumes);
  GraphTraining task(model, graphs, split, settings, processes);
  TrainingOptions options = settings.train.options(settings.seed);
  options.step_graphs = step_graphs(settings.train, device);
  TrainingLoop loop(task, options, processes);
  return train_in_folder(
      loop, *model, folder, run, start,
      std::string(task_name(graphs.schema.task)) + ": training on " + std::to_string(split.train.size()) + " " +
          graphs.schema.items + ", validation on " + std::to_string(split.validation.size()) + ", test on " +
          std::to_string(split.test.size()) + ", " + std::to_string(parameter_count(*model)) + " parameters" + origin);
}

// Trains one run to its end; returns false if a signal arrived.
bool train_run(GraphSettings settings, const PackedItems& graphs, const DatasetSplit& split, const RunFolder& folder,
               bool resume, at::Device device, const Communicator& processes) {
  return train_within_memory(settings.train.batch_size, resume ? RunStart::resumed : RunStart::fresh, processes,
                             [&](int64_t batch_size, RunStart start, const Communicator& together) {
                               settings.train.batch_size = batch_size;
                               return train_once(settings, graphs, split, folder, start, device, together);
                             });
}

// Evaluates the test split and writes the report to the folder.
RunResult result_of(const PlannedRun& planned, const PackedItems& graphs, const DatasetSplit& split,
                    const RunFolder& folder, at::Device device) {
  GraphRunModel trained = load_graph_run(folder.path());
  trained.model->to(device);
  const GraphReport report = evaluate_graphs(trained, graphs, split, Part::test, 0);
  draw_report(report, trained.schema.output_names, folder);
  const PlotResult curves = plot_learning_curves(folder.metrics(), folder.learning_curves(),
                                                 score_style(trained.schema, trained.settings.train.metric));
  if (!curves.drawn) std::cerr << "no picture: " << curves.reason << '\n';
  folder.write_result(report_json(report).dump() + "\n");
  return {planned.name.empty() ? folder.path().filename().string() : planned.name,
          report.metrics,
          planned.settings.seed,
          planned.settings.splits.fold,
          report.count,
          report.task,
          parameter_count(*trained.model),
          planned.settings.train.epochs,
          read_metrics(folder.metrics()).back().seconds};
}

DatasetSplit checked_split(const PackedItems& graphs, const SplitSettings& splits) {
  DatasetSplit split = split_of(graphs, splits);
  if (split.train.empty() || split.test.empty()) throw UsageError("the data need a training and a test part");
  return split;
}

RunFolder run_folder_of(const PlannedRun& planned, const RunFolder& folder, bool& resume,
                        const Communicator& processes) {
  if (planned.name.empty()) return folder;
  const std::filesystem::path path = folder.path() / planned.name;
  resume = resume && std::filesystem::exists(path / "config.toml");
  return open_run_folder(path, resume, processes);
}

// Returns nullopt on ranks other than 0.
std::optional<RunResult> finished_run(const PlannedRun& planned, const PackedItems& graphs, const RunFolder& parent,
                                      bool resume, at::Device device, const Communicator& processes) {
  const RunFolder folder = run_folder_of(planned, parent, resume, processes);
  if (!planned.name.empty() && processes.is_root()) std::cerr << "\nrun " << planned.name << '\n';
  const DatasetSplit split = checked_split(graphs, planned.settings.splits);
  if (!train_or_clean(folder, processes,
                      [&] { return train_run(planned.settings, graphs, split, folder, resume, device, processes); })) {
    throw Interrupted("saved in " + folder.last_checkpoint().string() + ": continue with train --resume --out " +
                      parent.path().string());
  }
  if (!processes.is_root()) return std::nullopt;
  return result_of(planned, graphs, split, folder, device);
}

}  // namespace

std::vector<PlannedRun> planned_runs(const GraphSettings& settings, const PackedItems& graphs) {
  if (settings.every_fold && (graphs.split || graphs.node_split.defined())) {
    throw UsageError("cross_validation needs data without a published split");
  }
  std::vector<PlannedRun> runs;
  const int64_t folds = settings.every_fold ? settings.splits.folds : 1;
  for (int64_t repeat = 0; repeat < settings.repeats; ++repeat) {
    for (int64_t fold = 0; fold < folds; ++fold) {
      PlannedRun run{"", settings};
      run.settings.repeats = 1;
      run.settings.every_fold = false;
      run.settings.seed = settings.seed + static_cast<uint64_t>(repeat);
      if (settings.repeats > 1) run.name = "seed_" + std::to_string(run.settings.seed);
      if (settings.every_fold) {
        run.settings.splits.fold = fold;
        run.name += (run.name.empty() ? "fold_" : "_fold_") + std::to_string(fold);
      }
      runs.push_back(run);
    }
  }
  return runs;
}

std::vector<RunResult> run_experiment(const GraphSettings& settings, const RunFolder& folder, bool resume,
                                      at::Device device, const Communicator& processes) {
  const PackedItems graphs = root_first(processes, [&] { return open_encoded_graphs(settings); });
  score_style(graphs.schema.task, settings.train.metric);  // validates the metric before training
  settings.graph_model(graphs.schema);                     // validates the model before training
  const std::vector<PlannedRun> planned = planned_runs(settings, graphs);
  GraphSettings shown = settings;
  if (planned.size() > 1 && processes.is_root()) folder.write_config(shown.config().to_toml());
  std::vector<RunResult> results;
  for (const PlannedRun& run : planned) {
    const std::optional<RunResult> result = finished_run(run, graphs, folder, resume, device, processes);
    if (result) results.push_back(*result);
  }
  if (results.size() > 1) {
    const std::vector<ResultRow> rows = experiment_rows(results);
    write_file_atomically(folder.path() / "table.md", markdown_table(rows));
    write_file_atomically(folder.path() / "table.csv", csv_table(rows));
  }
  return results;
}

double seconds_of_an_epoch(const GraphSettings& settings, const RunFolder& folder, at::Device device) {
  const PackedItems graphs = open_encoded_graphs(settings);
  PlannedRun first = planned_runs(settings, graphs).front();
  first.settings.train.epochs = 1;
  const DatasetSplit split = checked_split(graphs, first.settings.splits);
  if (!train_run(first.settings, graphs, split, folder, /*resume=*/false, device, one_process())) {
    throw Interrupted("before the time of an epoch was known");
  }
  return read_metrics(folder.metrics()).back().seconds;
}

std::vector<std::pair<std::string, std::string>> cost_labels(const std::vector<RunResult>& results) {
  double seconds = 0;
  for (const RunResult& result : results) seconds += result.seconds / static_cast<double>(results.size());
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << seconds;
  return {{"parameters", std::to_string(results.front().parameters)},
          {"epochs", std::to_string(results.front().epochs)},
          {"seconds", text.str()}};
}

std::vector<ResultRow> experiment_rows(const std::vector<RunResult>& results) {
  std::vector<ResultRow> rows;
  std::vector<NamedValues> all;
  for (const RunResult& result : results) {
    rows.push_back(summarized(result.name, {result.metrics}));
    all.push_back(result.metrics);
  }
  if (results.size() > 1) rows.push_back(summarized("mean ± deviation", all));
  return rows;
}

nlohmann::json experiment_json(const std::vector<RunResult>& results) {
  std::set<uint64_t> seeds;
  std::set<int64_t> folds;
  int64_t count = 0;
  nlohmann::json runs = nlohmann::json::array();
  for (const RunResult& result : results) {
    seeds.insert(result.seed);
    folds.insert(result.fold);
    count += result.count;
    nlohmann::json run{{"name", result.name}};
    for (const auto& [metric, value] : result.metrics) run["metrics"][metric] = value;
    runs.push_back(run);
  }
  const auto repeats = static_cast<int64_t>(seeds.size());
  nlohmann::json json{{"task", task_name(results.front().task)},
                      {"split", "test"},
                      {"count", count / repeats},
                      {"rotation", "none"},
                      {"repeats", repeats},
                      {"folds", folds.size()},
                      {"runs", runs}};
  const std::vector<ResultRow> rows = experiment_rows(results);
  for (const auto& [metric, value] : rows.back().values) {
    json["metrics"][metric] = value.mean;
    if (!std::isnan(value.deviation)) json["deviations"][metric] = value.deviation;
    if (value.counted < value.runs) json["counted_runs"][metric] = value.counted;
  }
  return json;
}

std::vector<std::pair<std::string, Summary>> paired_differences(const std::vector<RunResult>& results,
                                                                const std::vector<RunResult>& first) {
  std::vector<NamedValues> differences;
  for (const RunResult& result : results) {
    const auto partner = std::find_if(first.begin(), first.end(), [&](const RunResult& other) {
      return other.seed == result.seed && other.fold == result.fold;
    });
    if (partner == first.end()) continue;
    NamedValues& less = differences.emplace_back();
    for (const auto& [metric, value] : result.metrics) {
      less.emplace_back(metric, value - value_of(partner->metrics, metric));
    }
  }
  return differences.empty() ? std::vector<std::pair<std::string, Summary>>{} : summarized("", differences).values;
}

}  // namespace geosft
