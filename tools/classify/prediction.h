// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "data/shape.h"
#include "models/layers/forward_trace.h"
#include "tools/classify/clouds.h"
#include "tools/classify/run_model.h"

namespace geosft {

struct Prediction {
  std::vector<std::pair<size_t, double>> ranking;  // (class, probability), most probable first
  at::Tensor points;                               // float32 [n, 3], as the model saw them
  at::Tensor importance;                           // [n], scores that the head's sampler gave the points
  std::vector<std::string> warnings;               // what was done to the file beforehand, a sentence each
};

// A shape as the model may see it, with a sentence in `warnings` for what was done to it: a cloud of more points than
// the settings sample from a mesh is thinned to as many; one without normals for a model that needs them gets estimated
// ones.
void prepare(const ClassifySettings& settings, Shape& shape, std::vector<std::string>& warnings);
// A file, prepared.
Shape read_prepared(const ClassifySettings& settings, const std::filesystem::path& file,
                    std::vector<std::string>& warnings);

// What a model makes of one shape, on the CPU wherever the model is; trace and importance are those of the first vote.
struct ShapeExplanation {
  at::Tensor logits;      // [classes], averaged over the votes of the settings
  Shape seen;             // the points that the model saw
  at::Tensor importance;  // [n], scores that the head's sampler gave them
  ForwardTrace trace;
};
// The rotation is drawn by `seed`.
ShapeExplanation explain_shape(RunModel& trained, const Shape& shape, Rotation rotation, uint64_t seed);

// Class probabilities of one file, the `top` largest; logits are averaged over the votes of the settings. Several
// threads may share `trained`. Throws DataError for a broken file.
Prediction predict(RunModel& trained, const std::filesystem::path& file, int64_t top);

}  // namespace geosft
