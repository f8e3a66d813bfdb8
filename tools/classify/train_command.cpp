// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "data/broken_files.h"
#include "models/summary.h"
#include "tools/classify/classify_task.h"
#include "tools/classify/commands.h"
#include "tools/classify/datasets.h"
#include "tools/classify/report.h"
#include "tools/classify/run_model.h"
#include "tools/experiment/cloud_training_data.h"
#include "tools/experiment/report_texts.h"
#include "tools/experiment/train_command.h"

namespace geosft {
namespace {

class ClassifyTrainCommand : public CloudTrainCommand<ClassifySettings> {
 protected:
  bool train_once(const RunFolder& folder, RunStart start, const Communicator& together) override;
  void report(const RunFolder& folder) override;
};

bool ClassifyTrainCommand::train_once(const RunFolder& folder, RunStart start, const Communicator& together) {
  const CloudTrainingData data = root_first(together, [&] {
    std::unique_ptr<PointDataset> training, test;
    throw_all_broken([&] { training = open_dataset(settings, Split::train); },
                     [&] { test = open_dataset(settings, Split::test); });
    return CloudTrainingData(std::move(training), nullptr, std::move(test), settings.clouds, settings.seed,
                             settings.data);
  });
  const std::vector<std::string>& names = data.train().class_names();
  torch::manual_seed(settings.seed);
  PointClassifier model(settings.classifier(static_cast<int64_t>(names.size())));
  model->to(device);
  ClassifyTask task(model, data.train(), data.validation(), settings, together);
  return run_loop(task, model, folder, describe_run(settings, names), start, together,
                  std::to_string(data.train().size()) + " clouds of " + std::to_string(names.size()) + " classes");
}

void ClassifyTrainCommand::report(const RunFolder& folder) {
  RunModel trained = load_run_model(folder.path());
  const EvaluationReport evaluation = test_set_evaluation(trained, folder);
  draw_confusion(evaluation, trained.class_names, folder);
  draw_curves(folder);
  leave_result(folder, evaluation_json(evaluation).dump(), evaluation_text(evaluation, trained.class_names));
}

}  // namespace

Command add_train_command(CLI::App& subcommand) {
  auto command = std::make_shared<ClassifyTrainCommand>();
  command->add_to(subcommand, "--data DIR --epochs 50 --seed 1");
  return [command] { return command->run(); };
}

}  // namespace geosft
