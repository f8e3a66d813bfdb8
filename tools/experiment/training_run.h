// SPDX-License-Identifier: Apache-2.0
// A training in its RUN folder: what is the same whatever is trained.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <string>

#include "models/training/distributed/communicator.h"
#include "models/training/step_graph.h"
#include "tools/experiment/config.h"
#include "tools/experiment/experiment_settings.h"
#include "tools/experiment/processes.h"
#include "tools/experiment/run_observer.h"
#include "tools/experiment/subcommand.h"

namespace geosft {

// The options of every `train` beside the keys of its configuration.
struct TrainArguments {
  std::string config_file, out;
  bool resume = false, json = false, list_keys = false;
  RuntimeOptions runtime;

  // The keys of `config` become options, too, that `example` shows some of.
  void add_options(CLI::App& subcommand, Config& config, const std::string& example);
  // The program as it was called, to be named in what the user may do next.
  std::string program() const;

  // Joins the processes that this one was started with.
  void join() { joined_ = join_processes(); }
  // Sets LibTorch's threads, and gives the device: of several processes each has a GPU of its own, which is joined with
  // the others, or all compute on CPUs. Throws UsageError where that cannot be.
  at::Device begin();
  const Communicator& processes() const { return gpus_ ? *gpus_ : joined_ ? *joined_ : one_process(); }
  // The processes part, once all of them have called it; the leading one goes on alone. False for the others, whose
  // work is done, also where a signal has ended it: what they return does not count.
  bool part();

  // Of a new run: the configuration file, then the command line.
  void load_new(Config& config) const;
  // The same of a run that several processes train: each has a batch of the size that was asked for, and what is kept
  // is the size of the batch that they have together, which stays when the run is resumed by another number of
  // processes.
  void load_new(Config& config, TrainSettings& train) const;
  // Of a resumed run, which continues bit for bit, so what its steps depend on stays: Settings::take_resumable takes
  // over what else may be chosen anew, and kResumable names it. Throws UsageError where something else differs.
  template <class Settings>
  void load_resumed(Settings& settings, Config& config, const RunFolder& folder) const;
  // Whether this command has begun the run in `out` before, and is started again by what may do so.
  bool started_again() const;
  // Of such a run, once `settings` are what the command asks for: the run's own, which differ from them in the batch,
  // where the number of processes does. Throws UsageError where something else differs: the run is another one.
  template <class Settings>
  void load_begun(Settings& settings, Config& config, const RunFolder& folder) const;

 private:
  const CLI::App* subcommand_ = nullptr;
  std::unique_ptr<Communicator> joined_, gpus_;  // the second by the first
};

// A folder to resume, or a new one that the leading process makes.
RunFolder open_run_folder(const std::filesystem::path& path, bool resume, const Communicator& processes);

enum class RunStart {
  fresh,
  resumed,  // from the last checkpoint of the folder
  trial     // a single step, of which nothing is left: is there room for it?
};

// Runs what is left of the loop. Writes the configuration, names and version into the folder first, shows configuration
// and `summary` on stderr, and leaves checkpoints and metrics. False when a signal came: the run is saved and can go
// on; of a trial: the model refused the step. Of several processes the leading one writes and speaks.
bool train_in_folder(TrainingLoop& loop, const torch::nn::Module& model, const RunFolder& folder,
                     const RunDescription& run, RunStart start, const std::string& summary);

// train(); when it throws before anything was written, the empty folder is removed by the process that made it.
bool train_or_clean(const RunFolder& folder, const Communicator& processes, const std::function<bool()>& train);

// A resumed run continues bit for bit. Throws UsageError when the two configurations differ, one before and one after
// the command line; `may_change` names what they were made equal in.
void refuse_changes(const std::string& before, const std::string& after, const std::string& may_change);

template <class Settings>
void TrainArguments::load_resumed(Settings& settings, Config& config, const RunFolder& folder) const {
  if (!config_file.empty()) throw UsageError("--resume takes the configuration of the run: leave out --config");
  config.load_toml(folder.config());
  Settings before = settings;
  config.apply_options();
  Settings after = settings;
  before.take_resumable(after);
  refuse_changes(before.config().to_toml(), after.config().to_toml(), Settings::kResumable);
}

template <class Settings>
void TrainArguments::load_begun(Settings& settings, Config& config, const RunFolder& folder) const {
  Settings asked = settings;
  config.load_toml(folder.config());
  asked.train.batch_size = settings.train.batch_size;
  if (asked.config().to_toml() == settings.config().to_toml()) return;
  throw UsageError(folder.path().string() + " holds a run of another configuration: resume it, or name another folder");
}

// Throws UsageError where `train` asks for steps to be replayed and they cannot be: on a CPU, by several processes, and
// with a model whose steps wait for numbers of the device or copy to it.
void check_replay(const TrainSettings& train, const EncoderSettings& model, at::Device device,
                  const Communicator& processes);

// What steps on `device` are captured with; nothing unless `train` asks for that. Throws UsageError where the library
// is not there.
StepGraphMaker step_graphs(const TrainSettings& train, at::Device device);

}  // namespace geosft
