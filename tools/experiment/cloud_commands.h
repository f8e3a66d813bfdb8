// SPDX-License-Identifier: Apache-2.0
// The subcommands train, eval, predict and info of a tool for point clouds, for any experiment.
//
// An Experiment is a struct with
//   Task          the trained runs (trained_run.h)
//   name          the task as reports call it
//   seed_help     what the seed is of, for the help of eval and predict
//   size_option   the option that overrides size_of(settings), the number of points that the model sees
//   splits()      the splits that can be evaluated
//   open_training(settings, processes)   the data of a training, a TrainingClouds
//   make_task(model, clouds, settings, processes)   the task of the training loop
//   open_split(run, split)               the clouds of an evaluation; throws DataError if they do not fit the run
//   evaluate(run, clouds, rotation, repeats, progress)   an Evaluation, which has `invariance`; progress receives the
//                                        clouds done, over all votes and rotations
//   metrics_json(evaluation), add_json(json, evaluation, outputs)         of its report
//   metrics_text(evaluation), loss_text(evaluation), table(evaluation, outputs)   the same for people; loss_text is
//   what
//                                        rotating loses
//   draw(report, outputs, folder)        its pictures
//   mistakes(run, clouds, count)         the worst predictions, for an HTML report
//   outputs_text(outputs), add_outputs(json, outputs)   the outputs of a model, for info
//   holds_clouds(path), print_dataset(path, json)       the dataset at a path, for info
//   Output        what predict prints and writes (ClassifyOutput, SegmentOutput)
#pragma once

#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "data/atomic_file.h"
#include "models/summary.h"
#include "tools/experiment/cloud_report.h"
#include "tools/experiment/cloud_training_data.h"
#include "tools/experiment/coloured_ply.h"
#include "tools/experiment/eval_options.h"
#include "tools/experiment/fetch_command.h"
#include "tools/experiment/file_options.h"
#include "tools/experiment/fine_tuning.h"
#include "tools/experiment/html_report.h"
#include "tools/experiment/info_command.h"
#include "tools/experiment/input_files.h"
#include "tools/experiment/list_command.h"
#include "tools/experiment/output_files.h"
#include "tools/experiment/train_command.h"
#include "tools/experiment/zoo.h"

namespace geosft {

// The opened data of a training, and the outputs that a model for them has.
template <class Outputs>
struct TrainingClouds {
  CloudTrainingData data;
  Outputs outputs;
};

template <class Experiment>
class CloudTrainCommand : public TrainCommand<typename Experiment::Task::Settings> {
  using Task = typename Experiment::Task;
  using Base = TrainCommand<typename Task::Settings>;
  using Base::device, Base::settings;

 protected:
  bool train(const RunFolder& folder) override {
    std::optional<typename Experiment::Clouds> opened;  // by the first try
    if (settings.has_automatic()) {
      opened = Experiment::open_training(settings, this->processes());
      const int64_t clouds = opened->data.train().size();
      chosen_ = settings.resolve(clouds, Task::Settings::kSmallSizes);
    }
    return this->within_memory([&](RunStart start, const Communicator& together) {
      if (opened) return train_once(folder, start, together, *std::exchange(opened, std::nullopt));
      return train_once(folder, start, together, Experiment::open_training(settings, together));
    });
  }

  void report(const RunFolder& folder) override {
    TrainedRun<Task> trained = load_trained_run<Task>(folder.path());
    trained.model->to(device);
    trained.settings.workers = settings.workers;
    const CloudReport<Experiment> report =
        this->final_evaluation(folder, [&] { return evaluate<Experiment>(trained, "test", Rotation::none, 1); });
    Experiment::draw(report, trained, folder);
    draw_curves(folder, Task::score());
    const ChosenCheckpoint chosen = chosen_checkpoint(folder.best_checkpoint());
    nlohmann::json object = report_json(report, trained);
    object["checkpoint"] = {{"file", "best.ckpt"}, {"epoch", chosen.epoch}, {"chosen_by", chosen.by}};
    const std::string line = object.dump() + "\n";
    folder.write_result(line);
    std::cout << (this->json ? line : report_text(report, trained) + chosen.text(settings.train.epochs));
  }

