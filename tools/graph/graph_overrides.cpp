// SPDX-License-Identifier: Apache-2.0
#include "tools/graph/graph_overrides.h"

#include <CLI/CLI.hpp>

#include "models/summary.h"
#include "tools/graph/graph_data.h"

namespace geosft {

void GraphOverrides::add_to(CLI::App& subcommand, const ItemWords& words, const std::string& seed_help) {
  common_.add_to(subcommand, "dataset: a folder (default: the one trained on)", seed_help);
  if (words.graphs)
    subcommand.add_option("--split-name", split_name_, "which of several published splits of an OGB set");
}

GraphRunModel GraphOverrides::load(const std::filesystem::path& run) const {
  GraphRunModel loaded = common_.load(run, load_graph_run);
  loaded.to(device_of(*loaded.model));
  if (split_name_) loaded.settings.splits.split_name = *split_name_;
  return loaded;
}

OpenedRun open_run(const GraphOverrides& overrides, const std::filesystem::path& run) {
  OpenedRun opened{overrides.load(run), {}};
  opened.graphs = open_encoded_graphs(opened.trained.settings);
  check_same_schema(opened.trained, opened.graphs.schema, opened.trained.settings.data);
  return opened;
}

}  // namespace geosft
