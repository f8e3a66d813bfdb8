// SPDX-License-Identifier: Apache-2.0
// Opens the trained model of a RUN folder or of a checkpoint, and describes the run of a model, for any task.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "models/training/module_state.h"
#include "tools/experiment/run_checkpoint.h"
#include "tools/experiment/run_observer.h"

namespace geosft {

// Names of the classes, which are the outputs of a classifier; other tasks add to them.
struct ClassNames {
  std::vector<std::string> class_names;

  const std::vector<std::string>& names() const { return class_names; }
  // Returns "2 classes".
  std::string size_text() const {
    return std::to_string(class_names.size()) + (class_names.size() == 1 ? " class" : " classes");
  }
  // Returns the texts that a checkpoint stores besides the class names.
  std::map<std::string, std::string> texts() const { return {}; }
  // Takes the outputs from a checkpoint of `program`. Throws DataError naming `file`.
  void read(const Checkpoint& checkpoint, const std::string& program, const std::filesystem::path& file) {
    class_names = run_names(checkpoint, program, file);
  }
};

// Stands for what a task adds to the networks of a run: default constructible, with load(run folder), what messages
// call it, and the same if a run folder has it.
struct NoCompanion {
  void load(const std::filesystem::path&) {}
  std::string text() const { return ""; }
  static std::string stored_in(const std::filesystem::path&) { return ""; }
};

// The types of a task, which derives from it: Outputs is ClassNames, derived from it, or has the same members.
template <class SettingsType, class OutputsType, class ModelType, class CompanionType = NoCompanion>
struct TaskTypes {
  using Settings = SettingsType;
  using Outputs = OutputsType;
  using Model = ModelType;
  using Companion = CompanionType;
};

// A trained model with its settings and the meaning of its outputs. A task has TaskTypes, the name of its program,
// which checkpoints store as their kind, make_model(settings, outputs) and score(settings, outputs), the metric of its
// learning curves.
template <class Task>
struct TrainedRun : Task::Outputs {
  typename Task::Settings settings;
  typename Task::Model model{nullptr};
  std::vector<typename Task::Model> more_models = {};  // of an ensemble: outputs are averaged with those of `model`
  typename Task::Companion companion = {};             // from the RUN folder; a single checkpoint has none
  std::filesystem::path split_file = {};               // split.csv beside the checkpoint; earlier runs have none
  bool other_data = false;                             // --other-data: split.csv does not list the data in the settings

  // Returns the file that lists the items of the data in the settings; empty with other data.
  std::filesystem::path split_file_of_data() const { return other_data ? std::filesystem::path() : split_file; }

  // Returns what predictions of the first model are averaged with: "4 more models and a kernel ridge regression"; empty
  // for nothing.
  std::string averaged_with() const {
    const size_t more = more_models.size();
    const std::string regression = companion.text();
    std::string others = more == 0 ? "" : std::to_string(more) + (more == 1 ? " more model" : " more models");
    if (!regression.empty()) others += (others.empty() ? "a " : " and a ") + regression;
    return others;
  }

