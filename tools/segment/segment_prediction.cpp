// SPDX-License-Identifier: Apache-2.0
#include "tools/segment/segment_prediction.h"

#include "geometry/knn.h"
#include "tools/experiment/input_cloud.h"

namespace geosft {

PartPrediction predict_parts(SegmentRun& trained, const std::filesystem::path& file, const std::string& category,
                             BlockKind kind, const std::function<void(int64_t, int64_t)>& progress,
                             const FileOptions& options) {
  const int64_t label = category_of(trained, category);
  PartPrediction prediction;
  FileShape content;
  const Shape shape = read_prepared(trained, file, prediction.warnings, &content, options);
  prediction.labels = part_logits(trained, shape, label, kind, progress).argmax(1);
  prediction.normals = content.normals;
  const at::Tensor& vertices = content.mesh.vertices;
  prediction.points = (content.is_mesh() ? file_coordinates(shape) : vertices).to(content.precision);
  if (!content.is_mesh()) return prediction;
  prediction.mesh = {vertices.to(content.precision), content.mesh.faces};
  prediction.vertex_labels =
      labels_of_nearest(shape.points, prediction.labels, shape.offset.defined() ? vertices - shape.offset : vertices);
  return prediction;
}

PartPrediction predict_parts(SegmentRun& trained, const at::Tensor& points, const at::Tensor& normals,
                             const std::string& category, BlockKind kind,
                             const std::function<void(int64_t, int64_t)>& progress) {
  const int64_t label = category_of(trained, category);
  PartPrediction prediction;
  Shape shape = input_cloud(points, normals, prediction.warnings);
  prediction.normals = shape.normals;
  prepare(trained, shape, prediction.warnings);
  prediction.labels = part_logits(trained, shape, label, kind, progress).argmax(1);
  prediction.points = points.detach().cpu().clone();  // the caller may free its memory
  return prediction;
}

PartPrediction predict_parts(SegmentRun& trained, Shape shape, BlockKind kind,
                             const std::function<void(int64_t, int64_t)>& progress, bool estimated_normals) {
  PartPrediction prediction;
  for (const std::string& warning : shape.warnings) prediction.warnings.push_back(cloud_name(shape) + ": " + warning);
  prediction.normals = shape.normals;
  prepare(trained, shape, prediction.warnings, estimated_normals);
  prediction.labels = part_logits(trained, shape, shape.label, kind, progress).argmax(1);
  prediction.points = file_coordinates(shape);
  return prediction;
}

at::Tensor labels_of_nearest(const at::Tensor& points, const at::Tensor& labels, const at::Tensor& vertices) {
  TORCH_CHECK(points.dim() == 2 && points.size(0) > 0, "points must have shape [n, 3] with n >= 1, got ",
              points.sizes());
  TORCH_CHECK(labels.dim() == 1 && labels.size(0) == points.size(0), "labels must have shape [", points.size(0),
              "], one for each point, got ", labels.sizes());
  // float64 holds the squared distances of all coordinates of float32.
  return labels.index_select(0, std::get<0>(knn(points.to(at::kDouble), vertices.to(at::kDouble), 1)).squeeze(1));
}

}  // namespace geosft
