// SPDX-License-Identifier: Apache-2.0
// What may be chosen anew when a trained model is used, whatever it was trained on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tools/common/experiment_settings.h"
#include "tools/common/runtime_options.h"

namespace geosft {

class RunOverrides {
 public:
  // `data_help` and `seed_help` say what the two options mean to the tool; without `votes` it looks into one draw.
  void add_to(CLI::App& verb, const std::string& data_help, const std::string& seed_help, bool votes = true);
  // Sets LibTorch's threads, and gives the device. Throws UsageError for one that cannot be used.
  at::Device apply_runtime() const { return runtime_.apply(); }
  // Replaces what was given on the command line.
  void apply(std::string& data, uint64_t& seed, EvaluationSettings& evaluation) const;

 private:
  RuntimeOptions runtime_;
  std::optional<std::string> data_, evaluation_;
  std::optional<uint64_t> seed_;
  std::optional<int64_t> votes_;
};

}  // namespace geosft
