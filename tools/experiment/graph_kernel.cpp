// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/graph_kernel.h"

#include <cmath>
#include <string>
#include <vector>

#include "data/graphs/molecule_inputs.h"
#include "tools/experiment/graph_evaluation.h"
#include "tools/experiment/random_forest_training.h"

namespace geosft {
namespace {

constexpr int64_t many_items = 6500;          // above which a regression takes many seconds
constexpr double max_labels = 300000;         // known ones, of such sets
constexpr double max_multiplications = 3e13;  // of many regressions, about ten minutes of a core
constexpr int64_t many_labels = 40;           // above which each has fewer trees
constexpr int64_t trees_of_many_labels = 50;

// Returns the scaffold of each molecule; of other graphs, each is a group.
at::Tensor groups_of(const PackedItems& graphs, const std::vector<int64_t>& items) {
  if (graphs.smiles.empty()) return at::arange(static_cast<int64_t>(items.size()), at::kLong);
  std::vector<std::string> smiles;
  smiles.reserve(items.size());
  for (const int64_t item : items) smiles.push_back(graphs.smiles[static_cast<size_t>(item)]);
  return at::tensor(scaffold_groups(smiles), at::kLong);
}

}  // namespace

at::Tensor GraphKernel::averaged(const GraphModel& model, GraphTask task, const at::Tensor& outputs,
                                 const at::Tensor& predictions) const {
  const at::Tensor own = outputs.to(at::kDouble);
  if (task == GraphTask::regression) {
    const at::Tensor mean = model->target_mean.cpu(), deviation = model->target_deviation.cpu();
    return own.lerp((predictions - mean) / deviation, weight).to(outputs.scalar_type());
  }
  if (average_logits) return own.lerp(predictions, weight).to(outputs.scalar_type());
  const at::Tensor probability = (1 - weight) * own.sigmoid() + weight * predictions.sigmoid();
  return at::logit(probability, 1e-9).to(outputs.scalar_type());
}

std::string kernel_obstacle(const PackedItems& graphs, int64_t training_items) {
  const ItemSchema& schema = graphs.schema;
  if (!graphs.graph_features.defined()) return "it needs fingerprints, descriptors or statistics";
  if (is_of_nodes(schema.task)) return std::string("it is for whole graphs, found ") + task_name(schema.task);
  const at::Tensor known = graphs.target.to(at::kDouble).isfinite();
  const int64_t targets = schema.outputs();
  const bool one_kernel =
      schema.task == GraphTask::classification || (has_labels(schema.task) && known.all().item<bool>());
  const double regressions = one_kernel ? 1.0 : static_cast<double>(targets);
  // The known labels of a target in the training split, by their share in all graphs.
  const double labels = static_cast<double>(training_items) * known.to(at::kDouble).mean().item<double>();
  const KernelRidgeOptions options;
  const bool too_long =
      regressions > static_cast<double>(options.own_choices)
          ? training_items > options.max_exact || regressions * std::pow(labels, 3) / 3 > max_multiplications
          : training_items > many_items && regressions * labels > max_labels;
  if (too_long) {
    return "it would take too long for " + std::to_string(targets) + " targets of " + std::to_string(training_items) +
           " graphs";
  }
  return "";
}

KernelRidge fit_graph_kernel(const PackedItems& graphs, const std::vector<int64_t>& items,
                             const GraphSettings& settings) {
  const GraphVectorOptions vector = settings.molecules.vector();
  KernelRidgeOptions options;
  options.fingerprints = static_cast<int64_t>(vector.fingerprints.size());
  options.fingerprint_bits = vector.fingerprint_bits;
  options.labels = graphs.schema.task == GraphTask::multi_label;
  // Molecules have few atoms of a kind, graphs may have thousands of nodes of one.
  options.wide_counts = graphs.smiles.empty();
  // A set may have a few statistics or hundreds, which need a wider kernel: left-out graphs choose.
  if (vector.statistics) options.gaussian_factors = {0.25, 1.0, 4.0};
  options.classes = graphs.schema.task == GraphTask::classification;
  options.seed = settings.seed;
  const at::Tensor rows = at::tensor(items, at::kLong);
  at::Tensor targets = graphs.target.index_select(0, rows);
  if (options.classes) targets = at::one_hot(targets, graphs.schema.outputs()).to(at::kDouble);
  return KernelRidge::fit(graphs.graph_features.index_select(0, rows), targets, groups_of(graphs, items), options);
}

RandomForest fit_graph_forest(const PackedItems& graphs, const std::vector<int64_t>& items,
                              const GraphSettings& settings) {
  const at::Tensor rows = at::tensor(items, at::kLong);
  RandomForestOptions options;
  options.first_column = graphs.graph_features.size(1) - settings.molecules.vector().count_columns();
  options.seed = settings.seed;
  if (graphs.schema.outputs() > many_labels) options.trees = trees_of_many_labels;
  return fit_random_forest(graphs.graph_features.index_select(0, rows), graphs.target.index_select(0, rows), options);
}

}  // namespace geosft
