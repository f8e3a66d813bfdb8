// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "data/point_subset.h"
#include "models/summary.h"
#include "tools/classify/classify_task.h"
#include "tools/classify/commands.h"
#include "tools/classify/datasets.h"
#include "tools/classify/report.h"
#include "tools/classify/run_model.h"
#include "tools/classify/run_observer.h"
#include "tools/common/arguments.h"
#include "tools/common/main_guard.h"
#include "tools/common/run_folder.h"
#include "tools/common/runtime_options.h"

namespace geosft {
namespace {

struct TrainCommand {
  std::string config_file, out;
  bool resume = false, json = false, list_keys = false;
  RuntimeOptions runtime;
  ClassifySettings settings;
  Config config = settings.config();

  int run();
  void load_settings(const std::filesystem::path& file);
  bool train(const RunFolder& folder);
  void report(const RunFolder& folder);
};

void TrainCommand::load_settings(const std::filesystem::path& file) {
  if (!file.empty()) config.load_toml(file);
  config.apply_options();
}

// The datasets of a run; subsets refer to `training`.
struct TrainingData {
  std::unique_ptr<PointDataset> training, test;
  std::unique_ptr<PointSubset> kept, held_out;

  explicit TrainingData(const ClassifySettings& settings)
      : training(open_dataset(settings, Split::train)),
        test(settings.clouds.monitor_test ? open_dataset(settings, Split::test) : nullptr) {
    if (settings.clouds.validation_fraction <= 0) return;
    const auto [first, second] = stratified_split(*training, settings.clouds.validation_fraction, settings.seed);
    kept = std::make_unique<PointSubset>(*training, first);
    held_out = std::make_unique<PointSubset>(*training, second);
  }
  const PointDataset& train() const { return kept ? static_cast<const PointDataset&>(*kept) : *training; }
  // What validation runs on: held-out clouds, else the monitored test set, else nothing.
  const PointDataset* validation() const { return held_out ? held_out.get() : test.get(); }
};

bool TrainCommand::train(const RunFolder& folder) {
  const TrainingData data(settings);
  torch::manual_seed(settings.seed);
  PointClassifier model(settings.classifier(static_cast<int64_t>(data.training->class_names().size())));
  ClassifyTask task(model, data.train(), data.validation(), settings);
  TrainingLoop loop(task, settings.training());
  RunObserver observer(loop, *model, folder, settings, data.training->class_names());
  folder.write_classes(data.training->class_names());
  if (resume) observer.resume();
  std::cerr << "training on " << data.train().size() << " clouds of " << data.training->class_names().size()
            << " classes, " << parameter_count(*model) << " parameters\n";
  const bool done = loop.run(observer);
  observer.finish(done);
  return done;
}

void TrainCommand::report(const RunFolder& folder) {
  RunModel trained = load_run_model(folder.path());
  trained.settings.workers = settings.workers;
  const EvaluationReport evaluation = evaluate(trained, "test", Rotation::none, 1);
  draw_confusion(evaluation, trained.class_names, folder);
  draw_curves(folder);
  folder.write_result(evaluation_json(evaluation).dump() + "\n");
  if (json) {
    std::cout << evaluation_json(evaluation).dump() << '\n';
  } else {
    std::cout << evaluation_text(evaluation, trained.class_names);
  }
}

int TrainCommand::run() {
  if (list_keys) {
    std::cout << config.help();
    return 0;
  }
  if (out.empty()) throw UsageError("--out RUN is required: the folder to leave the run in");
  runtime.apply();
  if (!resume) load_settings(config_file);
  const RunFolder folder = resume ? RunFolder::open(out) : RunFolder::create(out);
  if (resume) load_settings(folder.config());
  folder.write_config(config.to_toml());
  folder.write_version();
  std::cerr << config.to_toml();
  install_interrupt_handler();
  if (!train(folder)) {
    throw Interrupted("interrupted; saved in " + folder.last_checkpoint().string() +
                      ": continue with geosft-classify train --resume --out " + out);
  }
  report(folder);
  return 0;
}

}  // namespace

Command add_train_command(CLI::App& verb) {
  auto command = std::make_shared<TrainCommand>();
  verb.add_option("--config", command->config_file, "TOML file of the experiment (see tools/configs)");
  verb.add_option("--out", command->out, "RUN folder to make");
  verb.add_flag("--resume", command->resume, "continue the run in --out where it stopped");
  verb.add_flag("--json", command->json, "print the final evaluation as JSON");
  verb.add_flag("--list-keys", command->list_keys, "print every configuration key, each also an option --like-this");
  command->runtime.add_to(verb);
  command->config.add_options(verb, /*listed=*/false);
  verb.footer("Every key of the configuration is an option too, for example --data DIR --epochs 50 --seed 1.");
  return [command] { return command->run(); };
}

}  // namespace geosft
