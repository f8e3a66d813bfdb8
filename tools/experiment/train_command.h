// SPDX-License-Identifier: Apache-2.0
// The subcommand `train`, for any task: starts or resumes a run in its folder and prints a report.
#pragma once

#include <iostream>
#include <string>
#include <vector>

#include "data/data_error.h"
#include "tools/experiment/arguments.h"
#include "tools/experiment/config.h"
#include "tools/experiment/main_guard.h"
#include "tools/experiment/published_sets.h"
#include "tools/experiment/training_run.h"

namespace geosft {

// Settings has train, model, config(), check(), key_uses(), locate_data(), which makes `data` valid in any working
// directory or throws UsageError, take_resumable(other), which copies what a resumed run may change, and kResumable,
// the names of those options.
template <class Settings>
class TrainCommand : protected TrainArguments {
 public:
  TrainCommand() = default;
  virtual ~TrainCommand() = default;
  TrainCommand(const TrainCommand&) = delete;
  TrainCommand& operator=(const TrainCommand&) = delete;

  // `example` shows some configuration keys as options.
  void add_to(CLI::App& subcommand, const std::string& example) {
    if (const std::string small = small_preset(config_); !small.empty()) {
      config_.set_text(small);  // shown as the defaults
      add_preset_option(subcommand);
    }
    add_options(subcommand, config_, example);
  }
  int run();

 protected:
  // Trains the rest of the run. Returns false if a signal arrived: the run is saved and can be resumed.
  virtual bool train(const RunFolder& folder) = 0;
  // Evaluates the trained model, and writes and prints the result. Called on rank 0 only.
  virtual void report(const RunFolder& folder) = 0;

  // Returns the values, as TOML, of a training without a configuration file, whose sizes fit its data; an empty text if
  // it has the defaults of the keys. `options` has the command line, once that is parsed.
  virtual std::string small_preset(const Config& options) const {
    if constexpr (requires { Settings::small_preset(); }) {
      return Settings::small_preset();
    } else {
      return "";
    }
  }
  // Returns whether a new run begins with small_preset.
  bool begins_small() const {
    return !resume && (preset ? *preset == Preset::small : config_file.empty()) && !small_preset(config_).empty();
  }

  // Throws UsageError for an option of the command line that nothing uses. Those of key_uses() have been refused before
  // train() is called.
  void refuse_unused(const std::vector<KeyUse>& uses) const { config_.refuse_unused(uses); }

  // Calls evaluate(); if interrupted, the message says that the training is saved.
  template <class Evaluate>
  auto final_evaluation(const RunFolder& folder, const Evaluate& evaluate) const;

  Settings settings;
  at::Device device = at::kCPU;

 private:
  // Begins with the values that `preset` names; without it, with the small ones unless a file gives the values.
  void load_preset();
  RunFolder prepare();
  void check();
  int train_and_report();

  Config config_ = settings.config();
};

template <class Settings>
void TrainCommand<Settings>::load_preset() {
  const std::string small = small_preset(config_);
  if (small.empty()) return;
  settings = Settings();
  if (begins_small()) config_.set_text(small);
}

template <class Settings>
RunFolder TrainCommand<Settings>::prepare() {
  const bool again = !resume && started_again();
  load_preset();
  if (resume) {
    RunFolder folder = open_run_folder(out, resume, processes());
    load_resumed(settings, config_, folder);
    check();
    return folder;
  }
  load_new(config_, settings.train);
  // Not checked for a resumed run: its options repeat its configuration.
  config_.refuse_unused(settings.key_uses());
  check();
  if (again) {
    load_begun(settings, config_, RunFolder::open(out));
    resume = true;
    if (processes().is_root()) std::cerr << "started again: going on with the run in " << out << '\n';
  }
  return open_run_folder(out, resume, processes());
}

template <class Settings>
void TrainCommand<Settings>::check() {
  settings.check();
  check_replay(settings.train, settings.model, device, processes());
  settings.locate_data();
  const std::filesystem::path data = settings.data;
  const std::string hint = fetch_hint(std::filesystem::path(program()).filename().string(), settings.data);
  const std::string named_by = resume ? out : config_file;
  std::error_code error;
  if (!named_by.empty() && !config_.option_text("data") && data.is_absolute() &&
      !std::filesystem::exists(data, error)) {
    throw DataError(settings.data, "a dataset",
                    "nothing of this name, which " + named_by + " gives: name " +
                        (resume ? "its present folder" : "another dataset") + " by --data DIR" + hint);
  }
  if (!hint.empty()) throw DataError(settings.data, "a dataset", "nothing of this name" + hint);
}

template <class Settings>
int TrainCommand<Settings>::run() {
  if (list_keys) {
    load_preset();
    TrainArguments::load_new(config_);
    std::cout << (json ? config_.json_lines() : config_.help());
    return 0;
  }
  join();
  try {
    return train_and_report();
  } catch (...) {
    processes().elect_error_reporter();
    throw;
  }
}

template <class Settings>
int TrainCommand<Settings>::train_and_report() {
  if (out.empty() && !resume && !config_file.empty())
    config_.load_toml(config_file);  // what is wrong there comes first
  if (out.empty()) throw UsageError("--out RUN is required: the folder to leave the run in");
  device = begin();
  const RunFolder folder = prepare();
  if (processes().is_root()) {
    exit_on_interrupt(
        std::string("before the first step; ") + (resume ? "the run is as it was" : "nothing was trained"),
        folder.made());
  }
  const bool done = train_or_clean(folder, processes(), [&] { return train(folder); });
  if (!part()) return 0;
  if (!done) {
    throw Interrupted("saved in " + folder.last_checkpoint().string() + ": continue with " + resume_command());
  }
  report(folder);
  return 0;
}

template <class Settings>
template <class Evaluate>
auto TrainCommand<Settings>::final_evaluation(const RunFolder& folder, const Evaluate& evaluate) const {
  try {
    return evaluate();
  } catch (const Interrupted& stop) {
    throw Interrupted(std::string(stop.what()) + "; training is done and saved: " + program() + " eval " +
                      shell_word(folder.path().string()));
  }
}

}  // namespace geosft
