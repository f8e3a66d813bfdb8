// SPDX-License-Identifier: Apache-2.0
#include "tools/classify/clouds.h"

#include "data/seeds.h"
#include "geometry/normalize.h"

namespace geosft {

ShapeTransform evaluation_transform(const ClassifySettings& settings, Rotation rotation, uint64_t vote) {
  return [clouds = settings.clouds, rotation, vote](Shape shape, at::Generator& generator) {
    prepare_normals(shape, clouds.normals);
    keep_subset(shape, clouds.points, make_generator(vote));
    set_precision(shape, at::kDouble);
    const at::Tensor middle = shape.points.mean(0);
    rotate_shape(shape, rotation, generator);
    const NormalizedPoints normalized = normalize(shape.points);
    shape.points = normalized.points;
    const double scale = normalized.scale[0].item<double>();
    shape.offset = shape.offset.defined() ? shape.offset + middle : middle;
    shape.scale = scale > 0 ? scale : 1.0;
    set_precision(shape, at::kFloat);
    return shape;
  };
}

}  // namespace geosft
