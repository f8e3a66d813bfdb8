// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <functional>
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

// The training clouds, or a part of them and those that are held out. The datasets refer to `all`.
struct HeldOutClouds {
  std::reference_wrapper<const PointDataset> all;
  std::unique_ptr<PointSubset> kept, held_out;

  const PointDataset& train() const { return kept ? static_cast<const PointDataset&>(*kept) : all.get(); }
};

struct AblationsCommand : TrainingAnalysis {
  std::vector<std::string> changes = {};
  int64_t repeats = 1;
  int64_t curves_every = 0;  // epochs between the points of learning curves; 0: no curves
  Rotation rotation = Rotation::so3;

  ClassificationMetrics tested(RunModel& trained, const PointDataset& clouds) const {
    const auto stop = [](int64_t) { throw_if_interrupted("before anything was written"); };
    return classification_metrics({dataset_logits(trained.model, clouds, trained.settings, rotation, 0, stop)});
  }

  // Trains on the clouds of `data` and tests; adds the accuracies on its held-out clouds by epoch to `curve`.
  NamedValues trained_and_tested(const ClassifySettings& one, const HeldOutClouds& data, const PointDataset& test,
                                 at::Device device, Curve& curve) const {
    size_t point = 0;
    RunModel made = train_in_memory(one, data.train(), device, [&](int64_t epochs, RunModel& model) {
      if (curves_every == 0 || epochs == 0 || epochs % curves_every != 0) return;
      if (point == curve.x.size()) {
        curve.x.push_back(static_cast<double>(epochs));
        curve.y.push_back(0);
      }
      curve.y[point++] += tested(model, *data.held_out).accuracy / static_cast<double>(repeats);
    });
    const ClassificationMetrics metrics = tested(made, test);
    return {
        {"accuracy", metrics.accuracy}, {"mean_class_accuracy", metrics.mean_class_accuracy}, {"loss", metrics.loss}};
  }

  int execute() {
    const at::Device device = begin(/*holds_out=*/curves_every > 0);
    if (curves_every > settings.train.epochs) {
      throw UsageError("--curves-every must be at most the epochs, " + std::to_string(settings.train.epochs) +
                       ", got " + std::to_string(curves_every));
    }
    const std::vector<Ablation> all = ablations(settings, changes.empty() ? usual_changes(settings) : changes);
    const auto training = open_dataset(settings, Split::train), test = open_dataset(settings, Split::test);
    HeldOutClouds data{*training, nullptr, nullptr};
    if (curves_every > 0) data = hold_out(*training);
    install_interrupt_handler();
    std::vector<ResultRow> rows;
    std::vector<Curve> curves;
    for (const Ablation& ablation : all) {
      std::vector<NamedValues> runs;
      Curve& curve = curves.emplace_back(Curve{ablation.name, {}, {}});
      for (int64_t repeat = 0; repeat < repeats; ++repeat) {
        ClassifySettings one = ablation.settings;
        one.seed += static_cast<uint64_t>(repeat);
        runs.push_back(trained_and_tested(one, data, *test, device, curve));
        std::cerr << ablation.name << ", seed " << one.seed << ": " << 100 * value_of(runs.back(), "accuracy")
                  << " %\n";
      }
      rows.push_back(summarized(ablation.name, runs));
      rows.back().labels = ablation_labels(ablation.settings);
    }
    std::cout << markdown_table(rows);
    output.write_csv(csv_table(rows));
    if (curves_every > 0) save_curves(curves);
    output.check_drawn(plot_ablations(rows, "accuracy" + rotated(), output.stem()));
    return 0;
  }

  std::string rotated() const {
    return rotation == Rotation::so3 ? " under random rotations"
           : rotation == Rotation::z ? " under rotations about z"
                                     : " of upright clouds";
  }

  // Holds out the configured share of the training clouds; automatic: a tenth.
  HeldOutClouds hold_out(const PointDataset& training) const {
    const double share = settings.clouds.validation_fraction, held_out = is_automatic(share) ? 0.1 : share;
    const auto [kept, validation] = stratified_split(training, held_out, settings.seed);
    if (kept.empty() || validation.empty()) {
      throw UsageError("--curves-every needs held-out clouds, and --validation-fraction " + std::to_string(held_out) +
                       " splits " + std::to_string(training.size()) + " training clouds into " +
                       std::to_string(kept.size()) + " and " + std::to_string(validation.size()));
    }
    return {training, std::make_unique<PointSubset>(training, kept),
            std::make_unique<PointSubset>(training, validation)};
  }

  // Writes the accuracies on held-out clouds by epoch, and the cumulative maxima beside them, to OUT_curves.
  void save_curves(const std::vector<Curve>& curves) const {
    std::vector<Curve> best;
    for (const Curve& curve : curves) best.push_back(best_so_far(curve, /*lower_is_better=*/false));
    output.beside("_curves").save("epoch", "accuracy", curves,
                                  {{{"held-out clouds" + rotated(), "epoch", "accuracy"}, curves},
                                   {{"cumulative maximum", "epoch", "accuracy"}, best}});
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
  add_integer(subcommand, "--curves-every", command->curves_every,
              "draw the accuracy on held-out training clouds after every so many epochs, and its cumulative maximum, "
              "into OUT_curves; 0: do not",
              0, 1000000);
  add_enum_option(subcommand, "--test-rotate", &command->rotation,
                  "rotate the clouds that are tested: not at all, about z, or by any rotation");
  command->add_to(subcommand, "TOML file that is varied (see tools/configs)", ", for example --epochs 20.");
  return [command] { return command->execute(); };
}

}  // namespace geosft
