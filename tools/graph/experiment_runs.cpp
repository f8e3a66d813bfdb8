// SPDX-License-Identifier: Apache-2.0
#include "tools/graph/experiment_runs.h"

#include <ATen/Context.h>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "data/atomic_file.h"
#include "data/seeds.h"
#include "models/summary.h"
#include "tools/experiment/arguments.h"
#include "tools/experiment/main_guard.h"
#include "tools/graph/graph_experiment.h"
#include "tools/graph/label_counts.h"

namespace geosft {
namespace {

constexpr int64_t max_described = 3;  // labels that are counted before a training

// Limits the epochs, so that the run takes about max_steps steps.
void limit_epochs(GraphTrainSettings& train, const PackedItems& graphs, const std::vector<int64_t>& items, bool says) {
  if (train.max_steps == 0) return;
  const GraphLoaderOptions batches{.batch_size = train.batch_size, .batch_nodes = train.batch_nodes};
  const int64_t steps = std::max<int64_t>(1, GraphLoader(graphs, items, batches).batches_per_epoch());
  if (says && train.max_steps < steps) {
    stderr_notes().print("max_steps " + std::to_string(train.max_steps) + " is less than an epoch, which has " +
                         std::to_string(steps) + " steps: one epoch is trained");
  }
  train.epochs = std::min(train.epochs, std::max<int64_t>(1, train.max_steps / steps));
}

// Trains one run to its end, or for the first `epochs` of those that its schedule has, if that is not 0. Returns false
// if a signal arrived.
bool train_run(GraphSettings settings, const PackedItems& graphs, const DatasetSplit& split, const RunFolder& folder,
               bool resume, at::Device device, const Communicator& processes, int64_t epochs = 0) {
  limit_epochs(settings.train, graphs, split.train, processes.is_root());
  const GraphTrainingData data{graphs, split, {graphs.schema}};
  const auto opened = [&](const Communicator&) -> const GraphTrainingData& { return data; };
  return train_model_within_memory<GraphExperiment>(settings, opened, folder, resume, device, processes, epochs);
}

// Returns the run whose weights a new model `number` of an ensemble begins with, where `init_from` is that of the
// first: the model of that number if it is an ensemble with one, otherwise the same. Empty without a run to begin with.
std::string initial_run(const std::string& init_from, int64_t number) {
  if (init_from.empty()) return init_from;
  const std::filesystem::path member = ensemble_folder(resolve_run(init_from), number);
  return std::filesystem::exists(member / "best.ckpt") ? member.string() : init_from;
}

// Returns the run whose weights the model of a RUN folder began with.
std::string recorded_initial_run(const std::filesystem::path& path) {
  GraphSettings recorded;
  recorded.config().load_run_toml(RunFolder::open(path).config());
  return recorded.train.init_from;
}

// Trains the models of an ensemble, each in its own folder; `epochs` as in train_run.
bool train_all_models(const GraphSettings& settings, const PackedItems& graphs, const DatasetSplit& split,
                      const RunFolder& folder, bool resume, at::Device device, const Communicator& processes,
                      int64_t epochs) {
  if (!train_run(settings, graphs, split, folder, resume, device, processes, epochs)) return false;
  for (int64_t number = 1; number < settings.ensemble; ++number) {
    GraphSettings single = settings;
    single.ensemble = 1;
    // Configurations hold seeds of 63 bits.
    single.seed = combine_seeds({settings.seed, static_cast<uint64_t>(number)}) >> 1;
    const std::filesystem::path path = ensemble_folder(folder.path(), number);
    const bool again = resume && RunFolder::holds_run(path);
    // The first ensemble may have moved since.
    single.train.init_from = again ? recorded_initial_run(path) : initial_run(settings.train.init_from, number);
    const RunFolder own = open_run_folder(path, again, processes);
    if (processes.is_root()) {
      std::cerr << "\nmodel " << number + 1 << " of an ensemble of " << settings.ensemble << '\n';
    }
    if (!train_run(single, graphs, split, own, again, device, processes, epochs)) return false;
  }
  return true;
}

// Fits the kernel regression of the run, unless it has one, and chooses its weight on the validation split.
void fit_kernel(const PlannedRun& planned, const PackedItems& graphs, const DatasetSplit& split,
                const RunFolder& folder) {
  if (!planned.settings.molecules.kernel_ridge) return;
  if (!kernel_obstacle(graphs, static_cast<int64_t>(split.train.size())).empty()) return;  // which was said before
  GraphKernel kernel;
  kernel.load(folder.path());
  if (!kernel.regression) {
    std::cerr << "fitting a kernel ridge regression to " << split.train.size()
              << (graphs.smiles.empty() ? " graphs\n" : " molecules\n");
    kernel.regression = std::make_shared<const KernelRidge>(fit_graph_kernel(graphs, split.train, planned.settings));
    const MoleculeSettings& molecules = planned.settings.molecules;
    if (molecules.random_forest && molecules.fingerprint != "none" && graphs.schema.task == GraphTask::multi_label) {
      std::cerr << "training a random forest beside it\n";
      kernel.forest = std::make_shared<const RandomForest>(fit_graph_forest(graphs, split.train, planned.settings));
    }
  }
  std::ostringstream text;
  text << "kernel ridge regression: share of the fingerprints' kernel "
       << kernel.regression->mixture()[2].mean().item<double>() << ", ridge "
       << kernel.regression->ridge().mean().item<double>();
  if (!split.validation.empty()) {
    GraphRun networks = load_graph_run(folder.path());
    networks.companion = {};
    const GraphOutputs outputs = run_outputs(networks, graphs, split.validation, GraphSplit::validation);
    const at::Tensor features = graphs.graph_features.index_select(0, at::tensor(split.validation, at::kLong));
    const GraphTask task = graphs.schema.task;
    const auto loss = [&](double weight, const at::Tensor& predictions) {
      kernel.weight = weight;
      const GraphOutputs both{kernel.averaged(networks.model, task, outputs.outputs, predictions), outputs.targets};
      return evaluation_loss(networks.model, task, both, planned.settings.train.evaluation_loss());
    };
    kernel.choose_weights(features, loss, text);
  }
  kernel.save(folder.path());
  text << "; weight " << kernel.weight << '\n';
  std::cerr << text.str();
  folder.append_log(text.str());
}

// Evaluates the test split and writes the report to the folder.
RunResult result_of(const PlannedRun& planned, const PackedItems& graphs, const DatasetSplit& split,
                    const RunFolder& folder, at::Device device) {
  GraphRun trained = load_graph_run(folder.path());
  trained.to(device);
  const GraphReport report = evaluate_graphs(trained, graphs, split, GraphSplit::test, 0);
  leave_report<GraphExperiment>(folder, report, trained);
  return {planned.name.empty() ? folder.path().filename().string() : planned.name,
          report.metrics,
          planned.settings.seed,
          planned.settings.splits.fold,
          report.count,
          report.task,
          parameter_count(*trained.model) * planned.settings.ensemble,
          read_metrics(folder.metrics()).back().epoch,
          read_metrics(folder.metrics()).back().seconds};
}

DatasetSplit checked_split(const PackedItems& graphs, const SplitSettings& splits) {
  DatasetSplit split = split_of(graphs, splits);
  if (split.train.empty() || split.test.empty()) throw UsageError("the data need a training and a test split");
  return split;
}

RunFolder run_folder_of(const PlannedRun& planned, const RunFolder& folder, bool& resume,
                        const Communicator& processes) {
  if (planned.name.empty()) return folder;
  const std::filesystem::path path = folder.path() / planned.name;
  resume = resume && std::filesystem::exists(path / "config.toml");
  return open_run_folder(path, resume, processes);
}

[[noreturn]] void stop_interrupted(const RunFolder& folder) {
  std::filesystem::path saved = folder.last_checkpoint();
  for (int64_t number = 1; RunFolder::holds_run(ensemble_folder(folder.path(), number)); ++number) {
    saved = RunFolder::open(ensemble_folder(folder.path(), number)).last_checkpoint();
  }
  throw Interrupted("saved in " + saved.string());
}

// Trains on what is not held out, in the subfolder `selection`, and returns the number of epochs that the validation
// split chooses.
int64_t selected_epochs(const PlannedRun& planned, const PackedItems& graphs, const DatasetSplit& split,
                        const RunFolder& folder, at::Device device, const Communicator& processes) {
  GraphSettings shown = planned.settings;
  if (processes.is_root()) folder.write_config(shown.config().to_toml());
  processes.barrier();
  PlannedRun selection = planned;
  selection.name = "selection";
  bool resume = true;
  const RunFolder inner = run_folder_of(selection, folder, resume, processes);
  if (!train_run(planned.settings, graphs, split, inner, resume, device, processes)) stop_interrupted(inner);
  int64_t epochs = 0;
  if (processes.is_root()) {
    epochs = chosen_epoch(read_metrics(inner.metrics()), static_cast<int64_t>(split.validation.size()),
                          score_style(graphs.schema, planned.settings.train.metric));
    std::cerr << "the validation split chooses " << epochs << (epochs == 1 ? " epoch" : " epochs")
              << "; training anew on all\n";
  }
  return processes.broadcast(at::scalar_tensor(epochs, at::kLong)).item<int64_t>();
}

// Returns whether a model of sequences has nothing that tells the order of the tokens of an item.
bool ignores_order(const ItemSchema& schema, const GraphModelSettings& model) {
  if (schema.items != "sequences" || model.positions != NodePositions::none) return false;
  const PrimalOptions primal = model.layer().primal;
  const bool pools = !primal.pool.empty() && primal.pooling != PoolingKind::k_means;
  return !pools && primal.mask == MaskKind::none && primal.convolution == ConvolutionKind::none &&
         !model.polynomial.causal;
}

// Returns nullopt on ranks other than 0.
std::optional<RunResult> finished_run(const PlannedRun& planned, const PackedItems& graphs, const RunFolder& parent,
                                      bool resume, at::Device device, const Communicator& processes) {
  const RunFolder folder = run_folder_of(planned, parent, resume, processes);
  if (!planned.name.empty() && processes.is_root()) {
    std::cerr << "\nrun " << planned.name << ", " << planned.number << " of " << planned.count
              << "; the time left is that of this run\n";
  }
  DatasetSplit split = checked_split(graphs, planned.settings.splits);
  if (processes.is_root()) {
    for (const std::string& warning :
         {few_items_warning(graphs, split, GraphSplit::test), shared_molecules_warning(graphs, split)}) {
      if (!warning.empty()) std::cerr << planned.settings.data << ": " << warning << '\n';
    }
    for (const auto& warnings : {empty_classes_warnings(graphs, split), one_sided_labels_warnings(graphs, split)}) {
      for (const std::string& warning : warnings) std::cerr << planned.settings.data << ": " << warning << '\n';
    }
  }
  const auto train = [&] {
    int64_t epochs = 0;
    if (planned.settings.splits.refit && !split.validation.empty()) {
      epochs = selected_epochs(planned, graphs, split, folder, device, processes);
      split = refitted(std::move(split));
      // The configuration exists already: only these files tell that this training has begun.
      resume = resume && processes.any(std::filesystem::exists(folder.last_checkpoint()) ||
                                       std::filesystem::exists(folder.metrics()));
    }
    return train_all_models(planned.settings, graphs, split, folder, resume, device, processes, epochs);
  };
  if (!train_or_clean(folder, processes, train)) stop_interrupted(folder);
  if (!processes.is_root()) return std::nullopt;
  fit_kernel(planned, graphs, split, folder);
  return result_of(planned, graphs, split, folder, device);
}

// Returns whether no column of labels [n, columns], NaN where unknown, has two values.
bool has_constant_labels(const at::Tensor& target) {
  if (target.size(0) == 0) return false;
  const at::Tensor labels = target.to(at::kDouble);
  const double infinity = std::numeric_limits<double>::infinity();
  const at::Tensor smallest = labels.nan_to_num(infinity).amin(0), largest = labels.nan_to_num(-infinity).amax(0);
  return smallest.ge(largest).all().item<bool>();
}

// Throws DataError naming `data` where there is nothing to tell apart.
void require_two_labels(const PackedItems& graphs, const std::string& data) {
  if (has_classes(graphs.schema.task) && graphs.schema.outputs() < 2) {
    throw DataError(data, "at least two classes", std::to_string(graphs.schema.outputs()));
  }
  if (graphs.schema.task == GraphTask::multi_label && has_constant_labels(graphs.target)) {
    throw DataError(data, "labels of two values", "one value of all known labels");
  }
}

// The graphs of an experiment and its runs, of which it is known that they fit each other.
struct PlannedExperiment {
  TrainingGraphs opened;
  std::vector<PlannedRun> runs;
  DatasetSplit split;           // of the first run
  std::string kernel_obstacle;  // why a kernel regression that is asked for is left out; empty: it is not
};

// Returns the uses of keys_for_some_data. `split` is that of the first run.
std::vector<KeyUse> data_uses(const GraphSettings& settings, const PackedItems& graphs, const DatasetSplit& split) {
  const GraphTask task = graphs.schema.task;
  return {{{"refit"},
           !settings.splits.refit || !split.validation.empty(),
           "a validation split",
           "data without one (--validation-fraction 0.2 holds one out)"},
          {{"regression_loss"}, task == GraphTask::regression, "regression", has_classes(task) ? "classes" : "labels"}};
}

// Opens the graphs. Throws the errors of settings that do not fit them.
PlannedExperiment plan_experiment(const GraphSettings& settings, bool resume, const Communicator& processes) {
  TrainingGraphs opened = root_first(processes, [&] { return open_training_graphs(settings); });
  const PackedItems& graphs = opened.graphs;
  score_style(graphs.schema.task, settings.train.metric);  // validates the metric
  opened.settings.graph_model(graphs.schema);              // validates the model
  if (!resume) {                                           // runs of earlier versions may have them
    require_two_labels(graphs, settings.data);
    check_fold(opened.settings, graphs);
  }
  std::vector<PlannedRun> runs = planned_runs(opened.settings, graphs);
  DatasetSplit split = checked_split(graphs, runs.front().settings.splits);
  std::string obstacle;
  if (opened.settings.molecules.kernel_ridge) {
    obstacle = kernel_obstacle(graphs, static_cast<int64_t>(split.train.size()));
  }
  return {std::move(opened), std::move(runs), std::move(split), std::move(obstacle)};
}

}  // namespace

std::vector<KeyUse> check_experiment(const GraphSettings& settings) {
  const PlannedExperiment plan = plan_experiment(settings, /*resume=*/false, one_process());
  return data_uses(plan.opened.settings, plan.opened.graphs, plan.split);
}

void check_fold(const GraphSettings& settings, const PackedItems& graphs) {
  const SplitKind split = settings.splits.split;
  const bool without_file = split == SplitKind::automatic && !graphs.split && graphs.smiles.empty();
  const bool of_folds = (split == SplitKind::folds || without_file) && !graphs.node_split.defined();
  if (settings.splits.fold == 0 || of_folds || settings.cross_validation) return;
  throw UsageError("fold " + std::to_string(settings.splits.fold) +
                   " is for split folds (--split folds), and the data are split otherwise");
}

std::vector<PlannedRun> planned_runs(const GraphSettings& settings, const PackedItems& graphs) {
  const SplitKind split = settings.splits.split;
  const bool automatic = split == SplitKind::automatic;
  if (settings.cross_validation && !automatic && split != SplitKind::folds) {
    throw UsageError(std::string("cross_validation needs split folds, found ") + name_of(split));
  }
  if (settings.cross_validation && ((automatic && graphs.split) || graphs.node_split.defined())) {
    throw UsageError(graphs.node_split.defined()
                         ? "cross_validation needs a split of graphs, and here nodes are split"
                         : "cross_validation needs --split folds, since the data have a split of their own");
  }
  std::vector<PlannedRun> runs;
  const int64_t folds = settings.cross_validation ? settings.splits.folds : 1;
  for (int64_t repeat = 0; repeat < settings.num_seeds; ++repeat) {
    for (int64_t fold = 0; fold < folds; ++fold) {
      PlannedRun run{"", settings};
      run.settings.num_seeds = 1;
      run.settings.cross_validation = false;
      run.settings.seed = settings.seed + static_cast<uint64_t>(repeat);
      if (settings.num_seeds > 1) run.name = "seed_" + std::to_string(run.settings.seed);
      if (settings.cross_validation) {
        run.settings.splits.fold = fold;
        run.settings.splits.split = SplitKind::folds;
        run.name += (run.name.empty() ? "fold_" : "_fold_") + std::to_string(fold);
      }
      run.number = static_cast<int64_t>(runs.size()) + 1;
      run.count = settings.num_seeds * folds;
      runs.push_back(run);
    }
  }
  return runs;
}

std::vector<RunResult> run_experiment(const GraphSettings& settings, const RunFolder& folder, bool resume,
                                      at::Device device, const Communicator& processes, const std::string& note,
                                      const RefuseUnused& refuse_unused) {
  const auto [opened, planned, split, obstacle] = plan_experiment(settings, resume, processes);
  const PackedItems& graphs = opened.graphs;
  if (refuse_unused && !resume) refuse_unused(data_uses(opened.settings, graphs, split));
  if (!obstacle.empty() && processes.is_root()) std::cerr << "kernel_ridge is left out: " << obstacle << '\n';
  const MoleculeSettings& features = opened.settings.molecules;
  if (!features.head_features && !features.kernel_ridge && features.names_features() && processes.is_root()) {
    std::cerr << "fingerprint, descriptors and statistics are left out: head_features and kernel_ridge are false\n";
  }
  for (const std::string& said : {note, opened.derived}) {
    if (!said.empty() && processes.is_root()) std::cerr << said << '\n';
  }
  if (processes.is_root() && ignores_order(graphs.schema, opened.settings.model)) {
    std::cerr << "positions none: this model does not see the order of the " << (graphs.pictures ? "patches" : "steps")
              << ": use --positions added\n";
  }
  if (processes.is_root() && graphs.schema.outputs() <= max_described) {
    for (const std::string& line : label_lines(graphs, split, max_described)) std::cerr << line << '\n';
  }
  const double fraction = opened.settings.splits.validation_fraction;
  if (!is_automatic(fraction) && fraction > 0 && !resume && processes.is_root()) {
    SplitSettings published = planned.front().settings.splits;
    published.validation_fraction = 0;
    if (!checked_split(graphs, published).validation.empty()) {
      std::cerr << "validation_fraction is not used: the split has a validation part of its own\n";
    }
  }
  GraphSettings shown = opened.settings;
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

int64_t chosen_epoch(const std::vector<MetricsRow>& rows, int64_t items, const ScoreStyle& style) {
  double best = -std::numeric_limits<double>::infinity();
  int64_t chosen = rows.empty() ? 0 : rows.back().epoch;
  const auto count = static_cast<double>(items);
  for (const MetricsRow& row : rows) {
    if (row.split != "validation" || std::isnan(row.score)) continue;
    const double score = style.value(row.score);  // higher is better
    best = std::max(best, score);
    const double share = (best * count + 1.0) / (count + 2.0);
    const double error = style.share ? std::max(std::sqrt(share * (1.0 - share) / count), 1.0 / count) : 0.0;
    if (score >= best - error - 1e-9) chosen = row.epoch;
  }
  return chosen;
}

double seconds_of_an_epoch(const GraphSettings& settings, const RunFolder& folder, at::Device device) {
  const TrainingGraphs opened = open_training_graphs(settings);
  const PackedItems& graphs = opened.graphs;
  PlannedRun first = planned_runs(opened.settings, graphs).front();
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
