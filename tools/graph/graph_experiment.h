// SPDX-License-Identifier: Apache-2.0
// Learning on graphs and on sequences as experiments: their evaluation and report, and what their subcommands print.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "data/graphs/graph_formats.h"
#include "models/layers/primal_head_distance.h"
#include "models/training/metrics.h"
#include "tools/experiment/experiment_commands.h"
#include "tools/experiment/graph_evaluation.h"
#include "tools/graph/experiment_runs.h"
#include "tools/graph/graph_task.h"

namespace CLI {
class Option;
}

namespace geosft {

inline constexpr size_t max_shown_classes = 40;  // more do not fit in a table or picture

struct GraphReport {
  GraphTask task = GraphTask::classification;
  std::string split = "test";    // or train, validation, all
  std::string items = "graphs";  // item name of the dataset
  int64_t count = 0;             // items in the split; of all, those with a label
  NamedValues metrics;           // followed by the loss
  bool labelled = true;          // whether the target of any item is known
  at::Tensor confusion;          // int64 [classes, classes], rows: true class; undefined without classes
  int64_t renumberings = 0;
  double max_logit_difference = 0.0;  // between renumbered graphs and the originals
  double prediction_agreement = 1.0;  // share of equal predictions among them, for classes
  double items_per_second = 0.0;
  std::vector<PolynomialDegree> degrees = {};         // one per layer with polynomial attention
  std::vector<MeanHeadDistance> head_distances = {};  // one per layer with recorded heads (watch_heads)
  std::vector<ReliabilityBin> reliability = {};       // for classes, of their probabilities
};

// Receives the data of an evaluation, the items that were evaluated, and the outputs for them in this order.
using OutputsObserver = std::function<void(const PackedItems&, const std::vector<int64_t>&, const GraphOutputs&)>;

// Evaluates a split of a dataset, and `renumberings` times more with all nodes renumbered. `observe` is called
// with the outputs for the original graphs. Throws Interrupted if a signal arrives meanwhile.
GraphReport evaluate_graphs(GraphRun& trained, const PackedItems& graphs, const DatasetSplit& splits, GraphSplit split,
                            int64_t renumberings, const OutputsObserver& observe = {});

// Does the same for all items of a dataset that have a label. Throws DataError if none has.
GraphReport evaluate_all_graphs(GraphRun& trained, PackedItems graphs, int64_t renumberings,
                                const OutputsObserver& observe = {});

nlohmann::json report_json(const GraphReport& report, const ItemOutputs& outputs);
// Returns overall metrics, then, for classes, a table with one line per class.
std::string report_text(const GraphReport& report, const ItemOutputs& outputs);
// Returns "accuracy 87.9 %  macro_f1 …".
std::string metrics_text(const NamedValues& metrics);

// Lets an option that names a split take val and valid for the validation split. Called before its other checks.
CLI::Option* take_short_split_names(CLI::Option* option);

// The subcommand train: all runs of the experiment, each of which leaves its report in its own folder.
class GraphTrainCommand : public TrainCommand<GraphSettings> {
 protected:
  // Returns that of molecules for data with SMILES, unless an option is given that is for attention.
  std::string small_preset(const Config& options) const override;
  bool train(const RunFolder& folder) override;
  void report(const RunFolder& folder) override;

 private:
  std::vector<RunResult> results_;
};

// The same for sequences, whose defaults are those of the keys.
class SequenceTrainCommand : public GraphTrainCommand {
 public:
  // As that of graphs; the help leaves out options that are for graphs and molecules alone.
  void add_to(CLI::App& subcommand, const std::string& example);

 protected:
  std::string small_preset(const Config&) const override { return ""; }
  bool train(const RunFolder& folder) override;
};

// The options of predict, which takes items of the dataset, or graphs, molecules or series in its place.
struct GraphPredictOptions : RunArguments {
  std::string split = "all", csv, smiles_column;
  std::vector<std::string> files, smiles;
  std::vector<int64_t> chosen;  // of the dataset
  int64_t top = 3;              // classes that are shown
  bool fail_fast = false;

  void add_to(CLI::App& subcommand, const ItemWords& words);
  // Adds what replaces the dataset, which excludes --data, added before.
  void add_inputs_to(CLI::App& subcommand, const ItemWords& words);
  // Returns whether predictions are of the dataset.
  bool takes_dataset() const { return files.empty() && smiles.empty(); }
  // Prints the predictions, and returns the exit code. `program` is named in messages.
  int predict(GraphRun& trained, const char* program, const ItemWords& words) const;
};

template <class Experiment>
struct GraphPredictCommand {
  GraphPredictOptions options;
  Overrides<Experiment> overrides;

  void add_to(CLI::App& subcommand) {
    options.add_to(subcommand, Experiment::items);
    overrides.add_to(subcommand, "as for the other commands; the samples of predictions do not depend on it");
    options.add_inputs_to(subcommand, Experiment::items);
    check_run_first(subcommand, {Experiment::program, Experiment::example_file, Experiment::is_input});
  }
  int execute() const {
    GraphRun trained = overrides.load(options.run);
    if (options.takes_dataset()) overrides.require_data(trained, options.run);
    return options.predict(trained, Experiment::program, Experiment::items);
  }
};

// For their members see experiment_commands.h.
struct GraphExperiment {
  using Task = GraphLearning;
  using Train = GraphTrainCommand;
  using Predict = GraphPredictCommand<GraphExperiment>;

