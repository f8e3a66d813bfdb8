// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>

#include "tools/analyze/commands.h"
#include "tools/analyze/in_memory_training.h"
#include "tools/analyze/sampling_snapshot.h"
#include "tools/experiment/arguments.h"
#include "tools/experiment/classification.h"
#include "tools/experiment/main_guard.h"
#include "tools/experiment/plots.h"

namespace geosft {
namespace {

struct SamplingCommand : TrainingAnalysis {
  std::vector<int64_t> snapshots = {0, 1, 2, 4, 8};
  int64_t item = 0, repeats = 32;

  int execute() {
    refuse_given({"--epochs"}, "training ends with the last of --snapshots");
    const at::Device device = begin();
    std::sort(snapshots.begin(), snapshots.end());
    settings.train.epochs = std::max<int64_t>(snapshots.back(), 1);
    const auto training = open_dataset(settings, Split::train), test = open_dataset(settings, Split::test);
    if (item >= test->size()) {
      throw UsageError("--item: the test split has items 0 … " + std::to_string(test->size() - 1) + ", found " +
                       std::to_string(item));
    }
    const Shape shape = test->get(item);
    install_interrupt_handler();
    std::vector<SamplingSnapshot> taken;
    train_in_memory(settings, *training, device, [&](int64_t epochs, RunModel& model) {
      if (std::find(snapshots.begin(), snapshots.end(), epochs) == snapshots.end()) return;
      taken.push_back(sampling_snapshot(model, shape, epochs, repeats));
      std::cout << "after " << epochs << " epochs: " << snapshot_text(taken.back()) << '\n';
    });
    write(taken, shape.name);
    return 0;
  }

  // Writes the strip to OUT, histograms and coverage to OUT_curves.
  void write(const std::vector<SamplingSnapshot>& taken, const std::string& name) const {
    output.write_csv(snapshots_csv(taken));
    std::vector<CloudPanel> strip;
    strip.reserve(taken.size());
    for (const SamplingSnapshot& one : taken) {
      strip.push_back({one.points, one.frequency, "after " + std::to_string(one.epochs) + " epochs"});
    }
    const std::vector<CurvePanel> panels = snapshot_panels(taken);
    std::vector<Curve> curves;
    for (const CurvePanel& panel : panels) {
      for (const Curve& curve : panel.curves)
        curves.push_back({panel.axes.title + ", " + curve.name, curve.x, curve.y});
    }
    const AnalysisOutput numbers = output.beside("_curves");
    numbers.write_csv(curves_csv("x", "y", curves));
    output.check_drawn(
        plot_cloud_panels(strip, output.stem(), name + ": how often each point is chosen", "share of samples"));
    numbers.check_drawn(plot_curves(panels, numbers.stem()));
  }
};

}  // namespace

Command add_sampling_command(CLI::App& subcommand) {
  auto command = std::make_shared<SamplingCommand>();
  add_integers(subcommand, "--snapshots", command->snapshots, "epochs after which to look, separated by commas", 0,
               1000000);
  subcommand.add_option("--item", command->item, "cloud of the test split")->check(CLI::Range(0, 1000000000));
  add_integer(subcommand, "--repeats", command->repeats, "times that the head's sampler samples", 1, 100000, "--draws");
  command->add_to(subcommand, "TOML file of the experiment (see tools/configs)", ". Writes OUT and OUT_curves.");
  return [command] { return command->execute(); };
}

}  // namespace geosft
