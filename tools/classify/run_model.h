// SPDX-License-Identifier: Apache-2.0
// A trained classifier as it lies in a RUN folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/checkpoint.h"
#include "models/point_classifier.h"
#include "tools/classify/settings.h"

namespace geosft {

struct RunModel {
  ClassifySettings settings;
  std::vector<std::string> class_names;
  PointClassifier model{nullptr};
};

// The texts that make a checkpoint usable on its own: kind, configuration, class names, versions.
std::map<std::string, std::string> checkpoint_texts(ClassifySettings settings,
                                                    const std::vector<std::string>& class_names);

// The class names in such a checkpoint. Throws DataError, naming `file`, when it is not one of this tool.
std::vector<std::string> checkpoint_classes(const Checkpoint& checkpoint, const std::filesystem::path& file);

// Loads a RUN folder (its best checkpoint) or a checkpoint file. Throws when it is not one of this tool.
RunModel load_run_model(const std::filesystem::path& run);

}  // namespace geosft
