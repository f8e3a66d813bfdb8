// SPDX-License-Identifier: Apache-2.0
// Loads a trained graph model from a RUN folder.
#pragma once

#include <filesystem>

#include "models/graph_model.h"
#include "tools/experiment/run_observer.h"
#include "tools/graph/graph_settings.h"

namespace geosft {

struct GraphRunModel {
  GraphSettings settings;
  ItemSchema schema;  // of the training data
  GraphModel model{nullptr};
  std::vector<GraphModel> more_models = {};  // of an ensemble, whose outputs are averaged with those of `model`

  // Moves all models.
  void to(at::Device device);
};

// Returns the folder of model `number`, from 1, of an ensemble whose first model is in `run`: a run of its own.
std::filesystem::path ensemble_folder(const std::filesystem::path& run, int64_t number);

// Describes the run for its observer.
RunDescription describe_graph_run(GraphSettings settings, const ItemSchema& schema, bool held_out);

// Converts a schema without its labels to one line of JSON, and back. Throws DataError naming `file` if invalid.
std::string schema_text(const ItemSchema& schema);
ItemSchema schema_of(const std::string& text, const std::string& file);
// Returns the labels as a separate text, which earlier versions do not have.
std::string labels_text(const ItemSchema& schema);

// Loads a RUN folder (its best checkpoint), with all models of an ensemble, or a checkpoint file. Throws if another
// tool wrote it.
GraphRunModel load_graph_run(const std::filesystem::path& run);
// Makes the model of a checkpoint; `file` names it in messages.
GraphRunModel graph_run_of(const Checkpoint& checkpoint, const std::filesystem::path& file);

// Throws DataError naming `data` if a dataset has other features or outputs than the training data.
void check_same_schema(const GraphRunModel& trained, const ItemSchema& schema, const std::string& data);

}  // namespace geosft
