// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/cloud_transforms.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "geometry/augment.h"
#include "geometry/canonical_pose.h"
#include "geometry/cloud_warnings.h"
#include "geometry/farthest_point_sampling.h"
#include "geometry/normals.h"
#include "geometry/rotation.h"
#include "models/training/host_copy.h"
#include "tools/experiment/input_cloud.h"

namespace geosft {
namespace {

constexpr double jitter_clip = 5.0;  // in standard deviations

// Adds texts about a shape to `warnings`.
void add_warnings(const Shape& shape, const std::vector<std::string>& texts, std::vector<std::string>& warnings) {
  for (const std::string& text : texts) warnings.push_back(cloud_name(shape) + ": " + text);
}

}  // namespace

const char* rotation_text(Rotation rotation) {
  return rotation == Rotation::none ? "upright" : (rotation == Rotation::z ? "rotated about z" : "rotated at random");
}

void keep_rows(Shape& shape, const at::Tensor& rows) {
  for (at::Tensor* part : {&shape.points, &shape.normals, &shape.parts, &shape.file_normals}) {
    if (part->defined()) *part = part->index_select(0, rows);
  }
}

void keep_subset(Shape& shape, int64_t points, const at::Generator& generator) {
  const int64_t available = shape.points.size(0);
  if (available > points) keep_rows(shape, random_subset(available, points, generator));
}

void keep_farthest(Shape& shape, int64_t points) {
  if (shape.points.size(0) <= points) return;
  const at::Tensor exact = shape.points.to(at::kDouble);  // fewer near-ties, see encode_points
  const int64_t start = (exact - exact.mean(0)).square().sum(1).argmax().item<int64_t>();
  keep_rows(shape, farthest_point_sampling(exact, points, std::nullopt, start));
}

void keep_points(Shape& shape, const CloudSettings& clouds, const at::Generator& generator) {
  if (clouds.point_sampling == PointSampling::fps) {
    keep_farthest(shape, clouds.points);
  } else {
    keep_subset(shape, clouds.points, generator);
  }
}

void rotate_shape(Shape& shape, Rotation rotation, const at::Generator& generator) {
  if (rotation == Rotation::none) return;
  at::Tensor matrix;
  if (rotation == Rotation::z) {
    at::Generator source = generator;
    const double angle = at::rand({}, source, at::TensorOptions().dtype(at::kDouble)).item<double>();
    matrix = axis_rotation({0, 0, 1}, 2 * std::numbers::pi * angle, at::kDouble);
  } else {
    matrix = random_rotation(generator, at::kDouble);
  }
  shape.points = rotate(shape.points, matrix);
  if (shape.normals.defined()) shape.normals = rotate(shape.normals, matrix);
}

void set_precision(Shape& shape, at::ScalarType type) {
  shape.points = shape.points.to(type);
  if (shape.normals.defined()) shape.normals = shape.normals.to(type);
}

void turn_into_canonical_pose(Shape& shape) {
  const PosedClouds posed = canonical_pose(shape.points, shape.normals);
  shape.points = posed.points;
  shape.normals = posed.normals;
}

void prepare_normals(Shape& shape, bool with_normals) {
  if (!with_normals) {
    shape.normals = at::Tensor();
  } else if (!shape.normals.defined()) {
    const bool of_file = !shape.name.empty();
    throw DataError(cloud_name(shape), of_file ? "normals (or --no-normals)" : "normals, which prepare() estimates",
                    "coordinates alone");
  }
}

at::Tensor estimated_normals(const Shape& shape, NormalOrientation orientation) {
  constexpr int64_t neighbours = 16;
  return estimate_normals(shape.points, neighbours, {}, orientation);
}

void estimate_missing_normals(Shape& shape, NormalOrientation orientation, std::vector<std::string>& warnings) {
  if (shape.normals.defined() && shape.normals.any().item<bool>()) {
    const int64_t filled = fill_missing_normals(shape);
    if (filled > 0) warnings.push_back(cloud_name(shape) + ": " + missing_normals_text(shape, filled));
    return;
  }
  shape.normals = estimated_normals(shape, orientation);
  warnings.push_back(cloud_name(shape) + ": it has no normals: they are estimated");
}

void warn_of_points(const Shape& shape, int64_t points, std::vector<std::string>& warnings) {
  constexpr int64_t few = 16;
  const int64_t available = shape.points.size(0);
  if (available * few < points) {
    warnings.push_back(cloud_name(shape) + ": " + std::to_string(available) + (available == 1 ? " point" : " points") +
                       " only, where the model sees " + std::to_string(points) + " of each shape");
  } else {
    add_warnings(shape, point_warnings(shape.points), warnings);
  }
}

void complete_normals(Shape& shape, const CloudSettings& clouds, const AugmentSettings& augment,
                      std::vector<std::string>& warnings, bool all) {
  if (!clouds.normals) return;
  const bool alone = augment.only_estimated_normals();
  if (!(alone || all) || !shape.normals.defined()) {
    if (shape.normals.defined()) {
      add_warnings(shape, normal_warnings(shape.points, shape.normals, /*check_misfit=*/!shape.from_mesh), warnings);
    }
    estimate_missing_normals(shape, clouds.normal_orientation, warnings);
    return;
  }
  shape.normals = estimated_normals(shape, clouds.normal_orientation);
  if (!alone) {
    warnings.push_back(cloud_name(shape) + ": its own normals are not used, but estimated ones");
    return;
  }
  warnings.push_back(cloud_name(shape) +
                     ": the model was trained on estimated normals alone: they are estimated here, too");
}

ShapeTransform plain_clouds(bool normals) {
  return [normals](Shape shape, at::Generator&) {
    prepare_normals(shape, normals);
    return shape;
  };
}

ShapeTransform training_clouds(const CloudSettings& clouds) {
  if (clouds.point_sampling == PointSampling::random) return plain_clouds(clouds.normals);
  return [clouds](Shape shape, at::Generator&) {
    prepare_normals(shape, clouds.normals);
    keep_farthest(shape, clouds.points);
    return shape;
  };
}

BatchTransform augmentation(const CloudSettings& clouds, const AugmentSettings& augment) {
  const AugmentOptions options{clouds.points,
                               augment.stretch,
                               augment.rotate,
                               augment.scale_low,
                               augment.scale_high,
                               augment.jitter,
                               jitter_clip * augment.jitter,
                               augment.drop_token_rate};
  return [options](PointBatch batch) {
    const AugmentedClouds changed = augment_clouds(batch.points, batch.normals, batch.ptr, batch.seeds, options);
    batch.points = changed.points;
    batch.normals = changed.normals;
    batch.ptr = changed.ptr;
    if (batch.parts.defined()) batch.parts = batch.parts.index_select(0, changed.rows);
    return batch;
  };
}

PointBatch on_device(const PointBatch& batch, at::Device device) {
  return {overlapping_copy(batch.points, device),
          overlapping_copy(batch.normals, device),
          batch.ptr,
          overlapping_copy(batch.labels, device),
          batch.index,
          overlapping_copy(batch.parts, device),
          batch.place,
          batch.seeds,
          batch.unlabelled};
}

std::map<std::string, at::Tensor> batch_tensors(const std::optional<PointBatch>& batch) {
  if (!batch) return {};
  std::map<std::string, at::Tensor> tensors = {{"points", batch->points}, {"normals", batch->normals},
                                               {"ptr", batch->ptr},       {"labels", batch->labels},
                                               {"index", batch->index},   {"parts", batch->parts}};
  std::erase_if(tensors, [](const auto& entry) { return !entry.second.defined(); });
  return tensors;
}

}  // namespace geosft
