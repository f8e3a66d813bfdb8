// SPDX-License-Identifier: Apache-2.0
// Predicts the class of the shape in a file.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tools/experiment/classification.h"

namespace geosft {

struct Prediction {
  std::vector<std::pair<size_t, double>> ranking;  // (class, probability), most probable first
  at::Tensor points;                               // float32 [n, 3], input of the model
  at::Tensor file_points;                          // the same in the file's coordinates; float64 far from the origin
  at::Tensor importance;                           // [n], scores of the head's sampler
  std::vector<std::string> warnings;               // one sentence per change made to the shape
};

// Returns the `top` largest class probabilities of a file; logits are averaged over the votes of the settings.
// Thread-safe for a shared `trained`. Throws DataError for an invalid file.
Prediction predict(RunModel& trained, const std::filesystem::path& file, int64_t top, const FileOptions& options = {});

}  // namespace geosft
