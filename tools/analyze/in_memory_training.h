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

// Trains as the settings say, with their seed, on `device`, where the model remains. `after_epoch` gets the number of
// finished epochs, beginning with 0. Throws Interrupted on a signal.
RunModel train_in_memory(const ClassifySettings& settings, const PointDataset& training, at::Device device,
                         const std::function<void(int64_t, RunModel&)>& after_epoch = {});

// Throws UsageError for an option of a configuration that was given on the command line but has no effect in
// train_in_memory(), which neither validates nor saves.
void refuse_unused(const CLI::App& subcommand);
// The same for the given options; `reason` explains why they must not be given.
void refuse_given(const CLI::App& subcommand, const std::vector<std::string>& options, const std::string& reason);

}  // namespace geosft
