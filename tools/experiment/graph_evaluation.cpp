// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/graph_evaluation.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "data/formats/elements.h"
#include "data/graphs/graph_loader.h"
#include "data/graphs/molecule_features.h"
#include "data/seeds.h"
#include "models/summary.h"
#include "models/training/autocast.h"
#include "models/training/host_copy.h"
#include "tools/experiment/batch_size_finder.h"
#include "tools/experiment/shortest_text.h"

namespace geosft {
namespace {

// Evaluates one vote on one batch; rows are in the order of the batch.
at::Tensor one_vote(GraphModel& model, const LabelledItems& batch, const EvaluationSettings& settings, uint64_t vote,
                    std::optional<uint64_t> renumbering) {
  SamplingContext context = settings.context(vote);
  const at::Device device = device_of(*model);
  const auto outputs_of = [&](const FeaturedGraphs& graphs) {
    const FeaturedGraphs there = on_device(graphs, device);
    const Autocast autocast(device.type(), settings.autocast());
    return out_of_autocast(model->forward(there, context, model->head_features(there))).cpu();
  };
  if (!renumbering) return outputs_of(batch);
  const uint64_t seed = combine_seeds({*renumbering, static_cast<uint64_t>(batch.items.front())});
  const RenumberedGraphs moved = renumbered(batch, make_generator(seed));
  at::Tensor outputs = outputs_of(moved.graphs);
  if (model->options.head != GraphHead::nodes) return outputs;
  return at::empty_like(outputs).index_copy_(0, moved.order, outputs);
}

// Evaluates all items in order.
GraphOutputs all_outputs(GraphModel& model, const PackedItems& graphs, const std::vector<int64_t>& items,
                         GraphSplit split, const EvaluationSettings& settings, std::optional<uint64_t> renumbering,
                         const BatchProgress& progress) {
  GraphLoader loader(graphs, items, {.batch_size = settings.evaluation_batch});
  loader.start_epoch(0);
  std::vector<at::Tensor> outputs, targets, means, squares;
  int64_t done = 0;
  const GraphTask task = graphs.schema.task;
  while (const auto batch = loader.next()) {
    at::Tensor sum;
    OutputSpread spread;
    for (int64_t vote = 0; vote < settings.checked_votes(); ++vote) {
      const at::Tensor one = one_vote(model, *batch, settings, static_cast<uint64_t>(vote), renumbering);
      sum = vote == 0 ? one : sum + one;
      if (!is_of_nodes(task)) spread.add(predicted_values(model, task, one.to(at::kDouble)));
    }
    if (!is_of_nodes(task)) {
      means.push_back(spread.mean);
      squares.push_back(spread.squares);
    }
    outputs.push_back(sum / static_cast<double>(settings.votes));
    targets.push_back(targets_of_split(batch->target, batch->node_split, split));
    done += static_cast<int64_t>(batch->items.size());
    progress(done);
  }
  GraphOutputs all{at::cat(outputs), at::cat(targets)};
  if (!means.empty()) all.spread = {settings.votes, at::cat(means), at::cat(squares)};
  return all;
}

struct Ranked {
  std::string name;
  double probability;
};

// Returns the `top` most probable classes.
std::vector<Ranked> ranking(const ItemSchema& schema, const at::Tensor& logits, int64_t top) {
  const at::Tensor share = logits.to(at::kDouble).softmax(0);
  const auto [values, labels] = share.topk(std::min(top, share.size(0)));
  std::vector<Ranked> ranked;
  ranked.reserve(static_cast<size_t>(values.size(0)));
  for (int64_t i = 0; i < values.size(0); ++i) {
    ranked.push_back({schema.output_names[static_cast<size_t>(labels[i].item<int64_t>())], values[i].item<double>()});
  }
  return ranked;
}

// Returns one value per output.
std::vector<Ranked> every_output(const ItemSchema& schema, const at::Tensor& values) {
  std::vector<Ranked> all;
  all.reserve(static_cast<size_t>(schema.outputs()));
  for (int64_t i = 0; i < schema.outputs(); ++i) {
    all.push_back({schema.output_names[static_cast<size_t>(i)], values[i].item<double>()});
  }
  return all;
}

std::vector<std::string> node_classes(const ItemSchema& schema, const at::Tensor& logits) {
  const at::Tensor labels = logits.argmax(1);
  std::vector<std::string> names;
  names.reserve(static_cast<size_t>(labels.size(0)));
  for (int64_t i = 0; i < labels.size(0); ++i) {
    names.push_back(schema.output_names[static_cast<size_t>(labels[i].item<int64_t>())]);
  }
  return names;
}

// Returns the probability of every label per node.
std::vector<std::vector<double>> node_probabilities(const at::Tensor& logits) {
  const at::Tensor shares = logits.to(at::kDouble).sigmoid().contiguous();
  const int64_t labels = shares.size(1);
  const double* const first = shares.const_data_ptr<double>();
  std::vector<std::vector<double>> rows;
  rows.reserve(static_cast<size_t>(shares.size(0)));
  for (int64_t i = 0; i < shares.size(0); ++i) rows.emplace_back(first + i * labels, first + (i + 1) * labels);
  return rows;
}

std::vector<std::string> node_labels(const ItemSchema& schema, const at::Tensor& logits) {
  std::vector<std::string> names;
  names.reserve(static_cast<size_t>(logits.size(0)));
  for (const std::vector<double>& node : node_probabilities(logits)) {
    std::string joined;
    for (size_t i = 0; i < node.size(); ++i) {
      if (node[i] >= 0.5) joined += (joined.empty() ? "" : "+") + schema.output_names[i];
    }
    names.push_back(joined.empty() ? "-" : joined);
  }
  return names;
}

std::string percentages(const std::vector<Ranked>& ranked) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(1);
  for (const Ranked& entry : ranked) out << "  " << entry.name << ' ' << 100 * entry.probability << " %";
  return out.str();
}

}  // namespace

