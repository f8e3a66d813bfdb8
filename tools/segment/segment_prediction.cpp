// SPDX-License-Identifier: Apache-2.0
#include "tools/segment/segment_prediction.h"

#include <algorithm>
#include <array>

#include "data/points/point_dataset.h"
#include "geometry/knn.h"
#include "tools/experiment/arguments.h"
#include "tools/experiment/cloud_transforms.h"
#include "tools/experiment/colour_map.h"

namespace geosft {
namespace {

constexpr std::array<Colour, 8> distinct_colours = {{{0.00, 0.45, 0.70},
                                                     {0.90, 0.62, 0.00},
                                                     {0.00, 0.62, 0.45},
                                                     {0.80, 0.47, 0.65},
                                                     {0.94, 0.89, 0.26},
                                                     {0.34, 0.71, 0.91},
                                                     {0.84, 0.37, 0.00},
                                                     {0.50, 0.50, 0.50}}};

// Returns the index of every part within its class.
std::vector<int64_t> places_of(const PartList& parts) {
  std::vector<int64_t> places;
  for (size_t id = 0; id < parts.size(); ++id) {
    const auto same = [&](const ShapePart& part) { return part.category == parts[id].category; };
    places.push_back(std::count_if(parts.begin(), parts.begin() + static_cast<int64_t>(id), same));
  }
  return places;
}

}  // namespace

int64_t category_of(const SegmentRun& trained, const std::string& name) {
  const std::vector<std::string>& known = trained.class_names;
  const auto found = std::find(known.begin(), known.end(), name);
  if (found != known.end()) return found - known.begin();
  if (name.empty() && trained.model->options.categories == 0) return -1;
  std::string names;
  for (const std::string& one : known) names += " " + one;
  throw UsageError((name.empty() ? "--category is required: the model is told the class of a shape, one of"
                                 : "unknown class '" + name + "' for --category; the model knows") +
                   names);
}

void prepare(const SegmentRun& trained, Shape& shape, std::vector<std::string>& warnings) {
  const bool normals = trained.settings.clouds.normals;
  if (normals) estimate_missing_normals(shape, warnings);
  prepare_normals(shape, normals);
}

Shape read_prepared(const SegmentRun& trained, const std::filesystem::path& file, std::vector<std::string>& warnings,
                    FileShape* content, const FileOptions& of_file) {
  const SegmentSettings& settings = trained.settings;
  PointDatasetOptions options;
  options.points_per_mesh = settings.clouds.points_per_mesh;
  options.seed = settings.seed;
  of_file.apply(options);
  Shape shape = read_shape(file, options, &warnings, content);
  prepare(trained, shape, warnings);
  return shape;
}

at::Tensor part_logits(SegmentRun& trained, const Shape& shape, int64_t category, BlockKind kind,
                       const std::function<void(int64_t, int64_t)>& progress) {
  const int64_t count = shape.points.size(0), total = count * trained.settings.evaluation.votes;
  PackedClouds clouds{shape.points, shape.normals, at::tensor({int64_t{0}, count}, at::kLong), {}};
  if (trained.model->options.categories > 0) clouds.category = at::tensor({category}, at::kLong);
  const auto advance = [&](int64_t done) {
    if (progress) progress(done, total);
  };
  at::Tensor logits = segment_clouds(trained.model, trained.settings, clouds, kind, advance).logits;
  if (category < 0) return logits;
  const at::Tensor mask = part_mask(trained.parts, static_cast<int64_t>(trained.class_names.size()));
  return masked_logits(logits, mask.slice(0, category, category + 1));
}

PartPrediction predict_parts(SegmentRun& trained, const std::filesystem::path& file, const std::string& category,
                             BlockKind kind, const std::function<void(int64_t, int64_t)>& progress,
                             const FileOptions& options) {
  const int64_t label = category_of(trained, category);
  PartPrediction prediction;
  FileShape content;
  const Shape shape = read_prepared(trained, file, prediction.warnings, &content, options);
  prediction.labels = part_logits(trained, shape, label, kind, progress).argmax(1);
  const at::Tensor& vertices = content.mesh.vertices;
  prediction.points = (content.is_mesh() ? file_coordinates(shape) : vertices).to(content.precision);
  if (!content.is_mesh()) return prediction;
  prediction.mesh = {vertices.to(content.precision), content.mesh.faces};
  prediction.vertex_labels =
      labels_of_nearest(shape.points, prediction.labels, shape.offset.defined() ? vertices - shape.offset : vertices);
  return prediction;
}

at::Tensor labels_of_nearest(const at::Tensor& points, const at::Tensor& labels, const at::Tensor& vertices) {
  return labels.index_select(0, std::get<0>(knn(points, vertices.to(points.scalar_type()), 1)).squeeze(1));
}

at::Tensor places_in_class(const at::Tensor& labels, const PartList& parts) {
  return at::tensor(places_of(parts), at::kLong).index_select(0, labels);
}

at::Tensor part_colours(const at::Tensor& labels, const PartList& parts) {
  at::Tensor palette = at::empty({static_cast<int64_t>(parts.size()), 3}, at::kDouble);
  double* channel = palette.mutable_data_ptr<double>();
  for (const int64_t number : places_of(parts)) {
    const auto place = static_cast<size_t>(number);
    const size_t round = place / distinct_colours.size();
    for (const double value : distinct_colours[place % distinct_colours.size()]) {
      *channel++ = value / static_cast<double>(1 + round);
    }
  }
  return palette.index_select(0, labels);
}

}  // namespace geosft
