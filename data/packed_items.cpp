// SPDX-License-Identifier: Apache-2.0
#include "data/packed_items.h"

#include <algorithm>
#include <set>

#include "data/data_error.h"
#include "data/read_file.h"

namespace geosft {
namespace {

struct TaskEntry {
  GraphTask task;
  const char* name;
  bool classes, labels, of_nodes;
};

constexpr TaskEntry task_table[] = {
    {GraphTask::classification, "classification", true, false, false},
    {GraphTask::multi_label, "multi_label", false, true, false},
    {GraphTask::regression, "regression", false, false, false},
    {GraphTask::node_classification, "node_classification", true, false, true},
    {GraphTask::node_multi_label, "node_multi_label", false, true, true},
};

const TaskEntry& entry_of(GraphTask task) {
  for (const TaskEntry& entry : task_table) {
    if (entry.task == task) return entry;
  }
  TORCH_CHECK(false, "unknown graph task");
}

std::string typed_shape(const at::Tensor& tensor) {
  if (!tensor.defined()) return "none";
  std::string text = std::string(c10::toString(tensor.scalar_type())) + " [";
  for (int64_t i = 0; i < tensor.dim(); ++i) text += (i > 0 ? ", " : "") + std::to_string(tensor.size(i));
  return text + "]";
}

class Checker {
 public:
  Checker(const PackedItems& packed, const std::string& source) : packed_(packed), source_(source) {}

  void check_features() const {
    const int64_t nodes = packed_.graphs.graph.nodes(), edges = packed_.graphs.graph.edges();
    const ItemSchema& schema = packed_.schema;
    check_categories(packed_.node_categories, "node_categories", nodes, schema.node_vocabulary);
    check_categories(packed_.edge_categories, "edge_categories", edges, schema.edge_vocabulary);
    check_values(packed_.node_values, "node_values", nodes, schema.node_values);
    check_values(packed_.edge_values, "edge_values", edges, schema.edge_values);
    check_values(packed_.coordinates, "coordinates", nodes, schema.coordinates ? 3 : 0);
    check_graph_rows();
    check_layout();
  }

  void check_answers() const {
    check_names();
    check_target();
    check_node_split();
    check_split();
    check_titles();
  }

 private:
  [[noreturn]] void fail(const char* member, const std::string& expected, const std::string& found) const {
    throw DataError(source_ + " (" + member + ")", expected, found);
  }

  void check_shape(const at::Tensor& tensor, const char* member, at::ScalarType dtype,
                   const std::vector<int64_t>& shape) const {
    if (tensor.defined() && tensor.scalar_type() == dtype && tensor.sizes() == at::IntArrayRef(shape)) return;
    fail(member, typed_shape(at::empty(shape, dtype)), typed_shape(tensor));
  }

  void check_range(const at::Tensor& numbers, const char* member, int64_t low, int64_t end) const {
    if (numbers.numel() == 0) return;
    const int64_t minimum = numbers.min().item<int64_t>(), maximum = numbers.max().item<int64_t>();
    if (minimum >= low && maximum < end) return;
    fail(member, "numbers from " + std::to_string(low) + " to " + std::to_string(end - 1),
         std::to_string(minimum < low ? minimum : maximum));
  }

  void check_categories(const at::Tensor& categories, const char* member, int64_t rows,
                        const std::vector<int64_t>& vocabulary) const {
    if (vocabulary.empty()) {
      if (categories.defined()) fail(member, "none, as the schema has no such columns", typed_shape(categories));
      return;
    }
    const int64_t columns = static_cast<int64_t>(vocabulary.size());
    const bool narrow = categories.defined() && categories.scalar_type() == at::kByte;
    check_shape(categories, member, narrow ? at::kByte : at::kLong, {rows, columns});
    for (int64_t column = 0; column < columns; ++column) {
      check_range(categories.select(1, column), member, 0, vocabulary[static_cast<size_t>(column)]);
    }
  }

  void check_values(const at::Tensor& values, const char* member, int64_t rows, int64_t columns) const {
    if (columns == 0) {
      if (values.defined()) fail(member, "none, as the schema has no such columns", typed_shape(values));
      return;
    }
    check_shape(values, member, at::kFloat, {rows, columns});
    if (!values.isfinite().all().item<bool>()) fail(member, "finite numbers", "NaN or infinity");
  }

  void check_graph_rows() const {
    const at::Tensor& features = packed_.graph_features;
    int64_t columns = packed_.schema.graph_features;
    // Models need not see all: a regression does.
    if (features.defined() && features.dim() == 2) columns = std::max(columns, features.size(1));
    if (columns == 0 && !features.defined()) return;
    check_shape(features, "graph_features", at::kFloat, {packed_.size(), columns});
    if (features.isinf().any().item<bool>()) fail("graph_features", "finite numbers or NaN", "infinity");
  }

