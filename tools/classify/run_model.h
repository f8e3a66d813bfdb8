// SPDX-License-Identifier: Apache-2.0
// A trained classifier as it lies in a RUN folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "models/point_classifier.h"
#include "tools/classify/settings.h"
#include "tools/experiment/run_observer.h"

namespace geosft {

struct RunModel {
  ClassifySettings settings;
  std::vector<std::string> class_names;
  PointClassifier model{nullptr};
};

// What the observer of a run needs to know of it.
RunDescription describe_run(ClassifySettings settings, const std::vector<std::string>& class_names);

// Loads a RUN folder (its best checkpoint) or a checkpoint file. Throws when it is not one of this tool.
RunModel load_run_model(const std::filesystem::path& run);

}  // namespace geosft
