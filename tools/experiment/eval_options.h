// SPDX-License-Identifier: Apache-2.0
// Options of the subcommands that use a trained model.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "models/layers/linear.h"
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
  // Throws DataError, which says that --data names another folder, if `data` are those that `run` was trained on, and
  // are not where it recorded them.
  void require_recorded(const std::string& data, const std::filesystem::path& run) const;
  // Returns whether --data was given.
  bool names_data() const { return data_.has_value(); }
  // Throws UsageError for a precision that the device, a CPU that has bfloat16 or not, does not compute in.
  void check_precision(at::Device device, bool cpu_has_bfloat16) const;
  // Overwrites the arguments with the options given on the command line.
  void apply(std::string& data, uint64_t& seed, EvaluationSettings& evaluation) const;
  // Calls load_run(run), moves the model to the device and applies the overrides. Also sets the number of threads.
  template <class Load>
  auto load(const std::filesystem::path& run, const Load& load_run) const {
    const at::Device device = apply_runtime();
    check_precision(device, bfloat16_on_cpu());
    auto loaded = load_run(run);
    loaded.to(device);
    apply(loaded.settings.data, loaded.settings.seed, loaded.settings.evaluation);
    return loaded;
  }

 private:
  RuntimeOptions runtime_;
  std::optional<std::string> data_;
  std::optional<SampleMode> evaluation_;
  std::optional<uint64_t> seed_;
  std::optional<int64_t> votes_;
  std::optional<EvaluationPrecision> precision_;
};

// Names for the items of an experiment, in options and messages.
struct ItemWords {
  const char *item, *items;
  bool edges = false;  // whether items have edges, and unordered nodes
};

// Describes what predict or eval takes after the RUN.
struct PredictedInputs {
  const char* program;
  const char* example;                            // a file, such as "chair.obj", or "--data DIR"
  bool (*is_file)(const std::filesystem::path&);  // by its ending
  bool file_or_data = false;                      // FILE is required unless --data is given
};

// Makes parsing throw UsageError if a subcommand that has RUN is given a file in the place of RUN, or no FILE that is
// required, and no --data: the message says what comes first and which pretrained models there are.
void check_run_first(CLI::App& subcommand, const PredictedInputs& inputs);

// RUN and --json, which eval and predict have.
struct RunArguments {
  std::string run;
  bool json = false;

  void add_run_to(CLI::App& subcommand);
  void add_json_to(CLI::App& subcommand, const std::string& help = "print one JSON object");
};

// Options that override the settings of a trained run of an experiment; for Experiment see experiment_commands.h.
template <class Experiment>
class Overrides {
 public:
  using Run = TrainedRun<typename Experiment::Task>;

  void add_to(CLI::App& subcommand, const std::string& seed_help = Experiment::seed_help) {
    common_.add_to(subcommand, Experiment::data_help() + " (default: the one trained on)", seed_help);
    own_.add_to(subcommand, Experiment::items);
  }
  // Throws DataError if the data that the run was trained on have moved, and --data does not say where they are. Prints
  // which share of other data is taken, where that is not plain.
  void require_data(const Run& trained, const std::filesystem::path& run) const {
    common_.require_recorded(trained.settings.data, run);
    if constexpr (requires { own_.data_note(trained.settings); }) {
      const std::string note = common_.names_data() ? own_.data_note(trained.settings) : "";
      if (!note.empty()) std::cerr << note << '\n';
    }
  }
  // Loads the run and applies the overrides. Also sets LibTorch's number of threads.
  Run load(const std::filesystem::path& run) const {
    std::string recorded;
    Run loaded = common_.load(run, [&](const std::filesystem::path& path) {
      Run found = load_trained_run<typename Experiment::Task>(path, Experiment::program);
      recorded = found.settings.data;
      return found;
    });
    if (const std::string warning = left_out_warning(run, loaded); !warning.empty()) std::cerr << warning << '\n';
    if (const std::string warning = unfinished_warning(run, Experiment::program); !warning.empty()) {
      std::cerr << warning << '\n';
    }
    own_.apply(loaded.settings);
    if constexpr (requires { own_.other_data; }) {
      const std::string& data = loaded.settings.data;
      std::error_code absent;
      const bool of_training = data == recorded || std::filesystem::equivalent(data, recorded, absent);
      if (own_.other_data && of_training) {
        std::cerr << recorded
                  << ": these are the data of the training; without --other-data, its test clouds are taken\n";
      }
      loaded.other_data = own_.other_data;
      // A pretrained model has no split.csv; a folder is not the set that is no folder.
      const bool no_folder = recorded != loaded.settings.data && Experiment::holds_data(recorded);
      if (no_folder && !std::filesystem::exists(loaded.split_file)) own_.take_all(loaded.settings);
    }
    return loaded;
  }

 private:
  RunOverrides common_;
  typename Experiment::Overrides own_;
};

// An option for a size that the settings of a task have.
struct SizeOption {
  const char* name;
  const char* help;
  int64_t low;  // the smallest size that is permitted

  void add_to(CLI::App& subcommand, std::optional<int64_t>& size) const;
};

// The options of eval for point clouds.
struct CloudEvalOptions {
  std::string split = "test";
  Rotation rotation = Rotation::none;
  std::optional<int64_t> repeats = {};
  bool estimated_normals = false;  // of all clouds, as those of scans are

  void add_to(CLI::App& subcommand, const std::vector<std::string>& splits);
  // Returns the number of rotations per cloud: 1 for upright clouds. Throws UsageError if those have repeats.
  int64_t turns() const;
};

}  // namespace geosft