  void check_layout() const {
    const ItemSchema& schema = packed_.schema;
    const int64_t places = schema.grid_height * schema.grid_width;
    if (places > 0 && !packed_.graphs.ptr.diff().eq(places).all().item<bool>()) {
      fail("ptr", "items of " + std::to_string(places) + " nodes, as the grid has", "others");
    }
    if (!schema.documents) return;
    if (schema.node_vocabulary.empty() || schema.node_vocabulary.back() != 2) {
      fail("node_vocabulary", "a last column of 2, of the documents", "another");
    }
    const at::Tensor document = packed_.node_categories.select(1, -1);
    try {
      document_offsets(packed_.graphs.ptr, document);
    } catch (const c10::Error&) {
      fail("node_categories", "the first document of an item before the second", "another order");
    }
  }

  void check_node_split() const {
    if (!packed_.node_split.defined()) return;
    check_shape(packed_.node_split, "node_split", at::kLong, {packed_.graphs.graph.nodes()});
    check_range(packed_.node_split, "node_split", -1, 3);
    const GraphTask task = packed_.schema.task;
    if (!is_of_nodes(task))
      fail("node_split", "none, as targets belong to graphs", std::string("task ") + task_name(task));
  }

  void check_names() const {
    const std::vector<std::string>& names = packed_.schema.output_names;
    const std::set<std::string> distinct(names.begin(), names.end());
    const bool usable = std::all_of(names.begin(), names.end(), [](const std::string& name) {
      return !name.empty() && trimmed(name) == name && name.find('\n') == std::string::npos;
    });
    if (names.empty() || !usable || distinct.size() != names.size()) {
      fail("output_names", "distinct names of one line", std::to_string(names.size()) + " names that are not");
    }
    const std::vector<float>& values = packed_.schema.label_values;
    if (!values.empty() && values.size() != 2 * names.size()) {
      fail("label_values", "two per output, or none", std::to_string(values.size()));
    }
  }

  void check_target() const {
    const at::Tensor& target = packed_.target;
    const GraphTask task = packed_.schema.task;
    const bool of_nodes = is_of_nodes(task);
    const int64_t rows = of_nodes ? packed_.graphs.graph.nodes() : packed_.size(), outputs = packed_.schema.outputs();
    if (has_classes(task)) {
      check_shape(target, "target", at::kLong, {rows});
      check_range(target, "target", of_nodes ? -1 : 0, outputs);
      return;
    }
    check_shape(target, "target", at::kFloat, {rows, outputs});
    if (target.isinf().any().item<bool>()) fail("target", "finite numbers, or NaN where one is missing", "infinity");
    const at::Tensor label = target.isnan() | (target == 0) | (target == 1);
    if (has_labels(task) && !label.all().item<bool>()) {
      fail("target", "1, 0, or NaN where a label is missing", "another number");
    }
  }

  void check_split() const {
    if (!packed_.split) return;
    std::vector<bool> seen(static_cast<size_t>(packed_.size()), false);
    for (const auto* items : {&packed_.split->train, &packed_.split->validation, &packed_.split->test}) {
      for (const int64_t item : *items) {
        if (item < 0 || item >= packed_.size()) {
          fail("split", "graphs 0 … " + std::to_string(packed_.size() - 1), std::to_string(item));
        }
        if (seen[static_cast<size_t>(item)])
          fail("split", "every graph once", "graph " + std::to_string(item) + " twice");
        seen[static_cast<size_t>(item)] = true;
      }
    }
  }

  void check_titles() const {
    const auto check = [&](const char* member, size_t size) {
      const auto found = static_cast<int64_t>(size);
      if (found == 0 || found == packed_.size()) return;
      fail(member, "none, or one for each of the " + std::to_string(packed_.size()) + " graphs", std::to_string(found));
    };
    check("smiles", packed_.smiles.size());
    check("lines", packed_.lines.size());
    check("names", packed_.names.size());
  }

  const PackedItems& packed_;
  const std::string& source_;
};

}  // namespace

const char* task_name(GraphTask task) {
  return entry_of(task).name;
}

std::optional<GraphTask> task_named(const std::string& name) {
  for (const GraphTask task : graph_tasks) {
    if (name == task_name(task)) return task;
  }
  return std::nullopt;
}

bool has_classes(GraphTask task) {
  return entry_of(task).classes;
}

bool has_labels(GraphTask task) {
  return entry_of(task).labels;
}

bool is_of_nodes(GraphTask task) {
  return entry_of(task).of_nodes;
}

void check_graph_features(const PackedItems& packed, const std::string& source) {
  check_batch(packed.graphs);
  Checker(packed, source).check_features();
}

void check_packed_items(const PackedItems& packed, const std::string& source) {
  check_graph_features(packed, source);
  Checker(packed, source).check_answers();
}

}  // namespace geosft
