// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "tools/analyze/ablation_table.h"
#include "tools/analyze/commands.h"
#include "tools/analyze/in_memory_training.h"
#include "tools/experiment/classification.h"
#include "tools/experiment/classify_task.h"
#include "tools/experiment/main_guard.h"

namespace geosft {
namespace {

struct AblationsCommand : TrainingAnalysis {
  std::vector<std::string> changes = {};
  int64_t repeats = 1;

  NamedValues trained_and_tested(const ClassifySettings& one, const PointDataset& training, const PointDataset& test,
                                 at::Device device) const {
    RunModel made = train_in_memory(one, training, device);
    const auto stop = [](int64_t) { throw_if_interrupted("before anything was written"); };
    const ClassificationMetrics metrics =
        classification_metrics({dataset_logits(made.model, test, one, Rotation::so3, 0, stop)});
    return {
        {"accuracy", metrics.accuracy}, {"mean_class_accuracy", metrics.mean_class_accuracy}, {"loss", metrics.loss}};
  }

  int execute() {
    const at::Device device = begin();
    const std::vector<Ablation> all = ablations(settings, changes.empty() ? usual_changes(settings) : changes);
    const auto training = open_dataset(settings, Split::train), test = open_dataset(settings, Split::test);
    install_interrupt_handler();
    std::vector<ResultRow> rows;
    for (const Ablation& ablation : all) {
      std::vector<NamedValues> runs;
      for (int64_t repeat = 0; repeat < repeats; ++repeat) {
        ClassifySettings one = ablation.settings;
        one.seed += static_cast<uint64_t>(repeat);
        runs.push_back(trained_and_tested(one, *training, *test, device));
        std::cerr << ablation.name << ", seed " << one.seed << ": " << 100 * value_of(runs.back(), "accuracy")
                  << " %\n";
      }
      rows.push_back(summarized(ablation.name, runs));
      rows.back().labels = ablation_labels(ablation.settings);
    }
    std::cout << markdown_table(rows);
    output.write_csv(csv_table(rows));
    output.check_drawn(plot_ablations(rows, "accuracy under random rotations", output.stem()));
    return 0;
  }
};

}  // namespace

Command add_ablations_command(CLI::App& subcommand) {
  auto command = std::make_shared<AblationsCommand>();
  subcommand.add_option(
      "--change", command->changes,
      "KEY=VALUE, or several separated by +: a variant each (default: score, probability, sample size, "
      "and the variants of the sampler)");
  add_integer(subcommand, "--repeats", command->repeats, "seeds a variant", 1, 1000);
  command->add_to(subcommand, "TOML file that is varied (see tools/configs)", ", for example --epochs 20.");
  return [command] { return command->execute(); };
}

}  // namespace geosft
