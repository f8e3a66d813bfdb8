// SPDX-License-Identifier: Apache-2.0
// Predicts the parts of the shape in a file, of a cloud in memory, or of one in a dataset.
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
  at::Tensor labels;         // int64 [n]
  Mesh mesh;                 // from the file, likewise; undefined tensors if it is a cloud
  at::Tensor vertex_labels;  // int64 [V]: for each mesh vertex, the part of the nearest point
  // float32, unit length (0: missing): the normals that were given, of the vertices of a mesh, else of the points;
  // undefined if there are none, and for meshes of formats whose normals are not read, such as OFF and glTF.
  at::Tensor normals;
  std::vector<std::string> warnings;  // one sentence per change made to the shape
};

// Predicts the part of every point of a file. `category` names the class of the shape; empty: unknown, parts of any
// class are possible. Throws UsageError for an unknown class or a missing one that the model needs; DataError for an
// invalid file. `progress` receives the points done and the total, points x votes.
PartPrediction predict_parts(SegmentRun& trained, const std::filesystem::path& file, const std::string& category,
                             BlockKind kind, const std::function<void(int64_t, int64_t)>& progress = {},
                             const FileOptions& options = {});

// Returns the same for a cloud in memory: points float32 or float64 [n, 3], n >= 1, in any unit, and normals of the
// same shape, on any device. Undefined normals are estimated if the model needs them. Given ones are scaled to unit
// length; those that are not finite, or 0, are estimated. `points` of the prediction are a copy, on the CPU; it
// has no mesh. Gradients are not recorded. Thread-safe for a shared `trained`. Throws UsageError as above, and
// c10::Error naming the argument: for other dtypes, for shapes that are not [n, 3], for a cloud without points, for
// normals of another length than the points, and for coordinates that are not finite
// (points.index({points.isfinite().all(1)}) has the others).
PartPrediction predict_parts(SegmentRun& trained, const at::Tensor& points, const at::Tensor& normals,
                             const std::string& category, BlockKind kind = BlockKind::spread,
                             const std::function<void(int64_t, int64_t)>& progress = {});

// Returns the same for a cloud of a dataset: its class, shape.label, is one of the run's. Normals that the model needs
// are estimated where they are missing, and with `estimated_normals` everywhere. The warnings of the shape are among
// those of the prediction. Throws DataError for a shape that is no cloud, see prepare().
PartPrediction predict_parts(SegmentRun& trained, Shape shape, BlockKind kind,
                             const std::function<void(int64_t, int64_t)>& progress = {},
                             bool estimated_normals = false);

// Returns int64 [V]: for each of `vertices` [V, 3], the label of the nearest of `points` [n, 3], n >= 1, whose `labels`
// are int64 [n]. Throws c10::Error naming the argument for other shapes.
at::Tensor labels_of_nearest(const at::Tensor& points, const at::Tensor& labels, const at::Tensor& vertices);

}  // namespace geosft
