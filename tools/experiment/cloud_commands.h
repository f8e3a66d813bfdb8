// SPDX-License-Identifier: Apache-2.0
// Defines what the experiments with point clouds share: their subcommands train and predict, and their members.
//
// An experiment with point clouds is a struct derived from CloudExperiment with
//   Task          the trained runs (trained_run.h)
//   name          the task as reports call it
//   seed_help     what the seed is of, for the help of eval and predict
//   size_option   the option that overrides size_of(settings), the number of points that the model sees
//   splits()      the splits that can be evaluated
//   open_training(settings, processes)   the data of a training, a TrainingClouds
//   make_task(model, clouds, settings, processes)   the task of the training loop
//   fit_companion(settings, folder, device)   optional: fits what a run has besides its network (TaskTypes)
//   open_files(run, split)               the clouds of the files of a split, which for "train" and "validation" may be
//                                        those of both; throws DataError if they do not fit the run
//   open_set(run, split)                 optional: the clouds of a split that predict takes with --data, or of "all"
//   recorded_splits(settings, split)     those of split.csv that these clouds are in, numbered in the same way
//   evaluate(run, clouds, rotation, repeats, progress)   an Evaluation, which has `invariance`; progress receives the
//                                        clouds done, over all votes and rotations
//   metrics_json(evaluation), add_json(json, evaluation, outputs)         of its report
//   metrics_text(evaluation), loss_text(evaluation), table(evaluation, outputs)   the same for people; loss_text is
//                                        what rotating loses
//   evaluation_note(evaluation, source)  optional: what the metrics leave out, empty for nothing
//   mean_score(evaluation)               optional: the MeanScore whose interval a report gives; score_name: its name
//   draw(report, outputs, folder)        its pictures
//   mistakes(run, clouds, split, count)  the worst predictions in these clouds of a split, for an HTML report
//   outputs_text(outputs), add_outputs(json, outputs)   the outputs of a model, for info
//   holds_data(path), print_dataset(path, reading, json)   the dataset at a path, for info
//   Output        what predict prints and writes (ClassifyOutput, SegmentOutput)
#pragma once

#include <c10/util/ScopeExit.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "data/formats/shape_file.h"
#include "tools/experiment/cloud_report.h"
#include "tools/experiment/cloud_training_data.h"
#include "tools/experiment/coloured_ply.h"
#include "tools/experiment/experiment_commands.h"
#include "tools/experiment/input_files.h"
#include "tools/experiment/output_files.h"
#include "tools/experiment/progress.h"
#include "tools/experiment/run_report.h"
#include "tools/experiment/shape_folders.h"

namespace geosft {

// The opened data of a training, and the outputs that a model for them has.
template <class Outputs>
struct TrainingClouds {
  CloudTrainingData data;
  Outputs outputs;
  std::string sizes = {};  // those of the model and the training that were chosen to fit the data

  std::string text() const {
    std::string text = data.note() + (data.note().empty() ? "" : "\n");
    if (!sizes.empty()) text += "sizes that fit the data: " + sizes + " (--preset paper: those of the paper)\n";
    text += "training on " + std::to_string(data.train().size()) + " clouds of " + outputs.size_text();
    if (held_out()) text += ", " + std::to_string(data.validation()->size()) + " more choose the best checkpoint";
    if (data.broken() > 0) text += ", " + broken_files_text(data.broken());
    text += ", " + std::to_string(data.test_size()) + " to test with";
    const int64_t shared = data.tested_training_clouds();
    return shared == 0
               ? text
               : text + " (" + std::to_string(shared) + " of them also train the model or choose its checkpoint)";
  }
  bool held_out() const { return data.held_out(); }
  std::vector<SplitRow> split_rows() const { return data.split_rows(); }
};

// Returns a note that layers cannot sample so many pairs of so many points; empty if they can.
std::string num_samples_note(const PointModelSettings& model, int64_t points);

template <class Experiment>
class CloudTrainCommand : public TrainCommand<typename Experiment::Task::Settings> {
  using Task = typename Experiment::Task;
  using Base = TrainCommand<typename Task::Settings>;
  using Base::device, Base::settings;

