// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "data/formats/file_shape.h"
#include "data/points/shape.h"
#include "geometry/mesh.h"
#include "tools/experiment/file_options.h"
#include "tools/segment/segmentation.h"

namespace geosft {

// Returns the index of the class, or -1 for an empty name if the model has no class input. Otherwise throws UsageError
// about `--category`, listing all classes.
int64_t category_of(const SegmentRun& trained, const std::string& name);

// Prepares a shape for the model and adds a sentence to `warnings` for each change: missing normals are estimated if
// the model needs them.
void prepare(const SegmentRun& trained, Shape& shape, std::vector<std::string>& warnings);
// Reads a file and prepares it for the model, with a sentence in `warnings` for each change: points are sampled from a
// mesh, and missing normals are estimated if the model needs them.
Shape read_prepared(const SegmentRun& trained, const std::filesystem::path& file, std::vector<std::string>& warnings,
                    FileShape* content = nullptr, const FileOptions& options = {});

// Returns logits [n, parts] of a prepared shape, averaged over the votes; if the class is known (`category` >= 0),
// parts of other classes are masked. `progress` receives the points done and the total, points x votes.
at::Tensor part_logits(SegmentRun& trained, const Shape& shape, int64_t category, BlockKind kind,
                       const std::function<void(int64_t, int64_t)>& progress = {});

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

// Returns int64 [n]: for each label, the index of the part within its class, from 0.
at::Tensor places_in_class(const at::Tensor& labels, const PartList& parts);

// Returns double [n, 3]: the parts of a class have distinct colours (Okabe and Ito's palette, safe for colour-blind
// readers, then darker ones), the same in every file.
at::Tensor part_colours(const at::Tensor& labels, const PartList& parts);

}  // namespace geosft
