// SPDX-License-Identifier: Apache-2.0
#include "tools/graph/graph_experiment.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <set>
#include <sstream>

#include "data/data_error.h"
#include "data/graphs/molecule_table.h"
#include "data/graphs/tu_dataset.h"
#include "data/read_file.h"
#include "data/safe_join.h"
#include "tools/experiment/arguments.h"
#include "tools/experiment/graph_presets.h"
#include "tools/experiment/main_guard.h"
#include "tools/experiment/plots.h"
#include "tools/experiment/report_texts.h"

namespace geosft {
namespace {

// Returns the items of which a target is known.
std::vector<int64_t> labelled_items_of(const PackedItems& graphs) {
  const at::Tensor known = known_targets(graphs.schema.task, graphs.target);
  at::Tensor items = known.div(graphs.target.dim() == 2 ? graphs.target.size(1) : 1, "floor");  // or nodes
  if (is_of_nodes(graphs.schema.task)) {
    items = at::searchsorted(graphs.graphs.ptr, items, /*out_int32=*/false, /*right=*/true) - 1;
  }
  items = std::get<0>(at::_unique(items, /*sorted=*/true)).contiguous();
  return {items.const_data_ptr<int64_t>(), items.const_data_ptr<int64_t>() + items.numel()};
}

// Returns whether the data are those in the configuration of the RUN; false for a checkpoint apart from its RUN.
bool is_training_data(const GraphRun& trained) {
  const std::filesystem::path run = trained.split_file.parent_path();
  if (!RunFolder::holds_run(run)) return false;
  GraphSettings recorded;
  recorded.config().load_run_toml(RunFolder::open(run).config());
  std::error_code absent;
  return std::filesystem::equivalent(recorded.data, trained.settings.data, absent);
}

// Returns how many molecules of other data have a label and the SMILES of one that was trained on, by split.csv.
int64_t known_molecules(const GraphRun& trained, const PackedItems& graphs, const std::vector<int64_t>& labelled) {
  if (graphs.smiles.empty()) return 0;
  std::vector<std::string> names;
  for (const int64_t item : labelled) names.push_back(graphs.smiles[static_cast<size_t>(item)]);
  return known_training_items(trained.split_file, names);
}

std::vector<ReliabilityBin> reliability_of(const GraphOutputs& outputs) {
  const at::Tensor rows = (outputs.targets >= 0).nonzero().squeeze(1);
  return reliability_of_logits(outputs.outputs.index_select(0, rows), outputs.targets.index_select(0, rows));
}

at::Tensor confusion_of(const GraphOutputs& outputs) {
  const int64_t classes = outputs.outputs.size(1);
  const at::Tensor rows = (outputs.targets >= 0).nonzero().squeeze(1);
  const at::Tensor cell =
      outputs.targets.index_select(0, rows) * classes + outputs.outputs.index_select(0, rows).argmax(1);
  return at::bincount(cell, {}, classes * classes).view({classes, classes});
}

// Returns the share of items whose class is among the `count` with the largest outputs.
double top_accuracy(const GraphOutputs& outputs, int64_t count) {
  const at::Tensor best = std::get<1>(outputs.outputs.topk(std::min(count, outputs.outputs.size(1)), 1));
  return (best == outputs.targets.unsqueeze(1)).any(1).to(at::kDouble).mean().item<double>();
}

void compare(GraphReport& report, const at::Tensor& original, const at::Tensor& moved) {
  report.max_logit_difference = std::max(report.max_logit_difference, (moved - original).abs().max().item<double>());
  const double agreeing = (moved.argmax(1) == original.argmax(1)).to(at::kDouble).mean().item<double>();
  report.prediction_agreement += agreeing / static_cast<double>(report.renumberings);
}

// Says why metrics are NaN; empty if none is.
std::string undefined_text(const GraphReport& report) {
  std::string text;
  if (!report.labelled) return "no figure is defined: none of these " + report.items + " has a known label\n";
  for (const auto& [name, value] : report.metrics) {
    if (!std::isnan(value)) continue;
    text += name +
            " is not defined: " + (name == "r2" ? "all targets are the same" : "no label has items of both classes") +
            "\n";
  }
  return text;
}

std::string class_table(const at::Tensor& confusion, const std::vector<std::string>& names) {
  std::ostringstream out;
  out << '\n'
      << std::left << std::setw(24) << "class" << std::right << std::setw(8) << "count" << std::setw(10) << "right"
      << '\n';
  for (size_t label = 0; label < names.size(); ++label) {
    const at::Tensor row = confusion[static_cast<int64_t>(label)];
    const int64_t total = row.sum().item<int64_t>(), right = row[static_cast<int64_t>(label)].item<int64_t>();
    const std::string share = total > 0 ? percent(static_cast<double>(right) / static_cast<double>(total)) : "-";
    out << std::left << std::setw(24) << names[label] << std::right << std::setw(8) << total << std::setw(10) << share
        << '\n';
  }
  return out.str();
}

}  // namespace

GraphReport evaluate_graphs(GraphRun& trained, const PackedItems& graphs, const DatasetSplit& splits, GraphSplit split,
                            int64_t renumberings, const OutputsObserver& observe) {
  const std::vector<int64_t>& items = items_of_split(splits, split);
  GraphReport report;
  report.task = graphs.schema.task;
  report.split = name_of(split);
  report.items = graphs.schema.items;
  report.count = static_cast<int64_t>(items.size());
  report.renumberings = renumberings;
  if (renumberings > 0) report.prediction_agreement = 0.0;
  report.items_per_second = evaluation_rate((1 + renumberings) * report.count, [&](const auto& progress) {
    const auto outputs = [&](int64_t pass) {
      const auto seed = pass == 0 ? std::nullopt : std::optional(static_cast<uint64_t>(pass) + trained.settings.seed);
      return run_outputs(trained, graphs, items, split, seed,
                         [&](int64_t done) { progress(pass * report.count + done); });
    };
    const GraphOutputs original = outputs(0);
    if (observe) observe(graphs, items, original);
    report.labelled = known_targets(report.task, original.targets).size(0) > 0;
    report.metrics = evaluation_metrics(trained.model, report.task, original, trained.settings.train.evaluation_loss());
    if (has_classes(report.task)) {
      report.confusion = confusion_of(original);
      report.reliability = reliability_of(original);
    }
    if (graphs.pictures) report.metrics.emplace_back("top5_accuracy", top_accuracy(original, 5));
    report.degrees = worst_degrees(*trained.model);
    report.head_distances = mean_head_distances(*trained.model);
    for (int64_t pass = 1; pass <= renumberings; ++pass) compare(report, original.outputs, outputs(pass).outputs);
  });
  return report;
}

GraphReport evaluate_all_graphs(GraphRun& trained, PackedItems graphs, int64_t renumberings,
                                const OutputsObserver& observe) {
  DatasetSplit all;
  all.test = labelled_items_of(graphs);
  if (all.test.empty()) throw DataError(trained.settings.data, graphs.schema.items + " with labels", "none");
  graphs.node_split = at::Tensor();  // nodes of all splits
  GraphReport report = evaluate_graphs(trained, graphs, all, GraphSplit::test, renumberings, observe);
  report.split = "all";
  return report;
}

nlohmann::json report_json(const GraphReport& report, const ItemOutputs&) {
  nlohmann::json metrics = nlohmann::json::object();
  for (const auto& [name, value] : report.metrics) metrics[name] = value;
  if (!report.reliability.empty()) {
    metrics["expected_calibration_error"] = expected_calibration_error(report.reliability);
  }
  nlohmann::json json{{"task", task_name(report.task)},
                      {"split", report.split},
                      {"count", report.count},
                      {"rotation", "none"},
                      {"repeats", 1},
                      {"metrics", metrics},
                      {report.items + "_per_second", report.items_per_second}};
  if (report.items == "graphs") {
    json["renumberings"] = report.renumberings;
    json["max_logit_difference"] = report.max_logit_difference;
    if (report.confusion.defined()) json["prediction_agreement"] = report.prediction_agreement;
  }
  if (!report.degrees.empty()) json["attention"] = attention_json(report.degrees);
  for (const MeanHeadDistance& layer : report.head_distances) {
    json["head_distances"].push_back({{"tokens", layer.tokens}, {"items", layer.items}});
  }
  return json;
}

std::string metrics_text(const NamedValues& metrics) {
  std::string text;
  for (const auto& [name, value] : metrics) text += (text.empty() ? "" : "  ") + style_of(name).text(value);
  return text;
}

std::string report_text(const GraphReport& report, const ItemOutputs& outputs) {
  const std::vector<std::string>& names = outputs.names();
  std::ostringstream out;
  const bool all = report.split == "all";
  out << (all ? "all " : "") << report.count << " " << report.items
      << (all ? " that have a label\n" : " of the " + report.split + " split\n") << metrics_text(report.metrics)
      << std::fixed << std::setprecision(0) << "  (" << report.items_per_second << " " << report.items << "/s)\n"
      << undefined_text(report) << calibration_text(report.reliability);
  if (report.renumberings > 0) {
    out << std::defaultfloat << std::setprecision(3) << "largest difference of an output when nodes are renumbered "
        << report.max_logit_difference;
    if (report.confusion.defined()) {
      out << "; same prediction in " << std::fixed << std::setprecision(1) << 100 * report.prediction_agreement << " %";
    }
    out << '\n';
  }
  out << attention_text(report.degrees);
  for (size_t layer = 0; layer < report.head_distances.size(); ++layer) {
    const MeanHeadDistance& distance = report.head_distances[layer];
    out << "layer " << layer + 1 << ": the attention of two heads is " << std::fixed << std::setprecision(3)
        << distance.items << " apart (L2, of " << report.items << "), that of a token " << distance.tokens << '\n';
  }
  if (report.confusion.defined() && names.size() <= max_shown_classes) out << class_table(report.confusion, names);
  return out.str();
}

std::string GraphTrainCommand::small_preset(const Config& options) const {
  GraphSettings asked;
  std::set<std::string> keys = options.named_keys();
  if (preset && !config_file.empty()) {
    asked.config().load_toml(config_file);
    keys.merge(keys_of_toml(config_file));
  }
  GraphReadOptions reading;
  reading.smiles_column = options.option_text("smiles_column").value_or(asked.molecules.smiles_column);
  return geosft::small_preset(options.option_text("data").value_or(asked.data), reading, keys);
}

bool GraphTrainCommand::train(const RunFolder& folder) {
  std::string note;
  if (begins_small() && config_file.empty()) {
    if (settings.model.attention == "none" && settings.molecules.descriptors) {
      note =
          "without --config: a graph network with descriptors of molecules; five of them are "
          "--ensemble 5, and --attention sampling is the transformer";
    } else {
      note = "without --config: a small model that fits the data; --preset paper has the sizes of the paper";
      if (settings.model.attention != "none" && names_molecules(settings.data, settings.reading())) {
        note +=
            ". It is the transformer, since an option is given that is not for the graph network with descriptors, "
            "which molecules get otherwise";
      }
    }
  }
  if (begins_small() && settings.molecules.kernel_ridge && is_tu_dataset(settings.data)) {
    note += (note.empty() ? "the model" : ". The model") +
            std::string(" is averaged with a kernel ridge regression, which --no-kernel-ridge leaves out");
  }
  try {
    results_ = run_experiment(settings, folder, resume, device, processes(), note,
                              [this](const std::vector<KeyUse>& uses) { refuse_unused(uses); });
  } catch (const Interrupted& stop) {
    throw Interrupted(std::string(stop.what()) + ": continue with " + resume_command());
  }
  return true;
}

void SequenceTrainCommand::add_to(CLI::App& subcommand, const std::string& example) {
  GraphTrainCommand::add_to(subcommand, example);
  subcommand.get_option("--data")->description("dataset of sequences: a folder");
  const auto of_graphs = [](const CLI::Option* option) {
    const std::array names = {"directed", "coalesce", "split-folder", "split-name", "atom-references"};
    return option->get_group() == "molecules" ||
           std::ranges::any_of(names, [&](const char* name) { return option->check_lname(name); });
  };
  for (CLI::Option* option : subcommand.get_options()) {
    if (of_graphs(option)) option->group("");
  }
}

bool SequenceTrainCommand::train(const RunFolder& folder) {
  require_sequences(settings.data);
  return GraphTrainCommand::train(folder);
}

void GraphTrainCommand::report(const RunFolder& folder) {
  if (results_.size() > 1) {
    std::cout << (json ? experiment_json(results_).dump() + "\n" : markdown_table(experiment_rows(results_)));
  } else if (json) {
    std::cout << read_file(folder.result());
  } else {
    const RunResult& result = results_.front();
    std::cout << metrics_text(result.metrics) << " on the test split\n";
    const std::string regression = GraphKernel::stored_in(folder.path());
    if (settings.ensemble > 1) {
      std::cout << "test figures are of the average of " << settings.ensemble << " models"
                << (regression.empty() ? "" : " and a " + regression) << '\n';
    } else if (!regression.empty()) {
      const std::string choice = chosen_checkpoint(folder.best_checkpoint()).choice(result.epochs);
      std::cout << "test figures are of the average of best.ckpt and a " << regression << '\n'
                << (choice.empty() ? "" : "best.ckpt: " + choice + "\n");
    } else {
      std::cout << chosen_checkpoint(folder.best_checkpoint()).text(result.epochs);
    }
  }
}

CLI::Option* take_short_split_names(CLI::Option* option) {
  const auto whole = [](std::string& split) {
    if (split == "val" || split == "valid") split = name_of(GraphSplit::validation);
    return std::string();
  };
  return option->transform(CLI::Validator(whole, ""), "");
}

void GraphExperiment::Overrides::add_to(CLI::App& subcommand, const ItemWords& words) {
  if (!words.edges) return;
  subcommand.add_option("--split-name", split_name, "which of several published splits of an OGB set");
}

void GraphExperiment::EvalOptions::add_data_to(CLI::App& subcommand, const ItemWords& words) {
  std::vector<std::string> splits = enum_names<GraphSplit>();
  splits.insert(splits.begin(), "all");
  take_short_split_names(
      subcommand.add_option("--split", split,
                            std::string("which split of the dataset, as the run was trained; all: ") + words.items +
                                " with a label, for other data than those of the training"))
      ->check(CLI::IsMember(splits))
      ->capture_default_str();
  if (!words.edges) return;
  subcommand.add_option("--smiles-column", smiles_column,
                        "column of SMILES of a table of molecules (default: as in training)");
}

void GraphExperiment::EvalOptions::add_to(CLI::App& subcommand, const ItemWords& words) {
  add_data_to(subcommand, words);
  if (words.edges) {
    subcommand.add_option("--renumber", renumber, "evaluate again with the nodes renumbered, so many times")
        ->check(CLI::Range(0, 1000000))
        ->capture_default_str();
  }
  subcommand.add_flag("--heads", heads,
                      "also say how far apart the attention of heads is, layer by layer (primal-dual)");
}

void GraphExperiment::initialize(GraphModel& model, const GraphTrainingData& data) {
  if (data.graphs.pictures) return;  // their views are standardised, and too many to hold
  const LabelledItems training = labelled_items(data.graphs, data.split.train);
  model->standardize(training, data.outputs.schema.task == GraphTask::regression ? training.target : at::Tensor(),
                     model->head_features(training));
}

std::unique_ptr<TrainingTask> GraphExperiment::make_task(const GraphModel& model, const GraphTrainingData& data,
                                                         const GraphSettings& settings, const Communicator& processes) {
  return std::make_unique<GraphTraining>(model, data.graphs, data.split, settings, processes);
}

GraphReport GraphExperiment::report(GraphRun& trained, const EvalOptions& options, const OutputsObserver& observe) {
  if (!options.smiles_column.empty()) {
    trained.settings.molecules.smiles_column = options.smiles_column;
    const std::string& data = trained.settings.data;
    if (std::filesystem::exists(data) && !is_molecule_table(data, trained.settings.reading())) {
      throw UsageError("--smiles-column is for a table of molecules, not for " + data);
    }
  }
  PackedItems graphs = open_labelled_graphs(trained);
  const bool all = options.split == "all";
  const DatasetSplit splits = all ? DatasetSplit() : split_of_run(trained, graphs);
  const GraphSplit split = all ? GraphSplit::test : value_named<GraphSplit>(options.split, "split");
  if (!all) require_split(trained, splits, split);
  const bool published = graphs.split || graphs.node_split.defined();
  if (!all && !published && !path_exists(trained.split_file) && !is_training_data(trained)) {
    std::cerr << trained.settings.data << ": no split.csv says which of these were trained on, so that they are split "
              << "anew; --split all evaluates all\n";
  }
  if (options.heads && watch_heads(*trained.model) == 0) {
    const GraphModelSettings& model = trained.settings.model;
    throw UsageError("--heads: the distance is that of several heads of primal-dual attention, found attention " +
                     model.attention + " with heads " + std::to_string(model.num_heads));
  }
  if (all && is_training_data(trained)) {
    std::cerr << trained.settings.data << ": these are the data of the training, so that --split all has what the "
              << "model was trained on, too\n";
  } else if (all) {
    const std::vector<int64_t> labelled = labelled_items_of(graphs);
    if (const int64_t known = known_molecules(trained, graphs, labelled); known > 0) {
      std::cerr << trained.settings.data << ": " << known << " of its " << labelled.size() << " molecules with a label "
                << (known == 1 ? "was" : "were")
                << " trained on or held out for validation, by their SMILES: the figures may be too good\n";
    }
  }
  if (all) return evaluate_all_graphs(trained, std::move(graphs), options.renumber, observe);
  const std::string few = few_items_warning(graphs, splits, split);
  if (!few.empty()) std::cerr << trained.settings.data << ": " << few << '\n';
  return evaluate_graphs(trained, graphs, splits, split, options.renumber, observe);
}

void GraphExperiment::draw(const GraphReport& report, const ItemOutputs& outputs, const RunFolder& folder) {
  const std::vector<std::string>& names = outputs.names();
  if (!report.confusion.defined() || names.size() > max_shown_classes) return;
  const std::string title = report.split == "all" ? "all " + report.items : report.split + " split";
  warn_unless_drawn(plot_confusion_matrix(report.confusion, names, folder.confusion(report.split),
                                          title + ": " + metrics_text({report.metrics.front()})));
}

std::string GraphExperiment::title(const ItemOutputs& outputs) {
  std::string name = task_name(outputs.schema.task);
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

nlohmann::json GraphExperiment::run_json(const std::filesystem::path&, const std::string& config,
                                         const ItemOutputs& outputs, int64_t parameters) {
  return {{"kind", "run"},
          {"config", config},
          {"schema", nlohmann::json::parse(schema_text(outputs.schema))},
          {"parameters", parameters}};
}

}  // namespace geosft