 protected:
  bool train(const RunFolder& folder) override {
    std::optional<typename Experiment::Clouds> opened;  // by the first try
    std::string sizes;
    if (settings.has_automatic()) {
      opened = Experiment::open_training(settings, this->processes());
      sizes = settings.resolve(opened->data.train().size(), Task::Settings::kSmallSizes);
    }
    const std::string note = num_samples_note(settings.model, settings.clouds.points);
    if (!note.empty() && this->processes().is_root()) std::cerr << note << '\n';
    const auto open = [&](const Communicator& together) {
      auto clouds = opened ? *std::exchange(opened, std::nullopt) : Experiment::open_training(settings, together);
      clouds.sizes = sizes;
      settings.clouds.validation_fraction = clouds.data.validation_fraction();
      // The RUN keeps it, so that predictions are made as the model was trained.
      if (clouds.data.has_estimated_normals()) settings.augment.estimated_normals = 1.0;
      return clouds;
    };
    return train_model_within_memory<Experiment>(settings, open, folder, this->resume, device, this->processes());
  }

  void report(const RunFolder& folder) override {
    if constexpr (requires { Experiment::fit_companion(settings, folder, device); }) {
      Experiment::fit_companion(settings, folder, device);
    }
    TrainedRun<Task> trained = load_trained_run<Task>(folder.path());
    trained.to(device);
    trained.settings.workers = settings.workers;
    const auto report = this->final_evaluation(folder, [&] { return Experiment::report(trained, {}); });
    const nlohmann::json result = leave_report<Experiment>(folder, report, trained);
    const std::string chosen = chosen_checkpoint(folder.best_checkpoint()).text(settings.train.epochs);
    std::cout << (this->json ? result.dump() + "\n" : report_text(report, trained) + chosen);
  }
};

// Help texts of `predict` that depend on the task.
struct PredictHelp {
  const char *picture, *ply, *csv;
};

// How a subcommand reads the files of a dataset: as the training did, or otherwise.
struct DatasetReading {
  std::string columns;
  bool drop_invalid = false;

  // Adds --columns and --drop-invalid, unless the subcommand has them: predict has its own, of files.
  void add_to(CLI::App& subcommand);
  // Throws UsageError for an option that has no effect on the dataset (refuse_unused_reading).
  void apply(CloudSettings& clouds, const std::string& data, FindReadOptionUse* find) const;
};

// The clouds of a dataset that are predicted, each with a name of its own.
struct SetClouds {
  std::vector<std::unique_ptr<PointDataset>> splits;
  std::vector<std::pair<const PointDataset*, int64_t>> clouds;  // with their rows
  std::vector<std::string> names;
  int64_t repeated = 0;  // clouds that are left out, since an earlier one has their name

  // Adds the clouds of a split, but for those with the name of an earlier cloud, which it counts.
  void add(std::unique_ptr<PointDataset> split);
};

struct PredictArguments : RunArguments {
  std::string picture, ply, csv;
  std::vector<std::string> files;
  bool fail_fast = false;
  FileOptions reading;
  bool of_set = false;        // --data: the clouds of a dataset, in place of files
  std::string split = "all";  // of that dataset

  // `program` is named in messages. `file_or_data`: FILE may be left out where --data is given.
  void add_to(CLI::App& subcommand, const PredictHelp& help, const char* program, bool file_or_data);
  // Lets --data, which the subcommand has, take the place of FILE and --category, and adds --split. The subcommand must
  // outlive the arguments.
  void add_set_to(CLI::App& subcommand, std::vector<std::string> splits);
  // Called after parsing: an unknown option is an error that comes first. Sets of_set. Throws UsageError where --data
  // is given together with FILE or --category, or --split or --other-data without it. Does nothing without add_set_to.
  void choose_input();

 private:
  const CLI::App* parsed_ = nullptr;
};

// Takes --data, --skip-broken and --other-data out of the help of `predict`, and makes parsing throw UsageError if one
// is given: they are about a dataset, not about files to predict.
void refuse_dataset_options(CLI::App& subcommand);

template <class Experiment>
struct CloudPredictCommand {
  using Run = TrainedRun<typename Experiment::Task>;
  // True where the clouds of a dataset can be predicted in place of files.
  static constexpr bool takes_sets = requires(const Run& trained, const std::string& split) {
    Experiment::open_set(trained, split);
  };

  PredictArguments given;
  Overrides<Experiment> overrides;
  typename Experiment::Output output;

