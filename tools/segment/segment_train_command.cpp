// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "data/broken_files.h"
#include "models/summary.h"
#include "tools/experiment/cloud_training_data.h"
#include "tools/experiment/report_texts.h"
#include "tools/experiment/train_command.h"
#include "tools/segment/commands.h"
#include "tools/segment/segment_report.h"
#include "tools/segment/segment_task.h"

namespace geosft {
namespace {

class SegmentTrainCommand : public CloudTrainCommand<SegmentSettings> {
 protected:
  bool train_once(const RunFolder& folder, RunStart start, const Communicator& together) override;
  void report(const RunFolder& folder) override;
};

bool SegmentTrainCommand::train_once(const RunFolder& folder, RunStart start, const Communicator& together) {
  const bool published = settings.clouds.published_validation;
  std::unique_ptr<PartDataset> training, test, validation;
  const auto open = [&](std::unique_ptr<PartDataset>& to, PartSplit split) {
    return [&, split] {
      to = open_part_dataset(settings.data, split);
      to->check_shapes();
    };
  };
  throw_all_broken(
      open(training, published ? PartSplit::train : PartSplit::train_and_validation),
      [&] {
        if (published) open(validation, PartSplit::validation)();
      },
      open(test, PartSplit::test));
  const std::vector<std::string> names = training->class_names();
  const PartList parts = training->parts();
  const CloudTrainingData data(std::move(training), std::move(validation), std::move(test), settings.clouds,
                               settings.seed, settings.data);
  torch::manual_seed(settings.seed);
  const auto classes = static_cast<int64_t>(names.size());
  PointSegmenter model(settings.segmenter(static_cast<int64_t>(parts.size()), classes));
  model->to(device);
  SegmentTask task(model, data.train(), data.validation(), settings, part_mask(parts, classes), together);
  return run_loop(task, model, folder, describe_run(settings, names, parts, data.held_out()), start, together,
                  std::to_string(data.train().size()) + " clouds of " + std::to_string(names.size()) +
                      " classes with " + std::to_string(parts.size()) + " parts");
}

void SegmentTrainCommand::report(const RunFolder& folder) {
  SegmentRun trained = load_segment_run(folder.path());
  const SegmentReport evaluation = test_set_evaluation(trained, folder);
  ScoreStyle style;
  style.name = "instance_iou";
  draw_curves(folder, style);
  leave_result(folder, segment_json(evaluation, trained.class_names).dump(),
               segment_text(evaluation, trained.class_names));
}

}  // namespace

Command add_segment_train_command(CLI::App& subcommand) {
  auto command = std::make_shared<SegmentTrainCommand>();
  command->add_to(subcommand, "--data DIR --epochs 50 --seed 1");
  return [command] { return command->run(); };
}

}  // namespace geosft
