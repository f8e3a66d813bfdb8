// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/training_run.h"

#include <c10/core/impl/VirtualGuardImpl.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>
#include <memory>
#include <sstream>
#include <vector>

#include "data/checkpoint.h"
#include "data/read_file.h"
#include "models/training/distributed/nccl/nccl_communicator.h"
#include "models/training/step_graph.h"
#include "tools/experiment/arguments.h"
#include "tools/experiment/device.h"
#include "tools/experiment/fine_tuning.h"
#include "tools/experiment/main_guard.h"
#include "tools/experiment/processes.h"

namespace geosft {
namespace {

// Writes the table of the splits. A resumed run keeps its own (check_split).
void write_split(const RunFolder& folder, const RunDescription& run, RunStart start) {
  if (!run.split_rows || (start == RunStart::resumed && std::filesystem::exists(folder.split()))) return;
  if (const std::string csv = split_csv(run.split_rows()); !csv.empty()) folder.write_split(csv);
}

// Throws DataError if a resumed run was begun with other data, or another split of them.
void check_split(const RunFolder& folder, const RunDescription& run) {
  if (!run.split_rows) return;
  require_recorded_split(folder.split(), run.split_rows(), run.data,
                         "give the data of the training, or begin a new run with these");
}

void begin_folder(const TrainingLoop& loop, const RunFolder& folder, const RunDescription& run, RunStart start,
                  const std::string& summary) {
  folder.write_classes(run.names);  // first: rejects invalid names; a folder with a configuration counts as a run
  write_split(folder, run, start);
  folder.write_config(run.config);
  folder.write_version();
  std::string line = summary;
  if (loop.processes().size() > 1) line += ", " + std::to_string(loop.processes().size()) + " processes";
  std::cerr << line << "\nall settings are in " << folder.config().string() << '\n';
  folder.append_log(version_text() + run.config + line);
}

// A signal during validation also leaves the loop in a resumable state.
bool run_to_end_or_interrupt(TrainingLoop& loop, RunObserver& observer) {
  try {
    return loop.run(observer);
  } catch (const Interrupted&) {
    return false;
  }
}

// Returns the lines of a configuration that set something.
std::vector<std::string> settings_of(const std::string& toml) {
  std::vector<std::string> lines;
  std::istringstream stream(toml);
  for (std::string line; std::getline(stream, line);) {
    const std::string_view text = trimmed(line);
    if (!text.empty() && text.front() != '#') lines.emplace_back(text);
  }
  return lines;
}

[[noreturn]] void refuse(const std::string& needed) {
  throw UsageError("--replay-steps needs " + needed);
}

}  // namespace

void TrainArguments::add_options(CLI::App& subcommand, Config& config, const std::string& example) {
  subcommand_ = &subcommand;
  subcommand.add_option("--config", config_file, "TOML file of the experiment (see tools/configs)");
  subcommand.add_option("--out", out, "RUN folder to make");
  subcommand.add_flag("--resume", resume, "continue the run in --out where it stopped");
  subcommand.add_flag("--json", json, "print the final evaluation as JSON");
  subcommand.add_flag("--list-keys", list_keys, "print every configuration key, each also an option --like-this");
  runtime.add_to(subcommand);
  config.add_options(subcommand);
  subcommand.footer("For example " + example + ". Keys of the same names, in sections, are in the files of --config.");
}

void TrainArguments::add_preset_option(CLI::App& subcommand) {
  add_enum_option(subcommand, "--preset", &preset,
                  "values of the keys that nothing else sets: small, which fits the data, without --config; paper, the "
                  "sizes of the paper (600 epochs), with it");
}

std::string TrainArguments::program() const {
  return subcommand_->get_parent()->get_name();
}

std::string TrainArguments::resume_command() const {
  std::string command = program() + " train --resume --out " + shell_word(out);
  if (runtime.threads > 0) command += " --threads " + std::to_string(runtime.threads);
  if (runtime.device != RuntimeOptions().device) command += " --device " + runtime.device;
  return command;
}

at::Device TrainArguments::begin() {
  at::Device device = runtime.apply();
  if (processes().size() == 1) return device;
  device = shared_device(runtime.device, device, processes());
  if (device.is_cuda()) {
    // Make this GPU the default, instead of GPU 0 for every process.
    c10::impl::VirtualGuardImpl(device.type()).setDevice(device);
    gpus_ = make_nccl_communicator(*joined_, device);
  }
  return device;
}

bool TrainArguments::part() {
  const bool is_root = processes().is_root();
  processes().barrier();
  gpus_.reset();
  joined_.reset();
  return is_root;
}

bool TrainArguments::started_again() const {
  const bool here = processes().is_root() && may_be_started_again() && RunFolder::holds_run(out);
  return processes().any(here);
}

void TrainArguments::load_new(Config& config) const {
  if (!config_file.empty()) config.load_toml(config_file);
  config.apply_options();
}

void TrainArguments::load_new(Config& config, TrainSettings& train) const {
  if (!config_file.empty()) config.load_toml(config_file);
  const std::string initial = config.option_text("init_from").value_or(train.init_from);
  if (!initial.empty()) take_model_keys(config, initial);
  const std::string of_run = config.to_toml();
  config.apply_options();
  if (!initial.empty()) check_architecture(config.named_keys(), initial, of_run, config.to_toml());
  if (train.init_from.empty()) {
    const auto needs = [&](const char* key, const char* option) {
      if (!config.option_text(key)) return;
      throw UsageError(std::string(option) + " needs --init-from RUN: the run whose encoder is trained on or kept");
    };
    if (train.freeze_encoder) needs("freeze_encoder", "--freeze-encoder");
    needs("head_lr_factor", "--head-lr-factor");
  }
  if (!is_automatic(train.batch_size)) train.batch_size *= processes().size();
}

RunFolder open_run_folder(const std::filesystem::path& path, bool resume, const Communicator& processes) {
  if (resume) return processes.is_root() ? RunFolder::resume(path) : RunFolder::open(path);
  if (!processes.is_root()) {
    processes.barrier();
    return RunFolder::made_by_another(path);
  }
  RunFolder folder = RunFolder::create(path);
  processes.barrier();
  return folder;
}

bool train_in_folder(TrainingLoop& loop, const torch::nn::Module& model, const RunFolder& folder,
                     const RunDescription& run, RunStart start, const std::string& summary) {
  if (start == RunStart::trial) return loop.try_step();
  RunObserver observer(loop, model, folder, run);
  if (start == RunStart::resumed) {
    observer.resume();
    check_split(folder, run);
  }
  install_interrupt_handler();  // first: from here on, a run that a signal stops can be resumed
  if (loop.processes().is_root()) begin_folder(loop, folder, run, start, summary);
  const bool done = run_to_end_or_interrupt(loop, observer);
  observer.finish(done);
  if (const int64_t replayed = loop.replayed_steps(); replayed > 0) std::cerr << "replayed steps: " << replayed << '\n';
  return done;
}

bool train_or_clean(const RunFolder& folder, const Communicator& processes, const std::function<bool()>& train) {
  try {
    return train();
  } catch (...) {
    if (processes.is_root()) folder.discard();
    throw;
  }
}

void note_edited_config(const RunFolder& folder) {
  if (!std::filesystem::exists(folder.last_checkpoint())) return;
  const Checkpoint last = load_checkpoint(folder.last_checkpoint());
  const auto stored = last.texts.find("config");
  if (stored == last.texts.end()) return;
  const std::vector<std::string> now = settings_of(read_file(folder.config())), then = settings_of(stored->second);
  const auto [changed, former] = std::mismatch(now.begin(), now.end(), then.begin(), then.end());
  if (changed == now.end() && former == then.end()) return;
  std::cerr << folder.config().string() << ": \"" << (changed == now.end() ? "" : *changed) << "\" in place of \""
            << (former == then.end() ? "" : *former) << "\", which the run had: it goes on as the file says\n";
}

void refuse_changes(const std::string& before, const std::string& after, const std::string& may_change) {
  if (before == after) return;
  throw UsageError("--resume continues the run as it was configured; only " + may_change + " may change");
}

void check_replay(const TrainSettings& train, const EncoderSettings& model, at::Device device,
                  const Communicator& processes) {
  if (!train.replay_steps) return;
  if (!device.is_cuda()) refuse("a GPU (--device cuda): CUDA graphs are what is replayed");
  if (processes.size() > 1) refuse("one process, there are " + std::to_string(processes.size()));
  if (model.kind() == AttentionKind::primal) {
    refuse("attention sampling or polynomial, not " + model.attention);
  }
  if (model.kind() == AttentionKind::polynomial && model.polynomial.tolerance > 0) {
    refuse("a degree instead of a tolerance, for which the program looks at every batch");
  }
}

StepGraphMaker step_graphs(const TrainSettings& train, at::Device device) {
  if (!train.replay_steps) return {};
  const auto make =
      reinterpret_cast<MakeCudaStepGraph>(function_beside("libgeosft_cuda_graph.so", make_cuda_step_graph_name));
  if (make == nullptr) refuse("libgeosft_cuda_graph.so beside the program's libraries");
  return [make, device] { return std::unique_ptr<StepGraph>(make(device.index())); };
}

}  // namespace geosft
