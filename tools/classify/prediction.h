// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "data/points/shape.h"
#include "models/layers/forward_trace.h"
#include "tools/classify/clouds.h"
#include "tools/classify/run_model.h"
#include "tools/experiment/file_options.h"

namespace geosft {

struct Prediction {
  std::vector<std::pair<size_t, double>> ranking;  // (class, probability), most probable first
  at::Tensor points;                               // float32 [n, 3], input of the model
  at::Tensor file_points;                          // the same in the file's coordinates; float64 far from the origin
  at::Tensor importance;                           // [n], scores of the head's sampler
  std::vector<std::string> warnings;               // one sentence per change made to the shape
};

// Prepares a shape for the model and adds a sentence to `warnings` for each change: a cloud with more points than are
// sampled from a mesh is subsampled; missing normals are estimated if the model needs them.
void prepare(const ClassifySettings& settings, Shape& shape, std::vector<std::string>& warnings);
// Reads a file and prepares the shape.
Shape read_prepared(const ClassifySettings& settings, const std::filesystem::path& file,
                    std::vector<std::string>& warnings, const FileOptions& options = {});

// Prediction for one shape, on the CPU; trace and importance are those of the first vote.
struct ShapeExplanation {
  at::Tensor logits;      // [classes], averaged over the votes
  Shape seen;             // input points of the model
  at::Tensor importance;  // [n], scores of the head's sampler
  ForwardTrace trace;
};
// The rotation is sampled with `seed`.
ShapeExplanation explain_shape(RunModel& trained, const Shape& shape, Rotation rotation, uint64_t seed);

// Returns the `top` largest class probabilities of a file; logits are averaged over the votes of the settings.
// Thread-safe for a shared `trained`. Throws DataError for an invalid file.
Prediction predict(RunModel& trained, const std::filesystem::path& file, int64_t top, const FileOptions& options = {});

}  // namespace geosft
