// SPDX-License-Identifier: Apache-2.0
// Options of the subcommands that use a trained model.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tools/experiment/cloud_transforms.h"
#include "tools/experiment/experiment_settings.h"
#include "tools/experiment/subcommand.h"

namespace CLI {
class App;
}

namespace geosft {

// What may be chosen anew when a trained model is used; everything else is as it was trained.
class RunOverrides {
 public:
  // `data_help` and `seed_help` say what the two options mean to the tool; without `votes` it looks into one draw.
  void add_to(CLI::App& subcommand, const std::string& data_help, const std::string& seed_help, bool votes = true);
  // Sets LibTorch's threads, and gives the device. Throws UsageError for one that cannot be used.
  at::Device apply_runtime() const { return runtime_.apply(); }
  // Replaces what was given on the command line.
  void apply(std::string& data, uint64_t& seed, EvaluationSettings& evaluation) const;
  // load_run(run), on the device and with the settings that were given. Also sets LibTorch's threads.
  template <class Load>
  auto load(const std::filesystem::path& run, const Load& load_run) const {
    const at::Device device = apply_runtime();
    auto loaded = load_run(run);
    loaded.model->to(device);
    apply(loaded.settings.data, loaded.settings.seed, loaded.settings.evaluation);
    return loaded;
  }

 private:
  RuntimeOptions runtime_;
  std::optional<std::string> data_, evaluation_;
  std::optional<uint64_t> seed_;
  std::optional<int64_t> votes_;
};

struct CloudEvalArguments {
  std::string run, rotate = "none", split = "test";
  int64_t repeats = 1;
  bool json = false;

  void add_to(CLI::App& subcommand, const std::vector<std::string>& splits);
  Rotation rotation() const { return rotation_of(rotate); }
  // Rotations a cloud: upright there is only one.
  int64_t turns() const { return rotation() == Rotation::none ? 1 : repeats; }
};

}  // namespace geosft
