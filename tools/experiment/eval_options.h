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
#include "tools/experiment/trained_run.h"

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
  std::optional<std::string> data_;
  std::optional<SampleMode> evaluation_;
  std::optional<uint64_t> seed_;
  std::optional<int64_t> votes_;
};

// An option for a size that the setting of a task has.
struct SizeOption {
  const char* name;
  const char* help;
  int64_t low;  // the smallest size that is permitted

  void add_to(CLI::App& subcommand, std::optional<int64_t>& size) const;
};

// Options that override the settings of a trained run with point clouds; for Experiment see cloud_commands.h.
template <class Experiment>
class CloudOverrides {
 public:
  using Task = typename Experiment::Task;

  void add_to(CLI::App& subcommand) {
    common_.add_to(subcommand, std::string(Task::Settings::kDataHelp) + " (default: the one trained on)",
                   Experiment::seed_help);
    Experiment::size_option.add_to(subcommand, size_);
  }
  // Loads the run and applies the overrides. Also sets LibTorch's number of threads.
  TrainedRun<Task> load(const std::filesystem::path& run) const {
    TrainedRun<Task> loaded = common_.load(run, load_trained_run<Task>);
    if (size_) Experiment::size_of(loaded.settings) = *size_;
    return loaded;
  }

 private:
  RunOverrides common_;
  std::optional<int64_t> size_;
};

struct CloudEvalArguments {
  std::string run, split = "test";
  Rotation rotation = Rotation::none;
  int64_t repeats = 1;
  bool json = false;

  void add_to(CLI::App& subcommand, const std::vector<std::string>& splits);
  // Returns the number of rotations per cloud: 1 for upright clouds.
  int64_t turns() const { return rotation == Rotation::none ? 1 : repeats; }
};

}  // namespace geosft
