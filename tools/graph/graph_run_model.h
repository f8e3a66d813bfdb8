// SPDX-License-Identifier: Apache-2.0
// A trained graph model as it lies in a RUN folder.
#pragma once

#include <filesystem>

#include "models/graph_model.h"
#include "tools/experiment/run_observer.h"
#include "tools/graph/graph_settings.h"

namespace geosft {

struct GraphRunModel {
  GraphSettings settings;
  ItemSchema schema;  // of the data that it was trained on
  GraphModel model{nullptr};
};

// What the observer of a run needs to know of it.
RunDescription describe_graph_run(GraphSettings settings, const ItemSchema& schema, bool held_out);

// A schema without its labels as JSON on one line, and back. Throws DataError, naming `file`, for anything else.
std::string schema_text(const ItemSchema& schema);
ItemSchema schema_of(const std::string& text, const std::string& file);
// The labels, a text of their own, as earlier versions kept none.
std::string labels_text(const ItemSchema& schema);

// Loads a RUN folder (its best checkpoint) or a checkpoint file. Throws when it is not one of this tool.
GraphRunModel load_graph_run(const std::filesystem::path& run);

// Throws DataError, naming `data`, when a dataset has other features or outputs than the one that was trained on.
void check_same_schema(const GraphRunModel& trained, const ItemSchema& schema, const std::string& data);

}  // namespace geosft
