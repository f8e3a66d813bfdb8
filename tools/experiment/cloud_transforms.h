// SPDX-License-Identifier: Apache-2.0
// Transforms and augmentation of clouds before they enter a model.
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

// Returns "rotated at random" or the like, for messages.
const char* rotation_text(Rotation rotation);

// Selects rows of points, normals, parts and file_normals. keep_subset selects `points` random rows if there are more,
// keep_farthest those of farthest-point sampling, from the point farthest from the centroid on; keep_points does what
// clouds.point_sampling says.
void keep_rows(Shape& shape, const at::Tensor& rows);
void keep_subset(Shape& shape, int64_t points, const at::Generator& generator);
void keep_farthest(Shape& shape, int64_t points);
void keep_points(Shape& shape, const CloudSettings& clouds, const at::Generator& generator);

// Applies a random rotation.
void rotate_shape(Shape& shape, Rotation rotation, const at::Generator& generator);

// Casts coordinates and normals. Poses are changed in double precision and rounded once, at the end.
void set_precision(Shape& shape, at::ScalarType type);

// Turns the shape into a pose of its own (geometry/canonical_pose.h), in double precision.
void turn_into_canonical_pose(Shape& shape);

// Drops the normals unless `with_normals`. Throws DataError if `with_normals` and normals are missing.
void prepare_normals(Shape& shape, bool with_normals);
// Estimates normals of 16 neighbours (geometry/normals.h).
at::Tensor estimated_normals(const Shape& shape, NormalOrientation orientation);
// Estimates normals if the shape, or some of its points, has none, and adds a message to `warnings`. Where others are
// there, the signs follow those.
void estimate_missing_normals(Shape& shape, NormalOrientation orientation, std::vector<std::string>& warnings);
// Adds a warning for a cloud whose form a model that sees so many points can hardly know: it has a small part of so
// many, or point_warnings (geometry/cloud_warnings.h) has something to say.
void warn_of_points(const Shape& shape, int64_t points, std::vector<std::string>& warnings);
// Gives the shape the normals that a model of these settings takes, if any: those it has, with estimated ones where
// they are missing, or estimated ones everywhere if the model was trained on those alone, or with `all`. Adds a message
// to `warnings` if some are estimated, and normal_warnings (geometry/cloud_warnings.h) of the shape's own: normals of
// faces are not checked for a misfit.
void complete_normals(Shape& shape, const CloudSettings& clouds, const AugmentSettings& augment,
                      std::vector<std::string>& warnings, bool all = false);

// Leaves clouds unchanged, except that normals are dropped or required.
ShapeTransform plain_clouds(bool normals);
// Prepares clouds for augmentation: plain_clouds, then farthest-point sampling if the settings ask for it.
ShapeTransform training_clouds(const CloudSettings& clouds);

// Returns the training augmentation on the batch's device, seeded by the batch: selects a random subset of the points,
// stretches, rotates, normalises (centroid, largest distance), scales and jitters it, and drops a share of its points.
BatchTransform augmentation(const CloudSettings& clouds, const AugmentSettings& augment);

// Moves the model inputs of a batch to `device`; ptr and seeds stay on the CPU, see ptr_on_device.
PointBatch on_device(const PointBatch& batch, at::Device device);

// Returns the defined tensors of a batch by name.
std::map<std::string, at::Tensor> batch_tensors(const std::optional<PointBatch>& batch);

}  // namespace geosft
