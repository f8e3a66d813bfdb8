// SPDX-License-Identifier: Apache-2.0
// A training in its RUN folder: what is the same whatever is trained.
#pragma once

#include <functional>
#include <string>

#include "tools/common/config.h"
#include "tools/common/run_observer.h"
#include "tools/common/runtime_options.h"

namespace geosft {

// The options of every `train` beside the keys of its configuration.
struct TrainArguments {
  std::string config_file, out;
  bool resume = false, json = false, list_keys = false;
  RuntimeOptions runtime;

  // The keys of `config` become options, too, that `example` shows some of.
  void add_options(CLI::App& verb, Config& config, const std::string& example);
  // The program as it was called, to be named in what the user may do next.
  std::string program() const;

  // Of a new run: the configuration file, then the command line.
  void load_new(Config& config) const;
  // Of a resumed run, which continues bit for bit, so what its steps depend on stays: Settings::take_resumable takes
  // over what else may be chosen anew, and kResumable names it. Throws UsageError where something else differs.
  template <class Settings>
  void load_resumed(Settings& settings, Config& config, const RunFolder& folder) const;

 private:
  const CLI::App* verb_ = nullptr;
};

// Runs what is left of the loop: from the last checkpoint of the folder if `resume`. Writes the configuration, names
// and version into the folder first, shows configuration and `remark` on stderr, and leaves checkpoints and metrics.
// False when a signal came: the run is saved and can go on.
bool train_in_folder(TrainingLoop& loop, const torch::nn::Module& model, const RunFolder& folder, RunDescription run,
                     bool resume, const std::string& remark);

// train(); when it throws before anything was written, the empty folder is removed.
bool train_or_clean(const RunFolder& folder, const std::function<bool()>& train);

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

}  // namespace geosft