void OutputSpread::add(const at::Tensor& outputs) {
  join({1, outputs.to(at::kDouble), at::zeros(outputs.sizes(), outputs.options().dtype(at::kDouble))});
}

void OutputSpread::join(const OutputSpread& other) {
  if (other.count == 0) return;
  if (count == 0) {
    *this = other;
    return;
  }
  const auto ours = static_cast<double>(count), theirs = static_cast<double>(other.count);
  const at::Tensor difference = other.mean - mean;
  squares = squares + other.squares + difference * difference * (ours * theirs / (ours + theirs));
  mean = mean + difference * (theirs / (ours + theirs));
  count += other.count;
}

at::Tensor OutputSpread::deviation() const {
  return count < 2 ? at::Tensor() : (squares / static_cast<double>(count - 1)).sqrt();
}

FeaturedGraphs on_device(const FeaturedGraphs& graphs, at::Device device) {
  FeaturedGraphs there = graphs;
  CsrGraph& graph = there.graphs.graph;
  for (at::Tensor* tensor :
       {&graph.rowptr, &graph.col, &graph.edge_attr, &graph.weight, &there.node_categories, &there.node_values,
        &there.edge_categories, &there.edge_values, &there.coordinates, &there.node_encoding, &there.graph_features}) {
    *tensor = overlapping_copy(*tensor, device);
  }
  there.graphs.ptr = offsets_for(graphs.graphs.ptr, device);
  if (graphs.document_ptr.defined()) there.document_ptr = offsets_for(graphs.document_ptr, device);
  return there;
}

