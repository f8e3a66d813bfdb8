// SPDX-License-Identifier: Apache-2.0
// Trains a classifier without a RUN folder, for analyses that train several models or inspect one during training.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/analyze/analysis.h"
#include "tools/experiment/classification.h"

namespace CLI {
class App;
}

namespace geosft {

class PointDataset;

// The options of analyses that train a classifier.
struct TrainingAnalysis {
  std::string config_file;
  ClassifySettings settings;
  Config config = settings.config();
  RuntimeOptions runtime;
  AnalysisOutput output;

  // Also adds the keys of the configuration as options, which the help of the subcommand does not list.
  void add_to(CLI::App& added, const std::string& config_help, const std::string& footer);
  // Throws UsageError if one of `options` was given on the command line; `reason` explains why it must not be.
  void refuse_given(const std::vector<std::string>& options, const std::string& reason) const;
  // Sets the number of threads, loads the settings and returns the device. Throws UsageError for an option that has no
  // effect in train_in_memory(), which neither validates nor saves. `holds_out`: the analysis holds clouds out itself.
  at::Device begin(bool holds_out = false);

 private:
  const CLI::App* subcommand_ = nullptr;
};

// Trains according to the settings, including their seed, on `device`, where the model remains. `after_epoch` receives
// the number of finished epochs, starting with 0. Throws Interrupted on a signal.
RunModel train_in_memory(const ClassifySettings& settings, const PointDataset& training, at::Device device,
                         const std::function<void(int64_t, RunModel&)>& after_epoch = {});

}  // namespace geosft
