// SPDX-License-Identifier: Apache-2.0
// The subcommands train, eval, predict, info, list and fetch of a trainer, for any experiment.
//
// An Experiment is a struct with
//   Task           the trained runs (trained_run.h)
//   program        the name of the tool
//   items          what its items are called (ItemWords)
//   help           what the program is about, and what its subcommands do (TrainerHelp)
//   train_example  options that the help of train shows
//   data_help(), seed_help   what the dataset is, and what the seed is of, for the help of eval and predict
//   Overrides      options of eval and predict that override settings: add_to(subcommand, items), apply(settings)
//   Train          the subcommand train, a TrainCommand
//   initialize(model, data)   what the model takes from its training data before it is moved to the device
//   make_task(model, data, settings, processes)   the task of the training loop
//   EvalOptions    what an evaluation can be asked for: add_to(subcommand, items)
//   report(run, options)      evaluates a run
//   draw(report, outputs, folder)   the pictures of a report
//   Predict        the subcommand predict: add_to(subcommand), execute()
//   outputs_text(outputs), run_json(run, config, outputs, parameters)   a trained run, for info
//   info_help()    what info describes
//   Reading        how info reads data: add_to(subcommand, items)
//   is_input(path)  whether a file is data by its ending, so that it is no RUN
//   holds_data(path)   whether a name that may be that of a pretrained model is also that of data
//   print_data(path, reading, json)   the dataset or file at a path, for info
// and the functions report_json(report, outputs) and report_text(report, outputs). The data of a training have
// `outputs`, the outputs of a model for them, text(), a sentence on them, held_out(), whether a held-out split selects
// the best checkpoint, and split_rows(), which items are in which split.
#pragma once

#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "models/summary.h"
#include "tools/experiment/batch_size_finder.h"
#include "tools/experiment/eval_options.h"
#include "tools/experiment/fine_tuning.h"
#include "tools/experiment/main_guard.h"
#include "tools/experiment/report_texts.h"
#include "tools/experiment/run_figures.h"
#include "tools/experiment/split_table.h"
#include "tools/experiment/train_command.h"
#include "tools/experiment/zoo.h"