  void add_to(CLI::App& subcommand) {
    given.add_to(subcommand, Experiment::Output::help, Experiment::program, takes_sets);
    output.add_to(subcommand);
    overrides.add_to(subcommand);
    if constexpr (takes_sets) {
      given.add_set_to(subcommand, Experiment::splits());
    } else {
      refuse_dataset_options(subcommand);
    }
  }

  int execute() {
    given.choose_input();
    Run trained = overrides.load(given.run);
    const SetClouds set = open_set(trained);
    const InputFiles inputs =
        given.of_set ? InputFiles{set.names, /*several=*/true, /*of_set=*/true} : input_shape_files(given.files);
    const std::vector<std::string>& files = inputs.files;
    if (!given.of_set) {
      if (const std::string note = given.reading.columns_note(files); !note.empty()) std::cerr << note << '\n';
    }
    if (given.reading.estimated_normals && !trained.settings.clouds.normals) {
      throw UsageError("--estimated-normals: the model takes no normals");
    }
    const OutputFiles plys("--ply", given.ply, files, ".ply", inputs.several, inputs.of_set),
        pictures("--picture", given.picture, files, "", inputs.several, inputs.of_set);
    if constexpr (requires { output.warn(trained, set); }) output.warn(trained, set);
    output.begin(inputs);
    std::vector<std::string> head = output.csv_head(trained);
    head.emplace_back("warnings");
    const std::string item = given.of_set ? "cloud" : "file";
    PredictionTable table(given.csv, head, item);
    FileNotes notes;
    install_interrupt_handler();
    std::optional<ProgressBar> bar;  // over the clouds of a set; it shows while nothing is printed
    if (given.of_set) bar.emplace("predicting", static_cast<int64_t>(files.size()));
    const auto predict_shown = [&](size_t i) {
      if (bar && i > 0) bar->update(static_cast<int64_t>(i));
      const auto hide = c10::make_scope_exit([&] {
        if (bar) bar->clear();
      });
      return predict(trained, files[i], set, i);
    };
    const auto each = [&](size_t i) {
      const auto prediction = predict_shown(i);
      notes.add(files[i], prediction.warnings);
      const std::vector<std::string> warnings = notes_alone(files[i], prediction.warnings);
      // First what may fail: a file has a line of its prediction or one of its error.
      if (plys.requested()) write_coloured_ply(plys[i], output.coloured(prediction, trained));
      if (pictures.requested()) require_drawn(output.draw(pictures[i], files[i], prediction, trained));
      output.write_more(i, prediction, trained);
      if (given.json) {
        nlohmann::json json = output.json(files[i], prediction, trained);
        json["warnings"] = warnings;
        std::cout << json_line(json);
      } else {
        std::cout << output.text(files[i], prediction, trained) << '\n';
      }
      if (!table.requested()) return;
      std::string joined;
      for (const std::string& warning : warnings) joined += (joined.empty() ? "" : "; ") + warning;
      for (auto& row : output.csv_rows(files[i], prediction, trained)) {
        row.push_back(joined);
        table.add(std::move(row));
      }
    };
    const int code = table.predict(Experiment::Task::program, files, given.fail_fast, each, given.json);
    if (bar) {
      bar->update(static_cast<int64_t>(files.size()));
      bar->finish();
    }
    notes.finish(item);
    return code;
  }

 private:
  // Opens the clouds of --data; without it there are none.
  SetClouds open_set(Run& trained) const {
    if constexpr (takes_sets) {
      if (given.of_set) {
        DatasetReading{given.reading.columns, given.reading.drop_invalid}.apply(
            trained.settings.clouds, trained.settings.data, Experiment::Task::Settings::kReadOptionUse);
        return Experiment::open_set(trained, given.split);
      }
    }
    return {};
  }

  // Predicts a file, or the cloud of the set with this index.
  auto predict(Run& trained, const std::string& file, const SetClouds& set, size_t index) const {
    if constexpr (takes_sets) {
      if (given.of_set) {
        const auto& [clouds, row] = set.clouds[index];
        return output.predict(trained, clouds->get(row), given.reading);
      }
    }
    return output.predict(trained, file, given.reading);
  }
};

// How info reads a file with a shape.
struct CloudReading {
  FileOptions options;
  bool check = false;  // read all files of a dataset

