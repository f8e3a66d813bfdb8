// SPDX-License-Identifier: Apache-2.0
#include "tools/analyze/traced_run.h"

#include <CLI/CLI.hpp>

#include "tools/analyze/analysis.h"
#include "tools/experiment/classification.h"
#include "tools/experiment/cloud_transforms.h"
#include "tools/experiment/main_guard.h"

namespace geosft {

void TracedRun::add_to(CLI::App& subcommand) {
  subcommand
      .add_option("RUN", run, "RUN folder of geosft-classify, a checkpoint file, or the name of a pretrained model")
      ->required();
  add_integer(subcommand, "--items", items, "clouds of the test split to average over", 1, 1000000);
  overrides.add_to(subcommand, "dataset: furniture, or a folder (default: the one trained on)", "of the samples",
                   /*votes=*/false);
}

void TracedRun::look(const std::function<void(const ShapeExplanation&)>& told) const {
  look_at_classes([&](const ShapeExplanation& found, const std::string&) { told(found); });
}

void TracedRun::look_at_classes(const std::function<void(const ShapeExplanation&, const std::string&)>& told) const {
  const at::Device device = overrides.apply_runtime();
  RunModel trained = load_run_model(run);
  trained.model->to(device);
  overrides.apply(trained.settings.data, trained.settings.seed, trained.settings.evaluation);
  overrides.require_recorded(trained.settings.data, run);
  trained.settings.evaluation.votes = 1;  // a single sample is traced
  const auto dataset = open_dataset(trained.settings, Split::test);
  const int64_t count = std::min(items, dataset->size());
  install_interrupt_handler();
  for (int64_t i = 0; i < count; ++i) {
    throw_if_interrupted("before anything was written");
    const int64_t item = i * dataset->size() / count;
    Shape shape = dataset->get(item);
    std::vector<std::string> unsaid;
    complete_normals(shape, trained.settings.clouds, trained.settings.augment, unsaid);
    told(explain_shape(trained, shape, Rotation::none, trained.settings.seed),
         dataset->class_names()[static_cast<size_t>(dataset->label(item))]);
  }
}

}  // namespace geosft
