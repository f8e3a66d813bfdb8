// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tools/classify/run_model.h"

namespace geosft {

struct Prediction {
  std::vector<std::pair<size_t, double>> ranking;  // (class, probability), most probable first
  at::Tensor points;                               // float32 [n, 3], as the model saw them
  at::Tensor importance;                           // [n], scores that the head's sampler gave the points
  std::vector<std::string> remarks;                // what was done to the file beforehand, a sentence each
};

// Class probabilities of one file, the `top` largest; logits are averaged over the votes of the settings. A cloud of
// more points than the settings sample from a mesh is thinned to as many; one without normals for a model that needs
// them gets estimated ones.
Prediction predict(RunModel& trained, const std::filesystem::path& file, int64_t top);

}  // namespace geosft
