// SPDX-License-Identifier: Apache-2.0
#include "tools/classify/clouds.h"

#include <numbers>

#include "data/seeds.h"
#include "geometry/augment.h"
#include "geometry/normalize.h"
#include "geometry/rotation.h"

namespace geosft {
namespace {

constexpr double jitter_clip = 5.0;  // in deviations

void keep_rows(Shape& shape, const at::Tensor& rows) {
  shape.points = shape.points.index_select(0, rows);
  if (shape.normals.defined()) shape.normals = shape.normals.index_select(0, rows);
}

void keep_subset(Shape& shape, int64_t points, const at::Generator& generator) {
  const int64_t available = shape.points.size(0);
  if (available > points) keep_rows(shape, random_subset(available, points, generator));
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

// Poses are changed in double precision and rounded once, at the end.
void set_precision(Shape& shape, at::ScalarType type) {
  shape.points = shape.points.to(type);
  if (shape.normals.defined()) shape.normals = shape.normals.to(type);
}

void prepare_normals(Shape& shape, bool wanted) {
  if (!wanted) {
    shape.normals = at::Tensor();
  } else if (!shape.normals.defined()) {
    throw DataError(shape.name, "normals (or --no-normals)", "coordinates alone");
  }
}

}  // namespace

Rotation rotation_of(const std::string& name) {
  if (name == "none") return Rotation::none;
  if (name == "z") return Rotation::z;
  TORCH_CHECK(name == "so3", "rotate must be none, z or so3, not ", name);
  return Rotation::so3;
}

ShapeTransform training_transform(const ClassifySettings& settings) {
  const Rotation rotation = rotation_of(settings.augment.rotate);
  return [clouds = settings.clouds, augment = settings.augment, rotation](Shape shape, at::Generator& generator) {
    prepare_normals(shape, clouds.normals);
    keep_subset(shape, clouds.points, generator);
    set_precision(shape, at::kDouble);
    if (augment.stretch > 0) {
      const StretchedPoints stretched = random_stretch(shape.points, shape.normals, augment.stretch, generator);
      shape.points = stretched.points;
      shape.normals = stretched.normals;
    }
    rotate_shape(shape, rotation, generator);
    shape.points = normalize(shape.points).points;
    shape.points = random_scale(shape.points, augment.scale_low, augment.scale_high, generator);
    if (augment.jitter > 0) {
      shape.points = jitter(shape.points, augment.jitter, jitter_clip * augment.jitter, generator);
    }
    if (augment.drop_tokens > 0) {
      keep_rows(shape, drop_rows(shape.points.size(0), augment.drop_tokens, generator));
    }
    set_precision(shape, at::kFloat);
    return shape;
  };
}

ShapeTransform evaluation_transform(const ClassifySettings& settings, Rotation rotation, uint64_t vote) {
  return [clouds = settings.clouds, rotation, vote](Shape shape, at::Generator& generator) {
    prepare_normals(shape, clouds.normals);
    keep_subset(shape, clouds.points, make_generator(vote));
    set_precision(shape, at::kDouble);
    rotate_shape(shape, rotation, generator);
    shape.points = normalize(shape.points).points;
    set_precision(shape, at::kFloat);
    return shape;
  };
}

}  // namespace geosft
