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

// Options that override the settings of a trained run; all other settings are those of the training.
class RunOverrides {
 public:
  // `data_help` and `seed_help` are the help texts of the two options; `votes` adds --votes.
  void add_to(CLI::App& subcommand, const std::string& data_help, const std::string& seed_help, bool votes = true);
  // Sets LibTorch's number of threads and returns the device. Throws UsageError for a device that cannot be used.
  at::Device apply_runtime() const { return runtime_.apply(); }
  // Overwrites the arguments with the options given on the command line.
  void apply(std::string& data, uint64_t& seed, EvaluationSettings& evaluation) const;
  // Calls load_run(run), moves the model to the device and applies the overrides. Also sets the number of threads.
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
  // Returns the number of rotations per cloud: 1 for upright clouds.
  int64_t turns() const { return rotation() == Rotation::none ? 1 : repeats; }
};

}  // namespace geosft
