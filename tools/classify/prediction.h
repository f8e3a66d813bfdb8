// SPDX-License-Identifier: Apache-2.0
// Predicts the class of the shape in a file, or of a cloud in memory.
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
  // float32 [n, 3], of the file (0: missing), those of the faces for a mesh; undefined: it has none.
  at::Tensor file_normals;
  at::Tensor importance;              // [n], scores of the head's sampler
  std::vector<std::string> warnings;  // one sentence per change made to the shape
};

// Returns the `top` largest class probabilities of a file; logits are averaged over the votes of the settings.
// Thread-safe for a shared `trained`. Throws DataError for an invalid file, and c10::Error for top < 1.
Prediction predict(RunModel& trained, const std::filesystem::path& file, int64_t top, const FileOptions& options = {});

// Returns the same for a cloud in memory: points float32 or float64 [n, 3], n >= 1, in any unit, and normals of the
// same shape, on any device. Undefined normals are estimated if the model needs them. Given ones must point outward, as
// those of the faces of a mesh do, and as estimate_normals(…, NormalOrientation::outward) returns them: others, such as
// those that point to the sensor, are worse than none. They are scaled to unit length; those that are not finite, or 0,
// are estimated. All tensors of the prediction are on the CPU; `file_points`
// are in the coordinates of `points`. Gradients are not recorded, and the model need not be set to eval(): a loaded one
// is. Thread-safe for a shared `trained`. The time is proportional to trained.settings.evaluation.votes.
// Throws c10::Error naming the argument: for other dtypes, for shapes that are not [n, 3], for a cloud without points,
// for normals of another length than the points, for top < 1, and for coordinates that are not finite
// (points.index({points.isfinite().all(1)}) has the others).
Prediction predict(RunModel& trained, const at::Tensor& points, const at::Tensor& normals = {}, int64_t top = 1);

}  // namespace geosft
