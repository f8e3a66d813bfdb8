// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/graph_learning.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "data/data_error.h"

namespace geosft {
namespace {

GraphTask task_of(const std::string& name) {
  if (const std::optional<GraphTask> task = task_named(name)) return *task;
  throw std::invalid_argument("no task " + name);
}

// Reads the labels from the checkpoint; those of earlier versions have none.
void take_labels(const Checkpoint& checkpoint, const std::string& file, ItemSchema& schema) {
  const auto text = checkpoint.texts.find("labels");
  if (text == checkpoint.texts.end()) return;
  try {
    const nlohmann::json json = nlohmann::json::parse(text->second);
    json.at("nodes").get_to(schema.node_labels);
    json.at("edges").get_to(schema.edge_labels);
  } catch (const std::exception& error) {
    throw DataError(file, "the labels of a graph dataset", error.what());
  }
}

std::string labels_text(const ItemSchema& schema) {
  return nlohmann::json{{"nodes", schema.node_labels}, {"edges", schema.edge_labels}}.dump();
}

// Returns "3 (0, 5, 7)", or "none".
template <class T>
std::string list_text(const std::vector<T>& values) {
  if (values.empty()) return "none";
  std::ostringstream text;
  if (values.size() > 1) text << values.size() << " (";
  for (size_t i = 0; i < values.size(); ++i) text << (i == 0 ? "" : ", ") << values[i];
  if (values.size() > 1) text << ')';
  return text.str();
}

// Names a part of a schema, for messages.
struct SchemaEntry {
  const char* name;
  std::string (*text)(const ItemSchema& schema);
};

const SchemaEntry schema_entries[] = {
    {"task", [](const ItemSchema& schema) { return std::string(task_name(schema.task)); }},
    {"outputs", [](const ItemSchema& schema) { return list_text(schema.output_names); }},
    {"items", [](const ItemSchema& schema) { return schema.items; }},
    {"sizes of the categories of nodes", [](const ItemSchema& schema) { return list_text(schema.node_vocabulary); }},
    {"values a node", [](const ItemSchema& schema) { return std::to_string(schema.node_values); }},
    {"sizes of the categories of edges", [](const ItemSchema& schema) { return list_text(schema.edge_vocabulary); }},
    {"values an edge", [](const ItemSchema& schema) { return std::to_string(schema.edge_values); }},
    {"coordinates", [](const ItemSchema& schema) { return std::string(schema.coordinates ? "yes" : "no"); }},
    {"grid",
     [](const ItemSchema& schema) {
       return std::to_string(schema.grid_height) + " x " + std::to_string(schema.grid_width);
     }},
    {"documents",
     [](const ItemSchema& schema) { return std::string(schema.documents ? "two an item" : "one an item"); }},
    {"features of whole graphs", [](const ItemSchema& schema) { return std::to_string(schema.graph_features); }},
    {"numbers of labels", [](const ItemSchema& schema) { return list_text(schema.label_values); }},
    {"labels of nodes", [](const ItemSchema& schema) { return list_text(schema.node_labels); }},
    {"labels of edges", [](const ItemSchema& schema) { return list_text(schema.edge_labels); }},
};

}  // namespace

std::string ItemOutputs::size_text() const {
  const std::string word = has_classes(schema.task) ? "class" : has_labels(schema.task) ? "label" : "target";
  const std::string plural = has_classes(schema.task) ? "es" : "s";
  return std::to_string(schema.outputs()) + " " + word + (schema.outputs() == 1 ? "" : plural);
}

std::map<std::string, std::string> ItemOutputs::texts() const {
  return {{"schema", schema_text(schema)}, {"labels", labels_text(schema)}};
}

void ItemOutputs::read(const Checkpoint& checkpoint, const std::string& program, const std::filesystem::path& file) {
  schema = schema_of(run_text(checkpoint, program, "schema", file), file.string());
  take_labels(checkpoint, file.string(), schema);
}

std::string schema_text(const ItemSchema& schema) {
  nlohmann::json json{{"task", task_name(schema.task)},      {"node_vocabulary", schema.node_vocabulary},
                      {"node_values", schema.node_values},   {"edge_vocabulary", schema.edge_vocabulary},
                      {"edge_values", schema.edge_values},   {"coordinates", schema.coordinates},
                      {"output_names", schema.output_names}, {"items", schema.items},
                      {"grid_height", schema.grid_height},   {"grid_width", schema.grid_width},
                      {"documents", schema.documents}};
  // Runs without such features keep the text of earlier versions, by which they are resumed.
  if (schema.graph_features > 0) json["graph_features"] = schema.graph_features;
  if (!schema.label_values.empty()) json["label_values"] = schema.label_values;
  return json.dump();
}

ItemSchema schema_of(const std::string& text, const std::string& file) {
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    return {task_of(json.at("task")),
            json.at("node_vocabulary"),
            json.at("node_values"),
            json.at("edge_vocabulary"),
            json.at("edge_values"),
            json.at("coordinates"),
            json.at("output_names"),
            json.value("items", "graphs"),
            json.value("grid_height", 0),
            json.value("grid_width", 0),
            json.value("documents", false),
            {},
            {},
            json.value("graph_features", 0),
            json.value("label_values", std::vector<float>())};
  } catch (const std::exception& error) {
    throw DataError(file, "the schema of a graph dataset", error.what());
  }
}

void ItemOutputs::check_same(const ItemOutputs& other, const std::string& data) const {
  ItemSchema found = other.schema, expected = schema;
  // Ignores labels and their numbers that one side lacks: packed graph files and runs of earlier versions have none.
  for (const auto labels : {&ItemSchema::node_labels, &ItemSchema::edge_labels}) {
    if ((found.*labels).empty() || (expected.*labels).empty()) (found.*labels) = (expected.*labels) = {};
  }
  if (found.label_values.empty() || expected.label_values.empty()) found.label_values = expected.label_values = {};
  // Earlier versions counted features that the head does not see.
  if (found.graph_features == 0 || expected.graph_features == 0) found.graph_features = expected.graph_features = 0;
  if (found == expected) return;
  const auto shortened = [](const std::string& text) {
    constexpr size_t longest = 160;
    return text.size() > longest ? text.substr(0, longest) + "…" : text;
  };
  std::string wanted, other_text;
  for (const SchemaEntry& entry : schema_entries) {
    const std::string ours = entry.text(expected), theirs = entry.text(found);
    if (ours == theirs) continue;
    wanted += (wanted.empty() ? "" : "; ") + std::string(entry.name) + ": " + shortened(ours);
    other_text += (other_text.empty() ? "" : "; ") + std::string(entry.name) + ": " + shortened(theirs);
  }
  throw DataError(data, "the features and outputs of the trained model; " + wanted, other_text);
}

}  // namespace geosft