  // Moves all models.
  void to(at::Device device) {
    model->to(device);
    for (auto& each : more_models) each->to(device);
  }
};

// Makes the model of a checkpoint; `file` names it in messages. Throws DataError if another program wrote it; `tool` is
// the one that is named as expected.
template <class Task>
TrainedRun<Task> trained_run_of(const Checkpoint& checkpoint, const std::filesystem::path& file,
                                const std::string& tool = Task::program) {
  check_kind(checkpoint, Task::program, file, tool);
  TrainedRun<Task> loaded;
  loaded.read(checkpoint, Task::program, file);
  read_run_config(file, [&] {
    loaded.settings.config().set_run_text(run_text(checkpoint, Task::program, "config", file), "its configuration");
  });
  {
    const DefaultDtypeGuard of_weights(at::kFloat);  // whatever the program has set
    loaded.model = Task::make_model(loaded.settings, loaded);
  }
  load_run_weights(*loaded.model, checkpoint, file);
  loaded.model->eval();
  return loaded;
}

// Sets the epochs and the data to those of a RUN folder, which a resumed run may have changed after its best checkpoint
// was written; they stay if its configuration cannot be read.
template <class Task>
void take_present(const std::filesystem::path& run, typename Task::Settings& settings) {
  typename Task::Settings present = settings;
  try {
    present.config().load_run_toml(RunFolder::open(run).config());
  } catch (const std::runtime_error&) {
    return;
  }
  settings.train.epochs = present.train.epochs;
  settings.data = present.data;
}

// Loads a RUN folder (its best checkpoint), with all models of an ensemble, or a checkpoint file. Throws DataError if
// another program wrote it; `tool` as above.
template <class Task>
TrainedRun<Task> load_trained_run(const std::filesystem::path& run, const std::string& tool = Task::program) {
  std::filesystem::path file;
  const Checkpoint checkpoint = load_run_checkpoint(run, file, tool);
  TrainedRun<Task> loaded = trained_run_of<Task>(checkpoint, file, tool);
  loaded.split_file = RunFolder::split_in(file.parent_path());
  if (std::filesystem::is_regular_file(run)) return loaded;
  const std::filesystem::path folder = file.parent_path();  // also of a pretrained model
  loaded.companion.load(folder);
  take_present<Task>(folder, loaded.settings);
  if constexpr (requires { loaded.settings.ensemble; }) {
    for (int64_t number = 1; number < loaded.settings.ensemble; ++number) {
      require_member(folder, number, loaded.settings.ensemble, tool);
      const TrainedRun<Task> more = load_trained_run<Task>(ensemble_folder(folder, number), tool);
      loaded.check_same(more, ensemble_folder(folder, number).string());
      loaded.more_models.push_back(more.model);
    }
  }
  return loaded;
}

// Returns a warning if what is loaded is less than a whole run, otherwise an empty text:
//   * a checkpoint of a RUN folder that has other models of an ensemble, or a companion, too,
//   * the folder of one model of an ensemble,
//   * a finished RUN folder without its kernel.ckpt.
template <class Task>
std::string left_out_warning(const std::filesystem::path& file, const TrainedRun<Task>& loaded) {
  std::error_code error;
  if (const std::filesystem::path whole = ensemble_of(file); !whole.empty()) {
    return file.string() + ": one network of an ensemble: give " + whole.string() + " for the predictions of all";
  }
  if constexpr (requires { loaded.companion.regression == nullptr; }) {
    bool lacks = loaded.companion.regression == nullptr && RunFolder::holds_run(file);
    if constexpr (requires { loaded.settings.clouds; }) {  // they have one wherever the configuration asks for one
      lacks = lacks && loaded.settings.clouds.kernel_ridge && loaded.settings.clouds.normals;
    } else {
      lacks = lacks && evaluated_with_kernel(file);
    }
    if (lacks && unfinished_warning(file, Task::program).empty()) {
      return file.string() + ": kernel.ckpt is missing, which its networks are averaged with: they predict alone";
    }
  }
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  if (!std::filesystem::is_regular_file(file, error) || !RunFolder::holds_run(folder)) return "";
  int64_t models = 0;
  if constexpr (requires { loaded.settings.ensemble; }) models = loaded.settings.ensemble - 1;
  std::string others = models > 1 ? std::to_string(models) + " other networks" : models == 1 ? "other network" : "";
  if (const std::string more = Task::Companion::stored_in(folder); !more.empty()) {
    others += (others.empty() ? "" : " and ") + more;
  }
  if (others.empty()) return "";
  return file.string() + ": one network, without the " + others + " of its run: give " + folder.string() +
         " for the predictions of all";
}

// Describes the run of a model for its observer; `held_out`: a held-out split selects the best checkpoint.
template <class Task>
RunDescription describe_run(typename Task::Settings settings, const typename Task::Outputs& outputs,
                            bool held_out = false) {
  RunDescription run;
  run.kind = Task::program;
  run.config = settings.config().to_toml();
  run.names = outputs.names();
  run.more_texts = outputs.texts();
  run.data = settings.data;
  run.epochs = settings.train.epochs;
  run.checkpoint_every = settings.train.checkpoint_every;
  run.tensorboard = settings.train.tensorboard;
  run.held_out = held_out;
  run.score = Task::score(settings, outputs);
  return run;
}

}  // namespace geosft
