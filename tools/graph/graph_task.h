// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "data/graphs/graph_loader.h"
#include "models/training/training_loop.h"
#include "tools/experiment/graph_evaluation.h"
#include "tools/experiment/loader_task.h"
#include "tools/experiment/split_table.h"

namespace geosft {

// Returns the split for validation: the held-out one, else the monitored test split, else nullopt.
std::optional<GraphSplit> validation_split(const DatasetSplit& split, const SplitSettings& settings);

// The graphs of a training, and the outputs that a model for them has. The members outlive it.
struct GraphTrainingData {
  const PackedItems& graphs;
  const DatasetSplit& split;
  ItemOutputs outputs;

  std::string text() const;
  bool held_out() const { return !split.validation.empty(); }
  // Returns the items of each split with their names (name_of_item). Splits of nodes, which are published, are not
  // listed.
  std::vector<SplitRow> split_rows() const;
};

// Returns the splits of the data of a trained run, as split_of does; a refit was trained on the validation split, too.
// Throws DataError if they are not those that the split.csv of its RUN lists: test items of other data may be items
// that it was trained on.
DatasetSplit split_of_run(const GraphRun& trained, const PackedItems& graphs);
// Throws UsageError if a run has no items in this split.
void require_split(const GraphRun& trained, const DatasetSplit& splits, GraphSplit split);
// Returns the splits of a refit, which is trained on the validation split, too.
DatasetSplit refitted(DatasetSplit split);

// Graph tasks for the training loop: batches, loss, validation.
class GraphTraining : public LoaderTask<GraphLoader> {
 public:
  // The arguments must outlive the task. A batch of settings.train.batch_size graphs is split over the processes.
  GraphTraining(GraphModel model, const PackedItems& graphs, const DatasetSplit& split, const GraphSettings& settings,
                const Communicator& processes = one_process());

  torch::nn::Module& module() override { return *model_; }
  void take_batch() override;
  StepInputs inputs() override;
  // The score of a step is its accuracy or the negated absolute error (in the dataset's units); NaN for labels, whose
  // metric is undefined for a single batch.
  Step compute(RngBuffer& seeds) override;
  BatchSize batch_size() const override;
  Step compute_part(int64_t part, int64_t parts, RngBuffer& seeds) override;
  std::map<std::string, at::Tensor> last_batch() const override;

 private:
  // Targets of the loss, with the indices of the known ones.
  struct LossTargets {
    at::Tensor values, known;
  };
  LossTargets loss_targets(const LabelledItems& batch) const;
  // Returns the whole batch's offsets of the units that attend to themselves.
  const at::Tensor& pass_ptr() const;
  at::Tensor forward(const FeaturedGraphs& graphs, SamplingContext& context);
  // score_weight: number of items that the metric of these graphs represents.
  Step step_on(const FeaturedGraphs& graphs, const LossTargets& targets, const BatchSlice& place, double score_weight,
               SamplingContext& context);

  // The score is the metric of the run, negated if lower is better.
  std::optional<Means> validation(const std::function<void(int64_t)>& progress) override;

  GraphModel model_;
  const PackedItems& graphs_;
  DatasetSplit split_;
  GraphSettings settings_;
  int64_t batch_norms_;
  ScoreStyle style_;
  std::optional<LabelledItems> last_;
  at::Tensor pass_ptr_;  // of the last batch
  // The batch on the model's device.
  FeaturedGraphs there_;
  LossTargets targets_;
};

}  // namespace geosft
