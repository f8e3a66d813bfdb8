// SPDX-License-Identifier: Apache-2.0
// Runs a training in its RUN folder, for any task.
#pragma once

#include <ATen/ATen.h>

#include <filesystem>
#include <functional>
#include <iostream>
#include <optional>
#include <set>
#include <string>

#include "models/training/distributed/communicator.h"
#include "models/training/step_graph.h"
#include "tools/experiment/config.h"
#include "tools/experiment/experiment_settings.h"
#include "tools/experiment/processes.h"
#include "tools/experiment/run_checkpoint.h"
#include "tools/experiment/run_observer.h"
#include "tools/experiment/subcommand.h"

namespace geosft {

// The source of the values of keys that neither a configuration file nor an option gives.
enum class Preset { small, paper };
GEOSFT_ENUM_NAMES(Preset, small, paper);

// The options of every `train`, in addition to the configuration keys.
struct TrainArguments {
  std::string config_file, out;
  bool resume = false, json = false, list_keys = false;
  std::optional<Preset> preset;
  RuntimeOptions runtime;

  // Also adds the keys of `config` as options; `example` shows some of them in the help.
  void add_options(CLI::App& subcommand, Config& config, const std::string& example);
  // Adds --preset, for tools that have presets.
  void add_preset_option(CLI::App& subcommand);
  // Returns the name of the program as called, for messages.
  std::string program() const;
  // Returns the command that goes on with this training, with the threads and the device that were given.
  std::string resume_command() const;

  // Joins the processes started together with this one.
  void join() { joined_ = join_processes(); }
  // Sets LibTorch's number of threads and returns the device. With several processes, each gets its own GPU and joins
  // the NCCL communicator, or all compute on CPUs. Throws UsageError if that is impossible.
  at::Device begin();
  const Communicator& processes() const { return gpus_ ? *gpus_ : joined_ ? *joined_ : one_process(); }
  // Leaves the communicators after a barrier. Returns true on rank 0, which continues alone. Other ranks are done, also
  // after a signal: their return value is ignored.
  bool part();

  // Applies, for a new run, the configuration file, then the command line.
  void load_new(Config& config) const;
  // Does the same for distributed training and fine-tuning: with init_from the keys of the model come from that run
  // (take_model_keys), after the file and before the command line; the batch size given is per process, and is stored
  // as the global batch size, which stays the same if the run is resumed with another number of processes. Throws
  // UsageError for options of fine-tuning without init_from, and for another architecture than that of the run.
  void load_new(Config& config, TrainSettings& train) const;
  // Loads the settings of a resumed run, which continues bit for bit: settings that affect its steps stay.
  // Settings::take_resumable copies those that may change, and kResumable names them. Throws UsageError if others
  // differ.
  template <class Settings>
  void load_resumed(Settings& settings, Config& config, const RunFolder& folder) const;
  // Returns whether this command began the run in `out` earlier, and the launcher has restarted it.
  bool started_again() const;
  // For a restarted run, once `settings` hold what the command asks for: loads the run's own, whose batch size differs
  // if the number of processes changed. Throws UsageError if anything else differs.
  template <class Settings>
  void load_begun(Settings& settings, Config& config, const RunFolder& folder) const;

 private:
  const CLI::App* subcommand_ = nullptr;
  std::unique_ptr<Communicator> joined_, gpus_;  // gpus_ is created through joined_
};

// Opens a folder to resume, or a new one that rank 0 creates.
RunFolder open_run_folder(const std::filesystem::path& path, bool resume, const Communicator& processes);

enum class RunStart {
  fresh,
  resumed,  // from the last checkpoint of the folder
  trial     // a single step, to test whether memory suffices; leaves no trace
};

// Runs the rest of the loop. First writes configuration, names and version into the folder and prints configuration and
// `summary` to stderr; then writes checkpoints and metrics. Returns false if a signal arrived (the run is saved and can
// be resumed), or if the model rejected a trial step. Only rank 0 writes and prints.
bool train_in_folder(TrainingLoop& loop, const torch::nn::Module& model, const RunFolder& folder,
                     const RunDescription& run, RunStart start, const std::string& summary);

// Calls train(); if it throws before anything was written, rank 0 discards the folder.
bool train_or_clean(const RunFolder& folder, const Communicator& processes, const std::function<bool()>& train);

// A resumed run continues bit for bit. Throws UsageError if the configurations before and after the command line
// differ; `may_change` names the keys that were made equal beforehand.
void refuse_changes(const std::string& before, const std::string& after, const std::string& may_change);

// Says on stderr the first setting of the run's config.toml that differs from that of its last checkpoint: somebody has
// written it there.
void note_edited_config(const RunFolder& folder);

// Takes from a run what its data determined: that they have no normals, so that all were estimated.
template <class Settings>
void take_determined(Settings& settings, const Settings& run) {
  if constexpr (requires { settings.augment.estimated_normals; }) {
    if (run.augment.only_estimated_normals()) settings.augment.estimated_normals = run.augment.estimated_normals;
  }
}

template <class Settings>
void TrainArguments::load_resumed(Settings& settings, Config& config, const RunFolder& folder) const {
  if (!config_file.empty()) throw UsageError("--resume takes the configuration of the run: leave out --config");
  config.load_run_toml(folder.config());
  if (processes().is_root()) note_edited_config(folder);
  Settings before = settings;
  config.apply_options();
  take_determined(settings, before);
  Settings after = settings;
  // Fewer than the run has are refused when its checkpoint is read.
  const auto enough = [&] {
    return !std::filesystem::exists(folder.last_checkpoint()) ||
           chosen_checkpoint(folder.last_checkpoint()).epoch <= after.train.epochs;
  };
  if (after.train.epochs != before.train.epochs && processes().is_root() && enough()) {
    std::cerr << "--epochs: " << after.train.epochs << " in place of " << before.train.epochs
              << ", to which a schedule of the learning rate is adapted from here on\n";
  }
  before.take_resumable(after);
  refuse_changes(before.config().to_toml(), after.config().to_toml(), Settings::kResumable);
}

template <class Settings>
void TrainArguments::load_begun(Settings& settings, Config& config, const RunFolder& folder) const {
  Settings asked = settings;
  std::set<std::string> named = config.named_keys();
  if (!config_file.empty()) named.merge(keys_of_toml(config_file));
  config.load_run_toml(folder.config());
  asked.config().take_unnamed(settings.config(), named);
  take_determined(asked, settings);
  asked.train.batch_size = settings.train.batch_size;
  asked.config().take_automatic(settings.config());
  if (asked.config().to_toml() == settings.config().to_toml()) return;
  throw UsageError(folder.path().string() + " holds a run of another configuration: resume it, or name another folder");
}

// Throws UsageError if `train` asks for replayed steps and they are impossible: on a CPU, with several processes, and
// with a model whose steps synchronise with the device or copy to it.
void check_replay(const TrainSettings& train, const EncoderSettings& model, at::Device device,
                  const Communicator& processes);

// Returns what captures the steps on `device`; empty unless `train` asks for that. Throws UsageError if the library is
// missing.
StepGraphMaker step_graphs(const TrainSettings& train, at::Device device);

}  // namespace geosft