namespace {

// Throws DataError where there are no data, such as for a pretrained model without --data.
void require_present(const std::string& data, const ItemSchema& schema) {
  std::error_code error;
  if (std::filesystem::exists(data, error)) return;
  throw DataError(data, "a dataset of " + schema.items + ", which --data names (predict also takes FILE)",
                  "nothing of this name");
}

PackedItems open_data(const GraphRun& trained, const GraphSettings& settings, bool labelled) {
  require_present(settings.data, trained.schema);
  PackedItems graphs = open_encoded_graphs(settings, &trained.schema, labelled);
  trained.check_same({graphs.schema}, settings.data);
  warn_of_unlike_molecules(trained, graphs, settings.data);
  return graphs;
}

// Returns the symbols of the elements that the training data lack, separated by commas.
std::string unseen_elements(const GraphRun& trained, const FeaturedGraphs& graphs) {
  const GraphModel& model = trained.model;
  if (!model->options.atom_references || !trained.schema.coordinates) return "";
  // The fit leaves categories without an atom exactly 0.
  const at::Tensor present = std::get<0>(at::_unique2(graphs.node_categories.select(1, 0).to(at::kLong)));
  const at::Tensor unseen = present.masked_select(
      model->target_reference.cpu().index_select(0, present).eq(0).all(1).logical_and(present < element_count));
  std::string names;
  for (int64_t i = 0; i < unseen.numel(); ++i) {
    names += (i == 0 ? "" : ", ") + std::string(element_symbol(static_cast<int>(unseen[i].item<int64_t>()) + 1));
  }
  return names;
}

// Returns whether chiral atoms of a published set, a folder, have other tags than those of the training.
bool has_other_chiral_tags(const GraphRun& trained, const FeaturedGraphs& graphs, const std::string& source) {
  std::error_code absent;
  return trained.settings.molecules.chiral_tags == ChiralTags::canonical &&
         trained.schema.node_vocabulary == atom_vocabulary && std::filesystem::is_directory(source, absent) &&
         graphs.node_categories.select(1, 1).any().item<bool>();
}

}  // namespace

void warn_of_unlike_molecules(const GraphRun& trained, const FeaturedGraphs& graphs, const std::string& source) {
  if (const std::string unseen = unseen_elements(trained, graphs); !unseen.empty()) {
    std::cerr << source << ": the training data have no atom of " << unseen
              << ": predictions for molecules with such atoms are unreliable\n";
  }
  if (has_other_chiral_tags(trained, graphs, source)) {
    std::cerr << source << ": its chiral tags are written ones, where the model was trained on canonical ones, which "
              << "a CSV table of the SMILES would have\n";
  }
}

PackedItems open_run_graphs(const GraphRun& trained, const GraphSettings& settings) {
  return open_data(trained, settings, /*labelled=*/false);
}

PackedItems open_labelled_graphs(const GraphRun& trained) {
  return open_data(trained, trained.settings, /*labelled=*/true);
}

bool votes_differ(const GraphRun& trained) {
  return trained.settings.model.samples() && trained.settings.evaluation.evaluation != SampleMode::greedy;
}

GraphOutputs graph_outputs(GraphModel& model, const PackedItems& graphs, const std::vector<int64_t>& items,
                           GraphSplit split, const EvaluationSettings& settings, std::optional<uint64_t> renumbering,
                           const std::function<void(int64_t)>& progress) {
  TORCH_CHECK(!items.empty(), "the ", name_of(split), " split has no graphs");
  at::NoGradGuard guard;
  if (model->is_training()) model->eval();  // threads may share a loaded model
  return evaluate_within_memory(settings.evaluation_batch, progress,
                                [&](int64_t batch_size, const BatchProgress& heard) {
                                  EvaluationSettings some = settings;
                                  some.evaluation_batch = batch_size;
                                  return all_outputs(model, graphs, items, split, some, renumbering, heard);
                                });
}

GraphOutputs run_outputs(GraphRun& trained, const PackedItems& graphs, const std::vector<int64_t>& items,
                         GraphSplit split, std::optional<uint64_t> renumbering,
                         const std::function<void(int64_t)>& progress) {
  EvaluationSettings settings = trained.settings.evaluation;
  if (!votes_differ(trained)) settings.votes = std::min<int64_t>(settings.checked_votes(), 1);
  GraphOutputs mean = graph_outputs(trained.model, graphs, items, split, settings, renumbering, progress);
  for (GraphModel& model : trained.more_models) {
    const GraphOutputs more = graph_outputs(model, graphs, items, split, settings, renumbering);
    mean.outputs = mean.outputs + more.outputs;
    mean.spread.join(more.spread);
  }
  mean.outputs = mean.outputs / static_cast<double>(1 + trained.more_models.size());
  if (trained.companion.regression) {
    TORCH_CHECK(graphs.graph_features.defined(), "graphs must have the graph_features that the run was trained with");
    const at::Tensor features = graphs.graph_features.index_select(0, at::tensor(items, at::kLong));
    mean.outputs = trained.companion.averaged(trained.model, trained.schema.task, mean.outputs,
                                              trained.companion.predict(features));
  }
  return mean;
}

