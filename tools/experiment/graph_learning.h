// SPDX-License-Identifier: Apache-2.0
// Learning on graphs and sequences: trained models, and the schema of the data that they fit.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "models/graph_model.h"
#include "tools/experiment/graph_kernel.h"
#include "tools/experiment/graph_settings.h"
#include "tools/experiment/trained_run.h"

namespace geosft {

// Features and outputs of the training data.
struct ItemOutputs {
  ItemSchema schema;

  const std::vector<std::string>& names() const { return schema.output_names; }
  // Returns "2 classes", "10 labels" or "1 target".
  std::string size_text() const;
  // Returns the schema and, as a separate text that earlier versions do not have, its labels.
  std::map<std::string, std::string> texts() const;
  // Takes the schema from a checkpoint of `program`. Throws DataError naming `file`.
  void read(const Checkpoint& checkpoint, const std::string& program, const std::filesystem::path& file);
  // Throws DataError naming `data` if a dataset has other features or outputs than the training data.
  void check_same(const ItemOutputs& other, const std::string& data) const;
};

// Converts a schema without its labels to one line of JSON, and back. Throws DataError naming `file` if invalid.
std::string schema_text(const ItemSchema& schema);
ItemSchema schema_of(const std::string& text, const std::string& file);

// See TrainedRun.
struct GraphLearning : TaskTypes<GraphSettings, ItemOutputs, GraphModel, GraphKernel> {
  static constexpr const char* program = "geosft-graph";
  static Model make_model(const Settings& settings, const Outputs& outputs) {
    return Model(settings.graph_model(outputs.schema));
  }
  static ScoreStyle score(const Settings& settings, const Outputs& outputs) {
    return score_style(outputs.schema, settings.train.metric);
  }
};

using GraphRun = TrainedRun<GraphLearning>;

// Loads a RUN folder (its best checkpoint), with all models of an ensemble, or a checkpoint file. Throws DataError if
// another tool wrote it.
inline GraphRun load_graph_run(const std::filesystem::path& run) {
  return load_trained_run<GraphLearning>(run);
}

}  // namespace geosft
