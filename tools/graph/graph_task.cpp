// SPDX-License-Identifier: Apache-2.0
#include "tools/graph/graph_task.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "data/sequences/picture_folders.h"
#include "models/layers/statistics_reducer.h"
#include "models/ops/non_finite_error.h"
#include "models/summary.h"
#include "models/training/autocast.h"
#include "models/training/host_copy.h"

namespace geosft {
namespace {

GraphLoaderOptions loader_options(const GraphSettings& settings, const Communicator& processes) {
  GraphLoaderOptions options;
  options.batch_size = settings.train.batch_size;
  options.batch_nodes = settings.train.batch_nodes;
  options.share = shard_of(processes);
  options.shuffle = true;
  options.seed = settings.seed;
  options.drop_nodes = settings.train.drop_token_rate;
  options.augment = true;
  return options;
}

}  // namespace

std::optional<GraphSplit> validation_split(const DatasetSplit& split, const SplitSettings& settings) {
  if (!split.validation.empty()) return GraphSplit::validation;
  return settings.monitor_test ? std::optional(GraphSplit::test) : std::nullopt;
}

std::string GraphTrainingData::text() const {
  return c10::str(task_name(graphs.schema.task), ": training on ", split.train.size(), " ", graphs.schema.items,
                  ", validation on ", split.validation.size(), ", test on ", split.test.size());
}

std::vector<SplitRow> GraphTrainingData::split_rows() const {
  std::vector<SplitRow> rows;
  if (graphs.node_split.defined()) return rows;
  for (const GraphSplit one : {GraphSplit::train, GraphSplit::validation, GraphSplit::test}) {
    for (const int64_t item : items_of_split(split, one)) {
      rows.push_back({name_of(one), item, name_of_item(graphs, item), label_of_item(graphs, item)});
    }
  }
  return rows;
}

DatasetSplit split_of_run(const GraphRun& trained, const PackedItems& graphs) {
  DatasetSplit split = split_of(graphs, trained.settings.splits);
  if (graphs.node_split.defined()) return split;  // published, and not listed
  const auto counts = split_counts(trained.split_file);
  const bool held_out = std::ranges::find(counts, "validation", &decltype(counts)::value_type::first) != counts.end();
  // A refit trains on both; that of the folder `selection` does not.
  if (trained.settings.splits.refit && !held_out) {
    split = refitted(std::move(split));
  }
  require_recorded_split(trained.split_file, GraphTrainingData{graphs, split, {graphs.schema}}.split_rows(),
                         trained.settings.data, "give the data of the training, or --split all for all of these");
  return split;
}

void require_split(const GraphRun& trained, const DatasetSplit& splits, GraphSplit split) {
  if (!items_of_split(splits, split).empty()) return;
  const bool joined = split == GraphSplit::validation && trained.settings.splits.refit;
  throw UsageError("--split " + std::string(name_of(split)) +
                   (joined ? ": there is no such split, since the refit was trained on its items"
                           : ": the data have no such split"));
}

DatasetSplit refitted(DatasetSplit split) {
  split.train.insert(split.train.end(), split.validation.begin(), split.validation.end());
  std::ranges::sort(split.train);
  split.validation.clear();
  return split;
}

GraphTraining::GraphTraining(GraphModel model, const PackedItems& graphs, const DatasetSplit& split,
                             const GraphSettings& settings, const Communicator& processes)
    : LoaderTask(processes, graphs, split.train, loader_options(settings, processes)),
      model_(std::move(model)),
      graphs_(graphs),
      split_(split),
      settings_(settings),
      batch_norms_(batch_norm_count(*model_)),
      style_(score_style(graphs.schema.task, settings.train.metric)) {
  settings_.evaluation.votes = 1;  // enough for a learning curve
}

const at::Tensor& GraphTraining::pass_ptr() const {
  return pass_ptr_;
}

void GraphTraining::take_batch() {
  last_ = loader_.next();
  TORCH_CHECK(last_.has_value(), "the loader ended before the epoch did");
  if (model_->options.documents) {
    last_->document_ptr = document_offsets(last_->graphs.ptr, last_->node_categories.select(1, -1));
  }
  // Attention is within each document.
  pass_ptr_ = model_->options.documents ? last_->document_ptr : model_->token_ptr(last_->graphs.ptr);
  const at::Device device = device_of(*model_);
  there_ = on_device(*last_, device);
  const LossTargets targets = loss_targets(*last_);
  targets_ = {overlapping_copy(targets.values, device), overlapping_copy(targets.known, device)};
}

GraphTraining::LossTargets GraphTraining::loss_targets(const LabelledItems& batch) const {
  const at::Tensor values = targets_of_split(batch.target, batch.node_split, GraphSplit::train);
  return {values, known_targets(graphs_.schema.task, values)};
}

StepInputs GraphTraining::inputs() {
  CsrGraph& graph = there_.graphs.graph;
  return {{there_.graphs.ptr},
          {&graph.rowptr, &graph.col, &graph.edge_attr, &graph.weight, &there_.node_categories, &there_.node_values,
           &there_.edge_categories, &there_.edge_values, &there_.coordinates, &there_.node_encoding, &targets_.values,
           &targets_.known, &there_.graph_features},
          static_cast<int64_t>(last_->items.size())};
}

TrainingTask::Step GraphTraining::compute(RngBuffer& seeds) {
  SamplingContext context = shared_context(seeds, processes_, last_->place, pass_ptr());
  return step_on(there_, targets_, last_->place, static_cast<double>(last_->place.count), context);
}

// A batch whose rows are normalised together cannot be split into independent items.
BatchSize GraphTraining::batch_size() const {
  if (batch_norms_ > 0) return {0, last_->graphs.graph.nodes() * settings_.model.dim};
  return {last_->graphs.items(), last_->graphs.graph.nodes() * settings_.model.dim};
}

TrainingTask::Step GraphTraining::compute_part(int64_t part, int64_t parts, RngBuffer& seeds) {
  const LabelledItems batch = micro_batch(*last_, graphs_.schema.task, part, parts);
  SamplingContext context = part_context(seeds, batch.place, pass_ptr());
  const LossTargets targets = loss_targets(batch);
  // The metric is a mean over known targets.
  const double share = static_cast<double>(targets.known.size(0)) / static_cast<double>(targets_.known.size(0));
  return step_on(batch, targets, batch.place,
                 targets.known.size(0) == 0 ? 0.0 : share * static_cast<double>(batch.place.all), context);
}

// Tells the other processes if this one cannot end the pass, so that they do not wait for its statistics.
at::Tensor GraphTraining::forward(const FeaturedGraphs& graphs, SamplingContext& context) {
  try {
    return model_->forward(graphs, context, model_->head_features(graphs));
  } catch (const NonFiniteError&) {
    if (context.statistics()) context.statistics()->abandon();
    throw;
  }
}

TrainingTask::Step GraphTraining::step_on(const FeaturedGraphs& graphs, const LossTargets& targets,
                                          const BatchSlice& place, double score_weight, SamplingContext& context) {
  const GraphTask task = graphs_.schema.task;
  const at::Tensor outputs = out_of_autocast(forward(graphs, context));
  const at::Tensor loss = graph_loss(task, outputs, standardized_targets(model_, task, targets.values), targets.known,
                                     settings_.train.loss());
  const int64_t items = place.spare ? 0 : place.count;
  const int64_t terms = place.spare ? 0 : targets.known.size(0);
  at::NoGradGuard guard;
  const at::Tensor metric =
      batch_metric(style_.name, in_units(model_, task, outputs.detach()), targets.values, targets.known);
  const at::Tensor score = style_.lower_is_better ? -metric : metric;
  return measured_step(loss, score_weight == 0.0 ? at::zeros_like(score) : score * score_weight, items,
                       static_cast<double>(terms));
}

std::map<std::string, at::Tensor> GraphTraining::last_batch() const {
  if (!last_) return {};
  std::map<std::string, at::Tensor> tensors = {{"rowptr", last_->graphs.graph.rowptr},
                                               {"col", last_->graphs.graph.col},
                                               {"ptr", last_->graphs.ptr},
                                               {"node_categories", last_->node_categories},
                                               {"node_values", last_->node_values},
                                               {"edge_categories", last_->edge_categories},
                                               {"edge_values", last_->edge_values},
                                               {"coordinates", last_->coordinates},
                                               {"node_encoding", last_->node_encoding},
                                               {"graph_features", last_->graph_features},
                                               {"target", last_->target},
                                               {"index", at::tensor(last_->items, at::kLong)}};
  std::erase_if(tensors, [](const auto& entry) { return !entry.second.defined(); });
  return tensors;
}

std::optional<GraphTraining::Means> GraphTraining::validation(const std::function<void(int64_t)>& progress) {
  const std::optional<GraphSplit> split = validation_split(split_, settings_.splits);
  if (!split) return std::nullopt;
  const std::vector<int64_t>& items = items_of_split(split_, *split);
  const GraphOutputs outputs =
      graph_outputs(model_, graphs_, items, *split, settings_.evaluation, std::nullopt, progress);
  const NamedValues values =
      evaluation_metrics(model_, graphs_.schema.task, outputs, settings_.train.evaluation_loss());
  return Means{value_of(values, "loss"), style_.value(value_of(values, style_.name)),
               static_cast<int64_t>(items.size())};
}

}  // namespace geosft
