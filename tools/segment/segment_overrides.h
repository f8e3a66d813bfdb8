// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "tools/experiment/eval_options.h"
#include "tools/segment/segment_run.h"

namespace geosft {

// What may be chosen anew when a trained model is used; everything else is as it was trained.
class SegmentOverrides {
 public:
  void add_to(CLI::App& subcommand);
  // Loads the run and applies what was given. Also sets LibTorch's threads.
  SegmentRun load(const std::filesystem::path& run) const;

 private:
  RunOverrides common_;
  std::optional<int64_t> block_;
};

}  // namespace geosft
