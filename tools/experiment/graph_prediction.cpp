// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/graph_prediction.h"

#include <algorithm>
#include <iomanip>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "tools/experiment/graph_evaluation.h"

namespace geosft {
namespace {

// Returns placeholder targets for the task.
at::Tensor no_targets(const ItemSchema& schema, const GraphBatch& graphs) {
  const bool of_nodes = is_of_nodes(schema.task);
  const int64_t rows = of_nodes ? graphs.graph.nodes() : graphs.items();
  if (has_classes(schema.task)) return at::full({rows}, of_nodes ? -1 : 0, at::kLong);
  return at::full({rows, schema.outputs()}, std::numeric_limits<float>::quiet_NaN());
}

at::Tensor predictions(GraphRun& trained, const PackedItems& encoded) {
  const GraphTask task = trained.schema.task;
  std::vector<int64_t> all(static_cast<size_t>(encoded.size()));
  std::iota(all.begin(), all.end(), 0);
  const at::Tensor outputs = run_outputs(trained, encoded, all, GraphSplit::test).outputs;
  if (task == GraphTask::regression) return in_units(trained.model, task, outputs);
  return has_labels(task) ? outputs.sigmoid() : outputs.softmax(1);
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

PackedItems unlabelled_items(const GraphRun& trained, const FeaturedGraphs& graphs) {
  check_batch(graphs.graphs);
  PackedItems packed;
  static_cast<FeaturedGraphs&>(packed) = graphs;
  packed.schema = trained.schema;
  packed.target = no_targets(trained.schema, graphs.graphs);
  check_packed_items(packed, "graphs");
  const NodeEncodingOptions encoding = trained.settings.model.node_encoding();
  take_encoding(packed, encoded_nodes(packed.graphs, encoding), encoding);
  return packed;
}

at::Tensor predict_graphs(GraphRun& trained, const FeaturedGraphs& graphs) {
  return predictions(trained, unlabelled_items(trained, graphs));
}

at::Tensor predict_dataset(GraphRun& trained, const std::filesystem::path& dataset) {
  GraphSettings settings = trained.settings;
  settings.data = dataset.string();
  const PackedItems graphs = open_run_graphs(trained, settings);
  return predictions(trained, graphs);
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
