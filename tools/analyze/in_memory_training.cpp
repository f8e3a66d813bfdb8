// SPDX-License-Identifier: Apache-2.0
#include "tools/analyze/in_memory_training.h"

#include <c10/util/StringUtil.h>

#include <CLI/CLI.hpp>

#include "tools/experiment/arguments.h"
#include "tools/experiment/classify_task.h"
#include "tools/experiment/main_guard.h"

namespace geosft {
namespace {

class EpochTeller : public TrainingObserver {
 public:
  explicit EpochTeller(std::function<void(int64_t)> told) : told_(std::move(told)) {}
  void on_step(const StepReport&) override {}
  void on_epoch(const EpochReport& report) override { told_(report.epoch + 1); }
  bool stop_requested() override { return interrupted(); }

 private:
  std::function<void(int64_t)> told_;
};

}  // namespace

RunModel train_in_memory(const ClassifySettings& settings, const PointDataset& training, at::Device device,
                         const std::function<void(int64_t, RunModel&)>& after_epoch) {
  RunModel made{{training.class_names()}, settings};
  at::manual_seed(settings.seed);
  made.model = PointClassifier(settings.classifier(static_cast<int64_t>(made.class_names.size())));
  made.model->to(device);
  ClassifyTask task(made.model, training, nullptr, settings);
  TrainingLoop loop(task, settings.training());
  // The callback sees the averaged weights if the settings enable averaging.
  const auto tell = [&](int64_t epochs) {
    if (!after_epoch) return;
    const Optimization::AveragedWeights averaged(loop.optimization());
    made.model->eval();
    after_epoch(epochs, made);
    made.model->train();
  };
  tell(0);
  EpochTeller teller(tell);
  if (!loop.run(teller)) throw Interrupted("before anything was written");
  std::map<std::string, at::Tensor> weights;
  {
    const Optimization::AveragedWeights averaged(loop.optimization());
    for (const auto& [name, tensor] : module_state(*made.model)) weights[name] = tensor.clone();
  }
  load_module_state(*made.model, weights);
  made.model->eval();
  return made;
}

void TrainingAnalysis::add_to(CLI::App& added, const std::string& config_help, const std::string& footer) {
  subcommand_ = &added;
  added.add_option("--config", config_file, config_help);
  runtime.add_to(added);
  output.add_to(added);
  config.add_options(added, /*listed=*/false);
  added.footer("Every key of a configuration is an option too, as of geosft-classify train" + footer);
}

void TrainingAnalysis::refuse_given(const std::vector<std::string>& options, const std::string& reason) const {
  for (const std::string& option : options) {
    if (subcommand_->count(option) > 0) throw UsageError(c10::str(option, " has no effect here: ", reason));
  }
}

at::Device TrainingAnalysis::begin(bool holds_out) {
  if (!holds_out) refuse_given({"--validation-fraction"}, "this analysis does not validate");
  refuse_given({"--monitor-test", "--validate-every", "--checkpoint-every", "--replay-steps", "--tensorboard"},
               "this analysis neither validates nor saves, nor replays steps");
  const at::Device device = runtime.apply();
  if (!config_file.empty()) config.load_toml(config_file);
  config.apply_options();
  settings.check();
  return device;
}

}  // namespace geosft
