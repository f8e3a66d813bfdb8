// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "tools/experiment/eval_options.h"
#include "tools/graph/graph_run_model.h"
#include "tools/graph/item_words.h"

namespace geosft {

// Options that override the settings of a trained graph model; all other settings are those of the training.
class GraphOverrides {
 public:
  // `seed_help` is the help text of --seed.
  void add_to(CLI::App& subcommand, const ItemWords& words, const std::string& seed_help);
  // Loads the run and applies the overrides. Also sets LibTorch's number of threads.
  GraphRunModel load(const std::filesystem::path& run) const;

 private:
  RunOverrides common_;
  std::optional<std::string> split_name_;
};

// A run and the dataset to use it on, which has the features and outputs of the training data.
struct OpenedRun {
  GraphRunModel trained;
  PackedItems graphs;
};
OpenedRun open_run(const GraphOverrides& overrides, const std::filesystem::path& run);

}  // namespace geosft
