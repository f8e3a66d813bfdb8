// SPDX-License-Identifier: Apache-2.0
#include "tools/graph/graph_run_model.h"

#include <nlohmann/json.hpp>

#include "data/points/shape.h"
#include "tools/graph/graph_metrics.h"

namespace geosft {
namespace {

constexpr const char* graph_kind = "geosft-graph";

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

}  // namespace

RunDescription describe_graph_run(GraphSettings settings, const ItemSchema& schema, bool held_out) {
  RunDescription run;
  run.kind = graph_kind;
  run.config = settings.config().to_toml();
  run.names = schema.output_names;
  run.more_texts = {{"schema", schema_text(schema)}, {"labels", labels_text(schema)}};
  run.data = settings.data;
  run.epochs = settings.train.epochs;
  run.checkpoint_every = settings.train.checkpoint_every;
  run.tensorboard = settings.train.tensorboard;
  run.held_out = held_out;
  run.score = score_style(schema, settings.train.metric);
  return run;
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
            json.value("graph_features", 0)};
  } catch (const std::exception& error) {
    throw DataError(file, "the schema of a graph dataset", error.what());
  }
}

std::string labels_text(const ItemSchema& schema) {
  return nlohmann::json{{"nodes", schema.node_labels}, {"edges", schema.edge_labels}}.dump();
}

void GraphRunModel::to(at::Device device) {
  model->to(device);
  for (GraphModel& each : more_models) each->to(device);
}

std::filesystem::path ensemble_folder(const std::filesystem::path& run, int64_t number) {
  return run / ("model_" + std::to_string(number));
}

GraphRunModel load_graph_run(const std::filesystem::path& run) {
  std::filesystem::path file;
  const Checkpoint checkpoint = load_run_checkpoint(run, file);
  GraphRunModel loaded = graph_run_of(checkpoint, file);
  if (!std::filesystem::is_directory(run)) return loaded;
  for (int64_t number = 1; number < loaded.settings.ensemble; ++number) {
    GraphRunModel more = load_graph_run(ensemble_folder(run, number));
    check_same_schema(loaded, more.schema, ensemble_folder(run, number).string());
    loaded.more_models.push_back(more.model);
  }
  return loaded;
}

GraphRunModel graph_run_of(const Checkpoint& checkpoint, const std::filesystem::path& file) {
  GraphRunModel loaded;
  loaded.schema = schema_of(run_text(checkpoint, graph_kind, "schema", file), file.string());
  take_labels(checkpoint, file.string(), loaded.schema);
  read_run_config(file, [&] {
    loaded.settings.config().set_text(run_text(checkpoint, graph_kind, "config", file), "its configuration");
  });
  loaded.model = GraphModel(loaded.settings.graph_model(loaded.schema));
  load_run_weights(*loaded.model, checkpoint, file);
  loaded.model->eval();
  return loaded;
}

void check_same_schema(const GraphRunModel& trained, const ItemSchema& schema, const std::string& data) {
  ItemSchema found = schema, expected = trained.schema;
  // Ignores labels that one side lacks: packed graph files and runs of earlier versions have none.
  for (const auto labels : {&ItemSchema::node_labels, &ItemSchema::edge_labels}) {
    if ((found.*labels).empty() || (expected.*labels).empty()) (found.*labels) = (expected.*labels) = {};
  }
  if (found == expected) return;
  const bool labels = schema_text(schema) == schema_text(trained.schema);  // only the labels differ
  const auto text = labels ? labels_text : schema_text;
  throw DataError(
      data,
      std::string("the ") + (labels ? "labels" : "features and outputs") + " of the trained model, " + text(expected),
      text(found));
}

}  // namespace geosft
