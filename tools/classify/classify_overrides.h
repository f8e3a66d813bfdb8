// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "tools/classify/run_model.h"
#include "tools/experiment/eval_options.h"

namespace geosft {

// What may be chosen anew when a trained classifier is used; everything else is as it was trained.
class ClassifyOverrides {
 public:
  void add_to(CLI::App& subcommand);
  // Loads the run and applies what was given. Also sets LibTorch's threads.
  RunModel load(const std::filesystem::path& run) const;

 private:
  RunOverrides common_;
  std::optional<int64_t> points_;
};

}  // namespace geosft
