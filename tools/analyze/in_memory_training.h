// SPDX-License-Identifier: Apache-2.0
// Training a classifier without a RUN folder, for analyses that train several or look in between.
#pragma once

#include <functional>

#include "tools/classify/run_model.h"

namespace geosft {

class PointDataset;

// Trains as the settings say, from their seed, on `device`, where the model stays. `after_epoch` is told the epochs
// done, 0 first. Throws Interrupted when a signal comes.
RunModel train_in_memory(const ClassifySettings& settings, const PointDataset& training, at::Device device,
                         const std::function<void(int64_t, RunModel&)>& after_epoch = {});

}  // namespace geosft
