// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "data/shape.h"
#include "geometry/mesh.h"
#include "tools/segment/segmentation.h"

namespace geosft {

// The class of that name, or -1 for an empty one, which a model that is told the class refuses. Throws UsageError with
// all classes, of `--category`.
int64_t category_of(const SegmentRun& trained, const std::string& name);

// A shape as the model may see it, with a sentence in `warnings` for what was done to it: normals estimated where the
// model needs them and there are none.
void prepare(const SegmentRun& trained, Shape& shape, std::vector<std::string>& warnings);
// A file as the model may see it, with a sentence in `warnings` for what was done to it: points sampled from a mesh,
// which is left in `mesh`, and normals estimated where the model needs them and there are none.
Shape read_prepared(const SegmentRun& trained, const std::filesystem::path& file, std::vector<std::string>& warnings,
                    Mesh* mesh = nullptr);

// What the model makes of every point of a prepared shape: logits [n, parts], averaged over the votes; of a known class
// (`category` >= 0) those of parts of other classes made impossible. `progress` is told points done of points x votes.
at::Tensor part_logits(SegmentRun& trained, const Shape& shape, int64_t category, BlockKind kind,
                       const std::function<void(int64_t, int64_t)>& progress = {});

struct PartPrediction {
  at::Tensor points;                  // float32 [n, 3], as they lie in the file; of a mesh, points sampled from it
  at::Tensor labels;                  // int64 [n], in that order
  Mesh mesh;                          // as it lies in the file; undefined tensors where that is a cloud
  at::Tensor vertex_labels;           // int64 [V] of its vertices: the part of the nearest of the points
  std::vector<std::string> warnings;  // what was done to the file beforehand, a sentence each
};

// The part of every point of a file. `category` names the class of the shape; empty: not known, then any part of any
// class may be found. Throws UsageError for a class that the model does not know, or where it must be told one;
// DataError for a broken file. `progress` is told points done of points x votes.
PartPrediction predict_parts(SegmentRun& trained, const std::filesystem::path& file, const std::string& category,
                             BlockKind kind, const std::function<void(int64_t, int64_t)>& progress = {});

// int64 [V]: for each of `vertices` [V, 3] the label of the nearest of `points` float32 [n, 3].
at::Tensor labels_of_nearest(const at::Tensor& points, const at::Tensor& labels, const at::Tensor& vertices);

// int64 [n] of labels: the place of each part among those of its class, from 0.
at::Tensor places_in_class(const at::Tensor& labels, const PartList& parts);

// double [n, 3] of labels: the parts of a class look different from each other (Okabe and Ito's colours, which
// colour-blind people can tell apart, then darker ones), and the same in every file.
at::Tensor part_colours(const at::Tensor& labels, const PartList& parts);

}  // namespace geosft
