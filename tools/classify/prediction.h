// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <utility>
#include <vector>

#include "tools/classify/run_model.h"

namespace geosft {

struct Prediction {
  std::vector<std::pair<size_t, double>> ranking;  // (class, probability), most probable first
  at::Tensor points;                               // float32 [n, 3], as the model saw them
  at::Tensor importance;                           // [n], scores that the head's sampler gave the points
};

// Class probabilities of one file, the `top` largest; logits are averaged over the votes of the settings. A file
// without normals for a model that needs them gets estimated ones.
Prediction predict(RunModel& trained, const std::filesystem::path& file, int64_t top);

}  // namespace geosft
