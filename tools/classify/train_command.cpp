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
#include "tools/experiment/cloud_training_data.h"
#include "tools/experiment/report_texts.h"
#include "tools/experiment/train_command.h"

namespace geosft {
namespace {

class ClassifyTrainCommand : public TrainCommand<ClassifySettings> {
 protected:
  bool train(const RunFolder& folder) override {
    return within_memory(
        [&](RunStart start, const Communicator& together) { return train_once(folder, start, together); });
  }
  void report(const RunFolder& folder) override;

 private:
  bool train_once(const RunFolder& folder, RunStart start, const Communicator& together);
};

bool ClassifyTrainCommand::train_once(const RunFolder& folder, RunStart start, const Communicator& together) {
  const CloudTrainingData data = leader_first(together, [&] {
    return CloudTrainingData(open_dataset(settings, Split::train), nullptr, open_dataset(settings, Split::test),
                             settings.clouds, settings.seed, settings.data);
  });
  const std::vector<std::string>& names = data.train().class_names();
  torch::manual_seed(settings.seed);
  PointClassifier model(settings.classifier(static_cast<int64_t>(names.size())));
  model->to(device);
  ClassifyTask task(model, data.train(), data.validation(), settings, together);
  TrainingOptions options = settings.training();
  options.step_graphs = step_graphs(settings.train, device);
  TrainingLoop loop(task, options, together);
  return train_in_folder(loop, *model, folder, describe_run(settings, names), start,
                         "training on " + std::to_string(data.train().size()) + " clouds of " +
                             std::to_string(names.size()) + " classes, " + std::to_string(parameter_count(*model)) +
                             " parameters");
}

void ClassifyTrainCommand::report(const RunFolder& folder) {
  RunModel trained = load_run_model(folder.path());
  trained.model->to(device);
  trained.settings.workers = settings.workers;
  const EvaluationReport evaluation =
      final_evaluation(folder, [&] { return evaluate(trained, "test", Rotation::none, 1); });
  draw_confusion(evaluation, trained.class_names, folder);
  draw_curves(folder);
  folder.write_result(evaluation_json(evaluation).dump() + "\n");
  if (json) {
    std::cout << evaluation_json(evaluation).dump() << '\n';
  } else {
    std::cout << evaluation_text(evaluation, trained.class_names);
  }
}

}  // namespace

Command add_train_command(CLI::App& subcommand) {
  auto command = std::make_shared<ClassifyTrainCommand>();
  command->add_to(subcommand, "--data DIR --epochs 50 --seed 1");
  return [command] { return command->run(); };
}

}  // namespace geosft
