// SPDX-License-Identifier: Apache-2.0
// Loads a trained classifier from a RUN folder.
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

// Describes the run for its observer.
RunDescription describe_run(ClassifySettings settings, const std::vector<std::string>& class_names);

// Loads a RUN folder (its best checkpoint) or a checkpoint file. Throws if another tool wrote it.
RunModel load_run_model(const std::filesystem::path& run);
// Makes the model of a checkpoint; `file` names it in messages.
RunModel run_model_of(const Checkpoint& checkpoint, const std::filesystem::path& file);

}  // namespace geosft
