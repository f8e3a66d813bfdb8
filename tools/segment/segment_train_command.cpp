// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "models/summary.h"
#include "tools/common/arguments.h"
#include "tools/common/cloud_training_data.h"
#include "tools/common/main_guard.h"
#include "tools/common/report_texts.h"
#include "tools/common/training_run.h"
#include "tools/segment/commands.h"
#include "tools/segment/segment_report.h"
#include "tools/segment/segment_task.h"

namespace geosft {
namespace {

struct SegmentTrainCommand : TrainArguments {
  SegmentSettings settings;
  Config config = settings.config();
  at::Device device = at::kCPU;

  int run();
  void load_resumed_settings(const RunFolder& folder);
  bool train(const RunFolder& folder);
  void report(const RunFolder& folder);
};

// What the steps of a run do not depend on may change: where the data lies, how often it is looked at, and the number
// of epochs, along whose new curve a cosine schedule goes on.
void SegmentTrainCommand::load_resumed_settings(const RunFolder& folder) {
  const auto keep = [](SegmentSettings& before, const SegmentSettings& after) {
    before.data = after.data;
    before.workers = after.workers;
    before.clouds.block = after.clouds.block;
    before.evaluation = after.evaluation;
    before.train.take_resumable(after.train);
  };
  load_resumed<SegmentSettings>(
      settings, config, folder, keep,
      "--data, --workers, --block, --epochs, --validate-every, --checkpoint-every, --on-non-finite and the keys of "
      "[evaluation]");
}

bool SegmentTrainCommand::train(const RunFolder& folder) {
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
  SegmentTask task(model, data.train(), data.validation(), settings, part_mask(parts, classes));
  TrainingLoop loop(task, settings.training());
  return train_in_folder(loop, *model, folder, describe_run(settings, names, parts, data.held_out()), resume,
                         "training on " + std::to_string(data.train().size()) + " clouds of " +
                             std::to_string(names.size()) + " classes with " + std::to_string(parts.size()) +
                             " parts, " + std::to_string(parameter_count(*model)) + " parameters");
}

SegmentReport final_evaluation(SegmentRun& trained, const RunFolder& folder) {
  try {
    return evaluate(trained, "test", Rotation::none, 1);
  } catch (const Interrupted& stop) {
    throw Interrupted(std::string(stop.what()) + "; training is done and saved: geosft-segment eval " +
                      folder.path().string());
  }
}

void SegmentTrainCommand::report(const RunFolder& folder) {
  SegmentRun trained = load_segment_run(folder.path());
  trained.model->to(device);
  trained.settings.workers = settings.workers;
  const SegmentReport evaluation = final_evaluation(trained, folder);
  ScoreStyle style;
  style.name = "instance_iou";
  draw_curves(folder, style);
  const std::string result = segment_json(evaluation, trained.class_names).dump() + "\n";
  folder.write_result(result);
  std::cout << (json ? result : segment_text(evaluation, trained.class_names));
}

int SegmentTrainCommand::run() {
  if (list_keys) {
    std::cout << config.help();
    return 0;
  }
  if (out.empty()) throw UsageError("--out RUN is required: the folder to leave the run in");
  device = runtime.apply();
  if (!resume) load_new(config);
  if (!resume && settings.data.empty()) throw UsageError("--data DIR is required: the dataset");
  settings.check();
  const RunFolder folder = resume ? RunFolder::open(out) : RunFolder::create(out);
  if (resume) load_resumed_settings(folder);
  settings.data = std::filesystem::absolute(settings.data).lexically_normal().string();
  if (!train_or_clean(folder, [&] { return train(folder); })) {
    throw Interrupted("saved in " + folder.last_checkpoint().string() +
                      ": continue with geosft-segment train --resume --out " + out);
  }
  report(folder);
  return 0;
}

}  // namespace

Command add_segment_train_command(CLI::App& verb) {
  auto command = std::make_shared<SegmentTrainCommand>();
  command->add_to(verb);
  command->config.add_options(verb, /*listed=*/false);
  verb.footer("Every key of the configuration is an option too, for example --data DIR --epochs 50 --seed 1.");
  return [command] { return command->run(); };
}

}  // namespace geosft
