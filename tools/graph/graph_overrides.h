// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "tools/experiment/eval_options.h"
#include "tools/graph/graph_run_model.h"
#include "tools/graph/item_words.h"

namespace geosft {

// What may be chosen anew when a trained graph model is used; everything else is as it was trained.
class GraphOverrides {
 public:
  // `seed_help` says what the seed is of.
  void add_to(CLI::App& subcommand, const ItemWords& words, const std::string& seed_help);
  // Loads the run and applies what was given. Also sets LibTorch's threads.
  GraphRunModel load(const std::filesystem::path& run) const;

 private:
  RunOverrides common_;
  std::optional<std::string> split_name_;
};

// A run together with the dataset that it is used on: same features and outputs as the one that it was trained on.
struct OpenedRun {
  GraphRunModel trained;
  PackedItems graphs;
};
OpenedRun open_run(const GraphOverrides& overrides, const std::filesystem::path& run);

}  // namespace geosft
