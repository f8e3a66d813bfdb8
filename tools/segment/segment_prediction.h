// SPDX-License-Identifier: Apache-2.0
// Predicts the parts of the shape in a file.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "geometry/mesh.h"
#include "tools/experiment/segmentation.h"

namespace geosft {

struct PartPrediction {
  // [n, 3], in the order of the file or sampled from its mesh, in the coordinates and the precision of the file.
  at::Tensor points;
  at::Tensor labels;                  // int64 [n]
  Mesh mesh;                          // from the file, likewise; undefined tensors if it is a cloud
  at::Tensor vertex_labels;           // int64 [V]: for each mesh vertex, the part of the nearest point
  std::vector<std::string> warnings;  // one sentence per change made to the shape
};

// Predicts the part of every point of a file. `category` names the class of the shape; empty: unknown, parts of any
// class are possible. Throws UsageError for an unknown class or a missing one that the model needs; DataError for an
// invalid file. `progress` receives the points done and the total, points x votes.
PartPrediction predict_parts(SegmentRun& trained, const std::filesystem::path& file, const std::string& category,
                             BlockKind kind, const std::function<void(int64_t, int64_t)>& progress = {},
                             const FileOptions& options = {});

// Returns int64 [V]: for each of `vertices` [V, 3], the label of the nearest of `points` [n, 3].
at::Tensor labels_of_nearest(const at::Tensor& points, const at::Tensor& labels, const at::Tensor& vertices);

}  // namespace geosft