 private:
  bool train_once(const RunFolder& folder, RunStart start, const Communicator& together,
                  const typename Experiment::Clouds& clouds) {
    settings.clouds.validation_fraction = clouds.data.validation_fraction();
    torch::manual_seed(settings.seed);
    typename Task::Model model = Task::make_model(settings, clouds.outputs);
    model->to(device);
    const RunDescription run = describe_run<Task>(settings, clouds.outputs, clouds.data.held_out());
    const bool resumes = start == RunStart::resumed && std::filesystem::exists(folder.last_checkpoint());
    const std::string origin = start_from_run(*model, settings.train, run, resumes);
    const auto task = Experiment::make_task(model, clouds, settings, together);
    TrainingOptions options = settings.training();
    options.step_graphs = step_graphs(settings.train, device);
    TrainingLoop loop(*task, options, together);
    std::string summary = clouds.data.note() + (clouds.data.note().empty() ? "" : "\n");
    if (!chosen_.empty()) summary += "sizes that fit the data: " + chosen_ + " (--preset paper: those of the paper)\n";
    summary +=
        "training on " + std::to_string(clouds.data.train().size()) + " clouds of " + clouds.outputs.size_text() + ", ";
    if (clouds.data.held_out()) {
      summary += std::to_string(clouds.data.validation()->size()) + " more choose the best checkpoint, ";
    }
    return train_in_folder(loop, *model, folder, run, start,
                           summary + std::to_string(parameter_count(*model)) + " parameters" + origin);
  }

  std::string chosen_;  // the sizes that were automatic
};

template <class Experiment>
Command add_cloud_train_command(CLI::App& subcommand) {
  auto command = std::make_shared<CloudTrainCommand<Experiment>>();
  command->add_to(subcommand, "--data DIR --epochs 50 --seed 1");
  return [command] { return command->run(); };
}

template <class Experiment>
Command add_cloud_eval_command(CLI::App& subcommand) {
  struct Arguments {
    CloudEvalArguments given;
    CloudOverrides<Experiment> overrides;
  };
  const auto arguments = std::make_shared<Arguments>();
  arguments->given.add_to(subcommand, Experiment::splits());
  arguments->overrides.add_to(subcommand);
  return [arguments] {
    const CloudEvalArguments& given = arguments->given;
    auto trained = arguments->overrides.load(given.run);
    const auto report = evaluate<Experiment>(trained, given.split, given.rotation, given.turns());
    if (!report.note.empty()) std::cerr << report.note << '\n';
    if (RunFolder::holds_run(given.run)) Experiment::draw(report, trained, RunFolder::open(given.run));
    std::cout << (given.json ? report_json(report, trained).dump() + "\n" : report_text(report, trained));
    return 0;
  };
}

// Help texts of `predict` that depend on the task.
struct PredictHelp {
  const char *picture, *ply, *csv;
};

struct PredictArguments {
  std::string run, picture, ply, csv;
  std::vector<std::string> files;
  bool json = false, fail_fast = false;
  FileOptions reading;

  void add_to(CLI::App& subcommand, const PredictHelp& help);
};

template <class Experiment>
struct CloudPredictCommand {
  using Run = TrainedRun<typename Experiment::Task>;

  PredictArguments given;
  CloudOverrides<Experiment> overrides;
  typename Experiment::Output output;

