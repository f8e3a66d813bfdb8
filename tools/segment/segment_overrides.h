// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "tools/experiment/eval_options.h"
#include "tools/segment/segment_run.h"

namespace geosft {

// Options that override the settings of a trained model; all other settings are those of the training.
class SegmentOverrides {
 public:
  void add_to(CLI::App& subcommand);
  // Loads the run and applies the overrides. Also sets LibTorch's number of threads.
  SegmentRun load(const std::filesystem::path& run) const;

 private:
  RunOverrides common_;
  std::optional<int64_t> block_;
};

}  // namespace geosft
