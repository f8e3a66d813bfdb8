// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "tools/classify/run_model.h"
#include "tools/experiment/eval_options.h"

namespace geosft {

// Options that override the settings of a trained classifier; all other settings are those of the training.
class ClassifyOverrides {
 public:
  void add_to(CLI::App& subcommand);
  // Loads the run and applies the overrides. Also sets LibTorch's number of threads.
  RunModel load(const std::filesystem::path& run) const;

 private:
  RunOverrides common_;
  std::optional<int64_t> points_;
};

}  // namespace geosft
