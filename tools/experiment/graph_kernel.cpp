// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/graph_kernel.h"

#include <vector>

#include "data/graphs/molecule_inputs.h"
#include "tools/experiment/graph_evaluation.h"

namespace geosft {
namespace {

constexpr int64_t max_targets = 40;              // each has a training of its own
constexpr int64_t many_items = 6500;             // above which a training takes many seconds
constexpr int64_t max_training_labels = 200000;  // of such sets

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
  if (!graphs.graph_features.defined()) return "it needs fingerprints or descriptors";
  if (schema.task != GraphTask::regression && schema.task != GraphTask::multi_label) {
    const bool texts = schema.task == GraphTask::classification;
    return std::string("it is for labels 0 and 1 and for numbers of whole molecules, found ") + task_name(schema.task) +
           (texts ? " (write two classes as 0 and 1)" : "");
  }
  const int64_t targets = schema.outputs();
  if (targets > max_targets || (training_items > many_items && targets * training_items > max_training_labels)) {
    return "it would take too long for " + std::to_string(targets) + " targets of " + std::to_string(training_items) +
           " molecules";
  }
  return "";
}

KernelRidge fit_graph_kernel(const PackedItems& graphs, const std::vector<int64_t>& items,
                             const GraphSettings& settings) {
  const MoleculeVectorOptions vector = settings.molecules.vector();
  KernelRidgeOptions options;
  options.fingerprints = static_cast<int64_t>(vector.fingerprints.size());
  options.fingerprint_bits = vector.fingerprint_bits;
  options.labels = graphs.schema.task == GraphTask::multi_label;
  options.seed = settings.seed;
  std::vector<std::string> smiles;
  smiles.reserve(items.size());
  for (const int64_t item : items) smiles.push_back(graphs.smiles[static_cast<size_t>(item)]);
  const at::Tensor rows = at::tensor(items, at::kLong);
  return KernelRidge::fit(graphs.graph_features.index_select(0, rows), graphs.target.index_select(0, rows),
                          at::tensor(scaffold_groups(smiles), at::kLong), options);
}

}  // namespace geosft
