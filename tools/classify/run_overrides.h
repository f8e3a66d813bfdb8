// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "tools/classify/run_model.h"
#include "tools/common/runtime_options.h"

namespace geosft {

// What may be chosen anew when a trained model is used; everything else is as it was trained.
class RunOverrides {
 public:
  void add_to(CLI::App& verb);
  // Loads the run and applies what was given. Also sets LibTorch's threads.
  RunModel load(const std::filesystem::path& run) const;

 private:
  RuntimeOptions runtime_;
  std::optional<std::string> data_, evaluation_;
  std::optional<uint64_t> seed_;
  std::optional<int64_t> votes_, points_;
};

}  // namespace geosft