  struct Overrides {
    std::optional<std::string> split_name;

    void add_to(CLI::App& subcommand, const ItemWords& words);
    void apply(GraphSettings& settings) const {
      if (split_name) settings.splits.split_name = *split_name;
    }
  };
  struct EvalOptions {
    std::string split = "test", smiles_column;
    int64_t renumber = 0;
    bool heads = false;

    void add_to(CLI::App& subcommand, const ItemWords& words);
    // Adds what report has, too: --split and --smiles-column.
    void add_data_to(CLI::App& subcommand, const ItemWords& words);
  };
  struct Reading {
    GraphReadOptions options;

    Reading() { options.coalesce = false; }  // what a set lists is counted
    void add_to(CLI::App& subcommand, const ItemWords& words) {
      if (words.edges) add_read_options(subcommand, options);
    }
  };

  static constexpr TrainerHelp help{.description = "Learning on graphs by the Sampling Foundational Transformer",
                                    .train = "train a model on a graph dataset and leave it in a RUN folder",
                                    .eval = "metrics of a trained model on a split of a dataset",
                                    .predict = "what a trained model says of each graph of a dataset",
                                    .info = "what a RUN folder, a checkpoint or a graph dataset holds",
                                    .fetch = "download a published dataset, such as MUTAG"};
  static constexpr const char *program = Task::program, *seed_help = "of the renumberings",
                              *train_example = "--data DIR --epochs 50 --num-seeds 3 --cross-validation";
  static constexpr ItemWords items{"graph", "graphs", /*edges=*/true};
  static constexpr const char* example_file = "molecules.smi";  // of predict
  static bool is_input(const std::filesystem::path& file) { return has_graph_ending(file); }

  static std::string data_help() { return "dataset: a folder"; }
  static std::string info_help() {
    return "RUN folder, checkpoint (*.ckpt), a graph dataset, or one graph as encode takes it";
  }

  // Takes what the model standardises its inputs and targets by.
  static void initialize(GraphModel& model, const GraphTrainingData& data);
  static std::unique_ptr<TrainingTask> make_task(const GraphModel& model, const GraphTrainingData& data,
                                                 const GraphSettings& settings, const Communicator& processes);

  static GraphReport report(GraphRun& trained, const EvalOptions& options, const OutputsObserver& observe = {});
  // Draws the confusion matrix; prints a line to stderr if gnuplot is missing.
  static void draw(const GraphReport& report, const ItemOutputs& outputs, const RunFolder& folder);

  // Returns what a page calls the task: "node classification".
  static std::string title(const ItemOutputs& outputs);
  static std::string item_words(const ItemOutputs& outputs) { return outputs.schema.items; }
  static std::string outputs_text(const ItemOutputs& outputs) {
    return "trained on " + schema_text(outputs.schema) + "\n";
  }
  static nlohmann::json run_json(const std::filesystem::path& run, const std::string& config,
                                 const ItemOutputs& outputs, int64_t parameters);
  static bool holds_data(const std::filesystem::path&) { return false; }
  static void print_data(const std::filesystem::path& data, const Reading& reading, bool json);
  // Returns the table of the results that `sweep` left in a folder, beside its runs; empty for other folders.
  static std::filesystem::path sweep_table(const std::filesystem::path& folder);
};

// Sequences are graphs without edges whose nodes stand in their order.
struct SequenceExperiment : GraphExperiment {
  using Train = SequenceTrainCommand;
  using Predict = GraphPredictCommand<SequenceExperiment>;

  static constexpr TrainerHelp help{
      .description = "Learning on sequences by the Sampling Foundational Transformer and the primal-dual attentions",
      .train = "train a model on a dataset of sequences and leave it in a RUN folder",
      .eval = GraphExperiment::help.eval,
      .predict = "what a trained model says of each sequence of a dataset",
      .info = "what a RUN folder, a checkpoint or a dataset holds",
      .fetch = "download a published dataset, such as BasicMotions"};
  static constexpr const char *program = "geosft-sequence",
                              *seed_help = "not used: samples depend on the item and the vote",
                              *train_example = "--data DIR --attention bn_sh --epochs 50 --num-seeds 3";
  static constexpr ItemWords items{"sequence", "sequences"};
  static constexpr const char* example_file = "series.ts";
  static bool is_input(const std::filesystem::path& file);

  static std::string info_help() { return "RUN folder, checkpoint (*.ckpt), or a dataset of sequences"; }
  static void print_data(const std::filesystem::path& data, const Reading& reading, bool json) {
    if (sweep_table(data).empty()) require_sequences(data.string());
    GraphExperiment::print_data(data, reading, json);
  }
};

// Further subcommands: node encodings of a dataset, and several configurations with a table of their results.
Command add_encode_command(CLI::App& subcommand);
// `has_preset`: without a configuration a sweep begins as train does (small_preset).
Command add_graph_sweep_command(CLI::App& subcommand, const std::string& example, bool has_preset);
template <class Experiment>
inline constexpr Subcommand sweep_subcommand{
    "sweep", "train several configurations and tabulate their results", [](CLI::App& subcommand) {
      return add_graph_sweep_command(subcommand,
                                     Experiment::items.edges
                                         ? "--vary score=maxout,dot --vary probability=leaky_relu,softmax "
                                           "--set num_seeds=3"
                                         : "--vary attention=softmax,bn,sh,bn_sh --set num_seeds=5",
                                     Experiment::items.edges);
    }};

}  // namespace geosft