at::Tensor in_units(const GraphModel& model, GraphTask task, const at::Tensor& outputs) {
  if (task != GraphTask::regression) return outputs;
  return outputs.to(at::kDouble) * model->target_deviation.to(outputs.device()) +
         model->target_mean.to(outputs.device());
}

at::Tensor standardized_targets(const GraphModel& model, GraphTask task, const at::Tensor& targets) {
  if (task != GraphTask::regression) return targets;
  return (targets - model->target_mean.to(targets.device())) / model->target_deviation.to(targets.device());
}

at::Tensor predicted_values(const GraphModel& model, GraphTask task, const at::Tensor& outputs) {
  if (task == GraphTask::regression) return in_units(model, task, outputs);
  return has_labels(task) ? outputs.sigmoid() : outputs.softmax(1);
}

double evaluation_loss(const GraphModel& model, GraphTask task, const GraphOutputs& outputs,
                       const LossOptions& options) {
  if (known_targets(task, outputs.targets).size(0) == 0) return std::numeric_limits<double>::quiet_NaN();
  return graph_loss(task, outputs.outputs, standardized_targets(model, task, outputs.targets), options).item<double>();
}

NamedValues evaluation_metrics(const GraphModel& model, GraphTask task, const GraphOutputs& outputs,
                               const LossOptions& options) {
  NamedValues values = graph_metrics(task, in_units(model, task, outputs.outputs), outputs.targets);
  values.emplace_back("loss", evaluation_loss(model, task, outputs, options));
  return values;
}

nlohmann::json prediction_json(const ItemSchema& schema, const at::Tensor& outputs, int64_t top) {
  if (schema.task == GraphTask::node_classification) return {{"classes", node_classes(schema, outputs)}};
  if (schema.task == GraphTask::node_multi_label) {
    return {{"labels", schema.output_names}, {"probabilities", node_probabilities(outputs)}};
  }
  nlohmann::json found = nlohmann::json::object();
  if (schema.task != GraphTask::classification) {
    const bool labels = schema.task == GraphTask::multi_label;
    for (const Ranked& entry : every_output(schema, labels ? outputs.sigmoid() : outputs)) {
      found[entry.name] = entry.probability;
    }
    return {{labels ? "probabilities" : "values", found}};
  }
  const std::vector<Ranked> ranked = ranking(schema, outputs, top);
  nlohmann::json list = nlohmann::json::array();
  for (const Ranked& entry : ranked) list.push_back({entry.name, entry.probability});
  return {{"class", ranked.front().name}, {"probability", ranked.front().probability}, {"top", list}};
}

std::vector<std::string> prediction_columns(const ItemSchema& schema, int64_t top) {
  std::vector<std::string> columns;
  if (is_of_nodes(schema.task)) columns.emplace_back("node");
  if (schema.task == GraphTask::node_classification) {
    columns.emplace_back("class");
  } else if (schema.task == GraphTask::classification) {
    for (int64_t rank = 1; rank <= std::min(top, schema.outputs()); ++rank) {
      const std::string number = rank == 1 ? "" : "_" + std::to_string(rank);
      columns.push_back("class" + number);
      columns.push_back("probability" + number);
    }
  } else {
    columns.insert(columns.end(), schema.output_names.begin(), schema.output_names.end());
  }
  return columns;
}