  int execute() {
    Run trained = overrides.load(given.run);
    const auto [files, several] = input_shape_files(given.files);
    const OutputFiles plys("--ply", given.ply, files, ".ply", several),
        pictures("--picture", given.picture, files, "", several);
    output.begin(files, several);
    std::vector<std::string> head = output.csv_head(trained);
    head.emplace_back("error");
    std::string rows = csv_line(head);
    const auto each = [&, &files = files](size_t i) {
      const auto prediction = output.predict(trained, files[i], given.reading);
      for (const std::string& warning : prediction.warnings) std::cerr << warning << '\n';
      std::cout << (given.json ? json_line(output.json(files[i], prediction, trained))
                               : output.text(files[i], prediction, trained) + "\n");
      if (plys.wanted()) write_coloured_ply(plys[i], output.coloured(prediction, trained));
      if (pictures.wanted()) warn_unless_drawn(output.draw(pictures[i], files[i], prediction, trained));
      output.write_more(i, prediction);
      if (given.csv.empty()) return;
      for (auto& row : output.csv_rows(files[i], prediction, trained)) {
        row.emplace_back();
        rows += csv_line(row);
      }
    };
    const auto failed = [&, &files = files](size_t i, const std::string& error) {
      std::vector<std::string> row(head.size());
      row.front() = files[i];
      row.back() = error;
      rows += csv_line(row);
    };
    const int code = for_each_file(Experiment::Task::program, files.size(), given.fail_fast, each, failed);
    if (!given.csv.empty()) write_file_atomically(given.csv, rows);
    return code;
  }
};

template <class Experiment>
Command add_cloud_predict_command(CLI::App& subcommand) {
  auto command = std::make_shared<CloudPredictCommand<Experiment>>();
  command->given.add_to(subcommand, Experiment::Output::help);
  command->output.add_to(subcommand);
  command->overrides.add_to(subcommand);
  return [command] { return command->execute(); };
}

// Prints what a RUN folder or a checkpoint holds.
template <class Experiment>
void print_run(const std::filesystem::path& run, bool json) {
  const auto trained = load_trained_run<typename Experiment::Task>(run);
  auto settings = trained.settings;
  const std::string config = settings.config().to_toml();
  if (!json) {
    std::cout << config << '\n' << Experiment::outputs_text(trained) << '\n' << summary(*trained.model);
    return;
  }
  nlohmann::json object = run_json(run, config, trained.class_names, parameter_count(*trained.model));
  Experiment::add_outputs(object, trained);
  std::cout << json_line(object);
}

// Describe a path for info: a run, a dataset where holds_clouds(path), or a file with a shape.
struct CloudDescriptions {
  void (*print_run)(const std::filesystem::path& run, bool json);
  bool (*holds_clouds)(const std::filesystem::path& path);
  void (*print_dataset)(const std::filesystem::path& data, bool json);
};
Command cloud_info_command(CLI::App& subcommand, const std::string& data_help, const CloudDescriptions& descriptions);

template <class Experiment>
Command add_cloud_info_command(CLI::App& subcommand) {
  return cloud_info_command(subcommand, Experiment::Task::Settings::kDataHelp,
                            {print_run<Experiment>, Experiment::holds_clouds, Experiment::print_dataset});
}

struct ReportArguments {
  std::string run, split = "test", out;
  int64_t mistakes = 12;

  void add_to(CLI::App& subcommand, const std::vector<std::string>& splits);
};

// Evaluates a run, and writes one HTML page with its curves, its pictures, a table and its worst mistakes.
template <class Experiment>
struct CloudReportCommand {
  using Task = typename Experiment::Task;

  ReportArguments given;
  CloudOverrides<Experiment> overrides;

  int execute() const {
    const RunFolder folder = RunFolder::open(given.run);
    const std::filesystem::path file =
        given.out.empty() ? folder.path() / "report.html" : std::filesystem::path(given.out);
    TrainedRun<Task> trained = overrides.load(given.run);
    const auto report = evaluate<Experiment>(trained, given.split, Rotation::none, 1);
    Experiment::draw(report, trained, folder);
    draw_curves(folder, Task::score());
    HtmlReport page;
    page.title = std::string(Experiment::name) + ": " + folder.path().filename().string();
    page.facts = {{"run", std::filesystem::absolute(folder.path()).lexically_normal().string()},
                  {"data", trained.settings.data},
                  {"outputs", trained.size_text()},
                  {"parameters", std::to_string(parameter_count(*trained.model))},
                  {std::to_string(report.count) + " clouds of the " + report.split + " set",
                   Experiment::metrics_text(report.evaluation)}};
    const std::string chosen = chosen_checkpoint(folder.best_checkpoint()).choice(trained.settings.train.epochs);
    if (!chosen.empty()) page.facts.emplace_back("best.ckpt", chosen);
    const auto svg = [](std::filesystem::path stem) { return stem += ".svg"; };
    page.pictures = {{"Learning curves", svg(folder.learning_curves())},
                     {"Confusion matrix", svg(folder.confusion((given.split == "test" ? "" : given.split + "_") +
                                                               std::string(name_of(Rotation::none))))}};
    page.table = Experiment::table(report.evaluation, trained);
    page.mistakes = Experiment::mistakes(trained, *Experiment::open_split(trained, given.split), given.mistakes);
    page.config = trained.settings.config().to_toml();
    write_file_atomically(file, html_page(page));
    std::cout << file.string() << '\n';
    return 0;
  }
};

template <class Experiment>
Command add_cloud_report_command(CLI::App& subcommand) {
  auto command = std::make_shared<CloudReportCommand<Experiment>>();
  command->given.add_to(subcommand, Experiment::splits());
  command->overrides.add_to(subcommand);
  return [command] { return command->execute(); };
}

template <class Experiment>
Command add_cloud_fetch_command(CLI::App& subcommand) {
  return fetch_command(subcommand, Experiment::Task::program);
}

template <class Experiment>
Command add_cloud_list_command(CLI::App& subcommand) {
  return list_command(subcommand, Experiment::Task::program);
}

}  // namespace geosft