  void add_to(CLI::App& subcommand, const ItemWords&);
};
// Adds --skip-broken, of eval and report.
void add_skip_broken_to(CLI::App& subcommand, bool& skip_broken);
// Adds --other-data, of eval and report.
void add_other_data_to(CLI::App& subcommand, bool& other_data);
// Adds --test-every, of info, eval and report; `otherwise` is its default in the help.
void add_test_every_to(CLI::App& subcommand, std::optional<int64_t>& test_every, const std::string& otherwise);
// Throws DataError if there is neither a file nor a folder; `kinds` says what is expected.
void require_something_at(const std::filesystem::path& path, const std::string& kinds);
// Prints what a file with a shape holds.
void print_shape_file(const std::filesystem::path& file, const FileOptions& options, bool json);

// The members that the subcommands need (experiment_commands.h), from those of an experiment with point clouds.
template <class Experiment, class Trained>
struct CloudExperiment {
  using Task = Trained;
  using Run = TrainedRun<Task>;
  using Outputs = typename Task::Outputs;
  using Train = CloudTrainCommand<Experiment>;
  using Predict = CloudPredictCommand<Experiment>;
  using Reading = CloudReading;

  struct Overrides {
    static constexpr bool can_skip = requires(typename Task::Settings settings) { settings.clouds.skip_broken; };
    static constexpr bool can_split = requires(typename Task::Settings settings) { settings.clouds.test_every; };
    std::optional<int64_t> size, test_every;
    bool skip_broken = false;
    bool other_data = false;  // the clouds are not compared with those of split.csv
    DatasetReading reading;

    void add_to(CLI::App& subcommand, const ItemWords&) {
      Experiment::size_option.add_to(subcommand, size);
      if constexpr (can_skip) add_skip_broken_to(subcommand, skip_broken);
      if constexpr (can_split) add_test_every_to(subcommand, test_every, "as in training, and with --other-data all");
      add_other_data_to(subcommand, other_data);
      reading.add_to(subcommand);
    }
    void apply(typename Task::Settings& settings) const {
      if (size) Experiment::size_of(settings) = *size;
      if constexpr (can_skip) settings.clouds.skip_broken = settings.clouds.skip_broken || skip_broken;
      if constexpr (can_split) {
        if (test_every) settings.clouds.test_every = *test_every;
        if (other_data) take_all(settings);
      }
      reading.apply(settings.clouds, settings.data, Task::Settings::kReadOptionUse);
    }
    // Makes all files of a folder without a split of its own clouds to test with, unless --test-every was given: none
    // of them was trained on.
    void take_all(typename Task::Settings& settings) const {
      if constexpr (can_split) {
        if (!test_every) settings.clouds.test_every = 0;
      }
    }
    // Returns which share of a folder that --data names is evaluated, if that folder has no split of its own.
    std::string data_note(const typename Task::Settings& settings) const {
      if constexpr (can_split) return split_rule_note(settings.data, settings.dataset());
      return "";
    }
  };
  struct EvalOptions : CloudEvalOptions {
    void add_to(CLI::App& subcommand, const ItemWords&) { CloudEvalOptions::add_to(subcommand, Experiment::splits()); }
  };

  static constexpr const char *program = Task::program, *train_example = "--data DIR --epochs 50 --seed 1";
  static constexpr ItemWords items{"cloud", "clouds"};

  static bool is_input(const std::filesystem::path& file) { return has_shape_extension(file); }
  static std::string data_help() { return Task::Settings::kDataHelp; }
  static std::string title(const Outputs&) { return Experiment::name; }
  static std::string item_words(const Outputs&) { return items.items; }
  template <class Clouds>
  static void initialize(const typename Task::Model&, const Clouds&) {}
  static auto report(Run& trained, const EvalOptions& options) {
    return geosft::evaluate<Experiment>(trained, options.split, options.rotation, options.turns(),
                                        options.estimated_normals);
  }
  static nlohmann::json run_json(const std::filesystem::path& run, const std::string& config, const Outputs& outputs,
                                 int64_t parameters) {
    nlohmann::json json = geosft::run_json(run, config, outputs.names(), parameters);
    Experiment::add_outputs(json, outputs);
    return json;
  }
  static std::string info_help() { return "RUN folder, checkpoint (*.ckpt), file with a shape, or " + data_help(); }
  template <class AnyReading>
  static void print_data(const std::filesystem::path& path, const AnyReading& reading, bool json) {
    if (!Experiment::holds_data(path)) require_something_at(path, info_help());
    if (Experiment::holds_data(path) || std::filesystem::is_directory(path)) {
      refuse_unused_reading(reading.options.columns, reading.options.drop_invalid, path.string(),
                            Task::Settings::kReadOptionUse);
      Experiment::print_dataset(path, reading, json);
    } else {
      print_shape_file(path, reading.options, json);
    }
  }
};

// A mean over the clouds that have a score.
struct MeanScore {
  double mean = 0.0, error = 0.0;  // its standard error, NaN for a single cloud
  int64_t clouds = 0;
};

struct CloudReportArguments : ReportArguments {
  std::string split = "test";
  Rotation rotation = Rotation::none;

