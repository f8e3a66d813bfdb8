// SPDX-License-Identifier: Apache-2.0
// Training a classifier without a RUN folder, for analyses that train several or look in between.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/classify/run_model.h"

namespace CLI {
class App;
}

namespace geosft {

class PointDataset;

// Trains as the settings say, from their seed, on `device`, where the model stays. `after_epoch` is told the epochs
// done, 0 first. Throws Interrupted when a signal comes.
RunModel train_in_memory(const ClassifySettings& settings, const PointDataset& training, at::Device device,
                         const std::function<void(int64_t, RunModel&)>& after_epoch = {});

// Throws UsageError for an option of a configuration that was given on the command line and means nothing to
// train_in_memory(), which neither validates nor saves.
void refuse_unused(const CLI::App& subcommand);
// The same for these options, which `reason` says why not to give.
void refuse_given(const CLI::App& subcommand, const std::vector<std::string>& options, const std::string& reason);

}  // namespace geosft
