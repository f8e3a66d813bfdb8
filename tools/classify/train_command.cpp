// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "models/summary.h"
#include "tools/classify/classify_task.h"
#include "tools/classify/commands.h"
#include "tools/classify/datasets.h"
#include "tools/classify/report.h"
#include "tools/classify/run_model.h"
#include "tools/common/arguments.h"
#include "tools/common/cloud_training_data.h"
#include "tools/common/main_guard.h"
#include "tools/common/report_texts.h"
#include "tools/common/run_folder.h"
#include "tools/common/training_run.h"

namespace geosft {
namespace {

struct TrainCommand : TrainArguments {
  ClassifySettings settings;
  Config config = settings.config();
  at::Device device = at::kCPU;

  int run();
  void load_resumed_settings(const RunFolder& folder);
  bool train(const RunFolder& folder);
  void report(const RunFolder& folder);
};

// What the steps of a run do not depend on may change: where the data lies, how often it is looked at, and the number
// of epochs, along whose new curve a cosine schedule goes on.
void TrainCommand::load_resumed_settings(const RunFolder& folder) {
  const auto keep = [](ClassifySettings& before, const ClassifySettings& after) {
    before.data = after.data;
    before.workers = after.workers;
    before.evaluation = after.evaluation;
    before.train.take_resumable(after.train);
  };
  load_resumed<ClassifySettings>(
      settings, config, folder, keep,
      "--data, --workers, --epochs, --validate-every, --checkpoint-every, --on-non-finite and the keys of "
      "[evaluation]");
  settings.check();
}

bool TrainCommand::train(const RunFolder& folder) {
  const CloudTrainingData data(open_dataset(settings, Split::train), nullptr, open_dataset(settings, Split::test),
                               settings.clouds, settings.seed, settings.data);
  const std::vector<std::string>& names = data.train().class_names();
  torch::manual_seed(settings.seed);
  PointClassifier model(settings.classifier(static_cast<int64_t>(names.size())));
  model->to(device);
  ClassifyTask task(model, data.train(), data.validation(), settings);
  TrainingLoop loop(task, settings.training());
  return train_in_folder(loop, *model, folder, describe_run(settings, names), resume,
                         "training on " + std::to_string(data.train().size()) + " clouds of " +
                             std::to_string(names.size()) + " classes, " + std::to_string(parameter_count(*model)) +
                             " parameters");
}

EvaluationReport final_evaluation(RunModel& trained, const RunFolder& folder) {
  try {
    return evaluate(trained, "test", Rotation::none, 1);
  } catch (const Interrupted& stop) {
    throw Interrupted(std::string(stop.what()) + "; training is done and saved: geosft-classify eval " +
                      folder.path().string());
  }
}

void TrainCommand::report(const RunFolder& folder) {
  RunModel trained = load_run_model(folder.path());
  trained.model->to(device);
  trained.settings.workers = settings.workers;
  const EvaluationReport evaluation = final_evaluation(trained, folder);
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
  device = runtime.apply();
  if (!resume) {
    load_new(config);
    settings.check();
  }
  const RunFolder folder = resume ? RunFolder::open(out) : RunFolder::create(out);
  if (resume) load_resumed_settings(folder);
  settings.data = absolute_source(settings.data).string();
  if (!train_or_clean(folder, [&] { return train(folder); })) {
    throw Interrupted("saved in " + folder.last_checkpoint().string() +
                      ": continue with geosft-classify train --resume --out " + out);
  }
  report(folder);
  return 0;
}

}  // namespace

Command add_train_command(CLI::App& verb) {
  auto command = std::make_shared<TrainCommand>();
  command->add_to(verb);
  command->config.add_options(verb, /*listed=*/false);
  verb.footer("Every key of the configuration is an option too, for example --data DIR --epochs 50 --seed 1.");
  return [command] { return command->run(); };
}

}  // namespace geosft
