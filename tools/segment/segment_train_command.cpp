// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "models/summary.h"
#include "tools/experiment/cloud_training_data.h"
#include "tools/experiment/report_texts.h"
#include "tools/experiment/train_command.h"
#include "tools/segment/commands.h"
#include "tools/segment/segment_report.h"
#include "tools/segment/segment_task.h"

namespace geosft {
namespace {

class SegmentTrainCommand : public TrainCommand<SegmentSettings> {
 protected:
  bool train(const RunFolder& folder) override {
    return within_memory(
        [&](RunStart start, const Communicator& together) { return train_once(folder, start, together); });
  }
  void report(const RunFolder& folder) override;

 private:
  bool train_once(const RunFolder& folder, RunStart start, const Communicator& together);
};

bool SegmentTrainCommand::train_once(const RunFolder& folder, RunStart start, const Communicator& together) {
  const bool published = settings.clouds.published_validation;
  auto training = open_part_dataset(settings.data, published ? PartSplit::train : PartSplit::train_and_validation);
  const std::vector<std::string> names = training->class_names();
  const PartList parts = training->parts();
  std::unique_ptr<PointDataset> validation;
  if (published) validation = open_part_dataset(settings.data, PartSplit::validation);
  const CloudTrainingData data(std::move(training), std::move(validation),
                               open_part_dataset(settings.data, PartSplit::test), settings.clouds, settings.seed,
                               settings.data);
  torch::manual_seed(settings.seed);
  const auto classes = static_cast<int64_t>(names.size());
  PointSegmenter model(settings.segmenter(static_cast<int64_t>(parts.size()), classes));
  model->to(device);
  SegmentTask task(model, data.train(), data.validation(), settings, part_mask(parts, classes), together);
  TrainingOptions options = settings.training();
  options.step_graphs = step_graphs(settings.train, device);
  TrainingLoop loop(task, options, together);
  return train_in_folder(loop, *model, folder, describe_run(settings, names, parts, data.held_out()), start,
                         "training on " + std::to_string(data.train().size()) + " clouds of " +
                             std::to_string(names.size()) + " classes with " + std::to_string(parts.size()) +
                             " parts, " + std::to_string(parameter_count(*model)) + " parameters");
}

void SegmentTrainCommand::report(const RunFolder& folder) {
  SegmentRun trained = load_segment_run(folder.path());
  trained.model->to(device);
  trained.settings.workers = settings.workers;
  const SegmentReport evaluation =
      final_evaluation(folder, [&] { return evaluate(trained, "test", Rotation::none, 1); });
  ScoreStyle style;
  style.name = "instance_iou";
  draw_curves(folder, style);
  const std::string result = segment_json(evaluation, trained.class_names).dump() + "\n";
  folder.write_result(result);
  std::cout << (json ? result : segment_text(evaluation, trained.class_names));
}

}  // namespace

Command add_segment_train_command(CLI::App& subcommand) {
  auto command = std::make_shared<SegmentTrainCommand>();
  command->add_to(subcommand, "--data DIR --epochs 50 --seed 1");
  return [command] { return command->run(); };
}

}  // namespace geosft
