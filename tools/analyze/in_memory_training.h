// SPDX-License-Identifier: Apache-2.0
// Trains a classifier without a RUN folder, for analyses that train several models or inspect one during training.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/experiment/classification.h"

namespace CLI {
class App;
}

namespace geosft {

class PointDataset;

// Trains according to the settings, including their seed, on `device`, where the model remains. `after_epoch` receives
// the number of finished epochs, starting with 0. Throws Interrupted on a signal.
RunModel train_in_memory(const ClassifySettings& settings, const PointDataset& training, at::Device device,
                         const std::function<void(int64_t, RunModel&)>& after_epoch = {});

// Throws UsageError for an option of a configuration that was given on the command line but has no effect in
// train_in_memory(), which neither validates nor saves.
void refuse_unused(const CLI::App& subcommand);
// Throws UsageError if one of `options` was given on the command line; `reason` explains why it must not be.
void refuse_given(const CLI::App& subcommand, const std::vector<std::string>& options, const std::string& reason);

}  // namespace geosft
