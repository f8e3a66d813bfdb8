// SPDX-License-Identifier: Apache-2.0
// What becomes of clouds before a model sees them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "data/points/point_loader.h"
#include "geometry/augment_options.h"
#include "tools/experiment/cloud_settings.h"

namespace geosft {

Rotation rotation_of(const std::string& name);  // "none", "z" or "so3"
const char* rotation_name(Rotation rotation);   // the same back
const char* rotation_text(Rotation rotation);   // "rotated at random", for people

// Rows of points, normals and parts; a random subset of so many where there are more.
void keep_rows(Shape& shape, const at::Tensor& rows);
void keep_subset(Shape& shape, int64_t points, const at::Generator& generator);

// By a rotation drawn from the generator.
void rotate_shape(Shape& shape, Rotation rotation, const at::Generator& generator);

// Coordinates and normals in another precision. Poses are changed in double precision and rounded once, at the end.
void set_precision(Shape& shape, at::ScalarType type);

// Throws DataError unless every cloud has normals; `data` names the set, and the file that has none is named with it.
void require_normals(const PointDataset& dataset, const std::string& data);
// Leaves the normals out, or throws DataError where wanted ones are missing.
void prepare_normals(Shape& shape, bool wanted);
// Estimated normals where there are none, with a sentence in `warnings`.
void estimate_missing_normals(Shape& shape, std::vector<std::string>& warnings);

// Clouds as they are, but for their normals, which are left out or demanded.
ShapeTransform plain_clouds(bool normals);

// Training, from the seeds of a batch, on the device where it is: a random subset of the points, stretched and rotated
// by option, normalised (centroid, largest distance), scaled, jittered, with a share of its points dropped.
BatchTransform augmentation(const CloudSettings& clouds, const AugmentSettings& augment);

// The same batch with what a model computes from on `device`; ptr and seeds stay on the CPU, see ptr_on_device.
PointBatch on_device(const PointBatch& batch, at::Device device);

// What there is of a batch, by name.
std::map<std::string, at::Tensor> batch_tensors(const std::optional<PointBatch>& batch);

}  // namespace geosft