namespace geosft {

// Holds the description of a trainer and the help of its subcommands.
struct TrainerHelp {
  const char *description, *train, *eval, *predict, *info, *fetch = "download a published dataset";
};

// Trains the rest of a run; if `epochs` is not 0, only the first so many of those that its schedule has. Returns false
// if a signal arrived.
template <class Experiment, class Settings, class Data>
bool train_model(const Settings& settings, const Data& data, const RunFolder& folder, RunStart start, at::Device device,
                 const Communicator& processes, int64_t epochs = 0) {
  using Task = typename Experiment::Task;
  RunDescription run = describe_run<Task>(settings, data.outputs, data.held_out());
  run.split_rows = [&data] { return data.split_rows(); };
  const bool resumes = start == RunStart::resumed && std::filesystem::exists(folder.last_checkpoint());
  torch::manual_seed(initial_seed(settings.seed, settings.train, run, resumes));
  typename Task::Model model = Task::make_model(settings, data.outputs);
  Experiment::initialize(model, data);
  model->to(device);
  const std::string origin = start_from_run(*model, settings.train, run, resumes);
  const auto task = Experiment::make_task(model, data, settings, processes);
  TrainingOptions options = settings.train.options(settings.seed);
  options.step_graphs = step_graphs(settings.train, device);
  if (epochs > 0) options.epochs = run.epochs = epochs;
  TrainingLoop loop(*task, options, processes);
  return train_in_folder(loop, *model, folder, run, start,
                         data.text() + ", " + std::to_string(parameter_count(*model)) + " parameters" + origin +
                             settings.train.warmup_text(loop.steps_per_epoch(), options.epochs));
}

// Trains as train_model does, a new run or the rest of one, on the data that open_data(processes) gives. If memory runs
// out, the error names a limit of the batches that fits.
template <class Experiment, class Settings, class OpenData>
bool train_model_within_memory(Settings& settings, const OpenData& open_data, const RunFolder& folder, bool resume,
                               at::Device device, const Communicator& processes, int64_t epochs = 0) {
  const auto train = [&](int64_t size, RunStart start, const Communicator& together) {
    settings.train.limit_batches(size);
    const auto& data = open_data(together);
    return train_model<Experiment>(settings, data, folder, start, device, together, epochs);
  };
  return train_within_memory(settings.train.batch_limit(), resume ? RunStart::resumed : RunStart::fresh, processes,
                             train);
}

// Returns which file an evaluation of a run is of, its epoch and what chose it, and what it is averaged with
// (TrainedRun::averaged_with).
nlohmann::json checkpoint_json(const std::filesystem::path& run, const std::string& averaged_with);

// Leaves the result and the pictures of a finished run in its folder. Returns the result, which names the checkpoint
// that was evaluated and what chose it.
template <class Experiment, class Report, class Run>
nlohmann::json leave_report(const RunFolder& folder, const Report& report, const Run& trained) {
  Experiment::draw(report, trained, folder);
  draw_curves(folder, Experiment::Task::score(trained.settings, trained));
  nlohmann::json result = report_json(report, trained);
  result["checkpoint"] = checkpoint_json(folder.path(), trained.averaged_with());
  folder.write_result(result.dump() + "\n");
  return result;
}

// Returns what an evaluation of a run is of, after the name of its checkpoint: ", epoch 7 of 10, the best on the
// validation split, averaged with 4 more models and a kernel ridge regression".
std::string checkpoint_note(const std::filesystem::path& run, int64_t epochs, const std::string& averaged_with);

// Returns a line that says which file and epoch of a run an evaluation is of: "evaluated: RUN/best.ckpt, epoch 7 of 10,
// the best on the validation split\n".
std::string evaluated_text(const std::filesystem::path& run, int64_t epochs, const std::string& averaged_with);

// Returns the checkpoint file that a RUN folder, a checkpoint or the name of a pretrained model stands for.
std::filesystem::path checkpoint_file(const std::filesystem::path& run);

template <class Experiment>
Command add_train_command(CLI::App& subcommand) {
  auto command = std::make_shared<typename Experiment::Train>();
  command->add_to(subcommand, Experiment::train_example);
  return [command] { return command->run(); };
}

template <class Experiment>
Command add_eval_command(CLI::App& subcommand) {
  struct Arguments : RunArguments {
    typename Experiment::EvalOptions options;
    Overrides<Experiment> overrides;
  };
  const auto given = std::make_shared<Arguments>();
  given->add_run_to(subcommand);
  given->options.add_to(subcommand, Experiment::items);
  given->add_json_to(subcommand);
  given->overrides.add_to(subcommand);
  check_run_first(subcommand, {Experiment::program, "--data DATA", Experiment::is_input});
  return [given] {
    auto trained = given->overrides.load(given->run);
    given->overrides.require_data(trained, given->run);
    const auto report = Experiment::report(trained, given->options);
    if constexpr (requires { report.note; }) {
      if (!report.note.empty()) std::cerr << report.note << '\n';
    }
    if (RunFolder::holds_run(given->run)) Experiment::draw(report, trained, RunFolder::open(given->run));
    if (given->json) {
      nlohmann::json json = report_json(report, trained);
      json["checkpoint"] = checkpoint_json(given->run, trained.averaged_with());
      std::cout << json.dump() << '\n';
      return 0;
    }
    std::cout << report_text(report, trained)
              << evaluated_text(given->run, trained.settings.train.epochs, trained.averaged_with());
    return 0;
  };
}

template <class Experiment>
Command add_predict_command(CLI::App& subcommand) {
  auto command = std::make_shared<typename Experiment::Predict>();
  command->add_to(subcommand);
  return [command] { return command->execute(); };
}

// Prints what a RUN folder or a checkpoint holds, and the figures of its evaluation if it has some.
template <class Experiment>
void print_run(const std::filesystem::path& run, bool json) {
  const auto trained = load_trained_run<typename Experiment::Task>(run, Experiment::program);
  auto settings = trained.settings;
  const std::string config = settings.config().to_toml();
  const nlohmann::json figures = run_figures(run);
  if (json) {
    nlohmann::json object = Experiment::run_json(run, config, trained, parameter_count(*trained.model));
    object.update(figures);
    std::cout << json_line(object);
  } else {
    const std::string known = figures_text(figures);
    std::cout << config << '\n'
              << Experiment::outputs_text(trained) << '\n'
              << summary(*trained.model) << (known.empty() ? "" : "\n") << known;
  }
}

// Adds WHAT (with help `what_help`), --seed, the options of `add_reading`, --json and the runtime options; the command
// passes WHAT to `describe`, which prints.
Command info_command(CLI::App& subcommand, const std::string& what_help, bool& json,
                     const std::function<void(CLI::App&)>& add_reading,
                     const std::function<void(const std::filesystem::path&)>& describe);

template <class Experiment>
Command add_info_command(CLI::App& subcommand) {
  struct Arguments {
    typename Experiment::Reading reading;
    bool json = false;
  };
  const auto given = std::make_shared<Arguments>();
  const auto describe = [given](const std::filesystem::path& what) {
    // A name may be that of data and of a pretrained model (furniture): both are described.
    const bool run = names_run(what), data = !RunFolder::holds_run(what) && (!run || Experiment::holds_data(what));
    if (data) Experiment::print_data(what, given->reading, given->json);
    if (data && run && !given->json) std::cout << "\nthe pretrained model " << what.string() << ":\n";
    if (run) print_run<Experiment>(what, given->json);
  };
  const auto add_reading = [&](CLI::App& app) { given->reading.add_to(app, Experiment::items); };
  return info_command(subcommand, Experiment::info_help(), given->json, add_reading, describe);
}

// Adds the subcommand that lists the pretrained models of one tool, or prints the card of one.
Command list_command(CLI::App& subcommand, const std::string& tool);

template <class Experiment>
Command add_list_command(CLI::App& subcommand) {
  return list_command(subcommand, Experiment::program);
}

// Adds the options of `fetch`, which downloads published datasets (published_sets.h) by curl or wget; without a name it
// lists those for `program`.
Command fetch_command(CLI::App& subcommand, const std::string& program);

template <class Experiment>
Command add_fetch_command(CLI::App& subcommand) {
  return fetch_command(subcommand, Experiment::program);
}

// Runs the program of an experiment, with `more` subcommands of its own, and ends the process.
template <class Experiment>
[[noreturn]] void run_trainer(const std::vector<Subcommand>& more, int argc, char** argv) {
  const TrainerHelp& help = Experiment::help;
  std::vector<Subcommand> all = {{"train", help.train, add_train_command<Experiment>},
                                 {"eval", help.eval, add_eval_command<Experiment>},
                                 {"predict", help.predict, add_predict_command<Experiment>},
                                 {"info", help.info, add_info_command<Experiment>}};
  all.insert(all.end(), more.begin(), more.end());
  all.push_back({"list", "pretrained models: their names may stand for a RUN folder", add_list_command<Experiment>});
  all.push_back({"fetch", help.fetch, add_fetch_command<Experiment>});
  end_process(run_tool(Experiment::program, [&] { return run_subcommands(help.description, all, argc, argv); }));
}

}  // namespace geosft