std::vector<std::vector<std::string>> prediction_rows(const ItemSchema& schema, const at::Tensor& outputs, int64_t top,
                                                      const at::Tensor& node_ids) {
  const auto number = [](double value) { return nlohmann::json(value).dump(); };
  std::vector<std::vector<std::string>> rows;
  if (!is_of_nodes(schema.task)) {
    rows.emplace_back();
    const bool classes = schema.task == GraphTask::classification;
    const at::Tensor values = has_labels(schema.task) ? outputs.sigmoid() : outputs;
    for (const Ranked& entry : classes ? ranking(schema, outputs, top) : every_output(schema, values)) {
      if (classes) rows.back().push_back(entry.name);
      rows.back().push_back(number(entry.probability));
    }
    return rows;
  }
  for (int64_t node = 0; node < outputs.size(0); ++node) {
    rows.push_back({std::to_string(node_ids.defined() ? node_ids[node].item<int64_t>() : node)});
  }
  if (schema.task == GraphTask::node_classification) {
    const std::vector<std::string> classes = node_classes(schema, outputs);
    for (size_t node = 0; node < rows.size(); ++node) rows[node].push_back(classes[node]);
  } else {
    const std::vector<std::vector<double>> shares = node_probabilities(outputs);
    for (size_t node = 0; node < rows.size(); ++node) {
      for (const double share : shares[node]) rows[node].push_back(number(share));
    }
  }
  return rows;
}

namespace {

// Returns "NAME" for one output that is not called so itself, otherwise "NAME_OUTPUT" for each.
std::vector<std::string> columns_of_outputs(const std::string& name, const ItemSchema& schema) {
  if (schema.outputs() == 1 && schema.output_names.front() != name) return {name};
  std::vector<std::string> columns;
  for (const std::string& output : schema.output_names) columns.push_back(name + "_" + output);
  return columns;
}

// Returns the text of a known number, and an empty one for NaN.
template <class Number>
std::string number_field(Number value) {
  return std::isnan(value) ? std::string() : shortest_text(value);
}

}  // namespace

std::vector<std::string> deviation_columns(const ItemSchema& schema, int64_t top) {
  if (schema.task != GraphTask::classification) return columns_of_outputs("deviation", schema);
  std::vector<std::string> columns;
  for (int64_t rank = 1; rank <= std::min(top, schema.outputs()); ++rank) {
    columns.push_back(rank == 1 ? "deviation" : "deviation_" + std::to_string(rank));
  }
  return columns;
}

std::vector<std::string> deviation_fields(const ItemSchema& schema, const at::Tensor& outputs,
                                          const at::Tensor& deviation, int64_t top) {
  at::Tensor shown = deviation;
  if (schema.task == GraphTask::classification) {
    const at::Tensor share = outputs.to(at::kDouble).softmax(0);
    shown = deviation.index_select(0, std::get<1>(share.topk(std::min(top, share.size(0)))));
  }
  std::vector<std::string> fields;
  for (int64_t i = 0; i < shown.size(0); ++i) fields.push_back(number_field(shown[i].item<double>()));
  return fields;
}

std::vector<std::string> target_columns(const ItemSchema& schema) {
  if (schema.task == GraphTask::classification) return {"target"};
  return columns_of_outputs("target", schema);
}

std::vector<std::string> target_fields(const ItemSchema& schema, const at::Tensor& target) {
  if (schema.task == GraphTask::classification) {
    return {schema.output_names.at(static_cast<size_t>(target.item<int64_t>()))};
  }
  std::vector<std::string> fields;
  for (int64_t i = 0; i < target.size(0); ++i) fields.push_back(number_field(target[i].item<float>()));
  return fields;
}

std::string prediction_text(const ItemSchema& schema, const at::Tensor& outputs, int64_t top) {
  std::ostringstream out;
  if (schema.task == GraphTask::classification) return percentages(ranking(schema, outputs, top));
  if (schema.task == GraphTask::multi_label) return percentages(every_output(schema, outputs.sigmoid()));
  if (is_of_nodes(schema.task)) {
    const bool labels = has_labels(schema.task);
    for (const std::string& name : labels ? node_labels(schema, outputs) : node_classes(schema, outputs)) {
      out << "  " << name;
    }
    return out.str();
  }
  for (const Ranked& entry : every_output(schema, outputs)) out << "  " << entry.name << ' ' << entry.probability;
  return out.str();
}

}  // namespace geosft