  void add_to(CLI::App& subcommand, const std::vector<std::string>& splits);
};

// Evaluates a run, and writes one HTML page with its curves, its pictures, a table and its worst mistakes.
template <class Experiment>
struct CloudReportCommand {
  using Task = typename Experiment::Task;
  using Report = CloudReport<Experiment>;

  CloudReportArguments given;
  Overrides<Experiment> overrides;

  int execute() const {
    return write_report<Experiment>(
        given, overrides,
        [&](TrainedRun<Task>& trained) {
          auto report = evaluate<Experiment>(trained, given.split, given.rotation, 1);
          if (!report.note.empty()) std::cerr << report.note << '\n';
          return report;
        },
        [&](HtmlReport& page, const Report& report, TrainedRun<Task>& trained) { fill(page, report, trained); });
  }

 private:
  void fill(HtmlReport& page, const Report& report, TrainedRun<Task>& trained) const {
    const bool rotated = given.rotation != Rotation::none;
    add_fact(page,
             std::to_string(report.count) + " clouds of the " + report.split + " set" +
                 (rotated ? std::string(", ") + rotation_text(given.rotation) : ""),
             with_commas(Experiment::metrics_text(report.evaluation)));
    std::istringstream invariance(invariance_text(report.evaluation.invariance));
    for (std::string line; std::getline(invariance, line);) add_fact(page, "invariance", line);
    add_measures(page, report, trained);
    if (!report.broken.empty()) add_fact(page, "data", broken_files_text(report.broken.size()));
    page.mistakes =
        Experiment::mistakes(trained, *open_split<Experiment>(trained, given.split), given.split, given.mistakes);
    if (given.mistakes > 0 && page.mistakes.worst.empty()) {
      add_fact(page, "mistakes", "none: all clouds of the " + given.split + " set are right");
    }
  }
  // Adds what the metrics are worth: their interval, the classes, which are mistaken for which, and the calibration.
  static void add_measures(HtmlReport& page, const Report& report, const TrainedRun<Task>& trained) {
    const auto& evaluation = report.evaluation;
    if constexpr (requires { Experiment::accuracy(evaluation); }) {
      add_accuracy_interval(page, Experiment::accuracy(evaluation), report.count, "clouds");
    }
    if constexpr (requires { Experiment::mean_score(evaluation); }) {
      const auto [score, error, clouds] = Experiment::mean_score(evaluation);
      if (clouds > 1) {
        page.facts.emplace_back(std::string("95 % interval of the ") + Experiment::score_name,
                                percent(std::max(score - 1.96 * error, 0.0)) + " to " +
                                    percent(std::min(score + 1.96 * error, 1.0)) +
                                    " (mean ± 1.96 standard errors over " + std::to_string(clouds) + " clouds)");
      }
    }
    if constexpr (requires { Experiment::page_table(evaluation, trained); }) {
      page.table = Experiment::page_table(evaluation, trained);
    } else {
      page.table = Experiment::table(evaluation, trained);
    }
    if constexpr (requires { Experiment::confusion(evaluation); }) {
      page.confusion = {trained.class_names, Experiment::confusion(evaluation)};
    }
    if constexpr (requires { Experiment::reliability(evaluation); }) {
      add_calibration(page, Experiment::reliability(evaluation));
    }
  }
};

template <class Experiment>
inline constexpr Subcommand report_subcommand{
    "report", "one HTML page on a run: curves, tables, and its worst mistakes, drawn", [](CLI::App& subcommand) {
      auto command = std::make_shared<CloudReportCommand<Experiment>>();
      command->given.add_to(subcommand, Experiment::splits());
      command->overrides.add_to(subcommand);
      return Command([command] { return command->execute(); });
    }};

}  // namespace geosft
