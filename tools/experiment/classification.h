// SPDX-License-Identifier: Apache-2.0
// Classification of clouds: trained classifiers, the datasets and files that they see, and what they make of a shape.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "data/points/shape.h"
#include "models/layers/forward_trace.h"
#include "tools/experiment/classify_settings.h"
#include "tools/experiment/cloud_transforms.h"
#include "tools/experiment/input_files.h"
#include "tools/experiment/shape_kernel.h"
#include "tools/experiment/trained_run.h"

namespace geosft {

// See TrainedRun.
struct Classification : TaskTypes<ClassifySettings, ClassNames, PointClassifier, ShapeKernel> {
  static constexpr const char* program = "geosft-classify";
  static Model make_model(const Settings& settings, const Outputs& outputs) {
    return Model(settings.classifier(static_cast<int64_t>(outputs.class_names.size())));
  }
  static ScoreStyle score(const Settings&, const Outputs&) { return {}; }
};

using RunModel = TrainedRun<Classification>;

// Loads a RUN folder (its best checkpoint), a checkpoint file or a pretrained model by its name (zoo.h). Throws
// DataError if another tool wrote it or there is no such file, and UsageError for a folder that holds no run.
inline RunModel load_run_model(const std::filesystem::path& run) {
  return load_trained_run<Classification>(run);
}

// Opens a split of the dataset in the settings; shows progress on stderr while meshes are sampled, and prints each
// warning of the dataset to stderr_notes.
std::unique_ptr<PointDataset> open_dataset(const ClassifySettings& settings, Split split);
// Calls open(), and adds to the error of broken files how they are left out.
void with_broken_hint(const std::function<void()>& open);

// Shows a vote's view of a cloud. Rotates the whole cloud with the generator and normalises it; offset and scale of the
// shape lead back to the file's coordinates, where the cloud is turned about its centroid. The subset of points depends
// on the seed `vote` only, so that a cloud and its rotated copy keep the same points.
ShapeTransform evaluation_transform(const ClassifySettings& settings, Rotation rotation, uint64_t vote);
// Returns the same view as input of the model: unless its tokens are absolute, in a pose of its own
// (geometry/canonical_pose.h), so that the rounding of the coordinates, which decides near-ties, is that of any rotated
// copy.
ShapeTransform model_input_transform(const ClassifySettings& settings, Rotation rotation, uint64_t vote);

// Prepares a shape for the model and adds a sentence to `warnings` for each change: a cloud with more points than are
// sampled from a mesh is subsampled; missing normals are estimated if the model needs them, and all of them with
// `estimated_normals`. Normals that are not finite
// are missing; others get unit length, and are the file_normals of the shape. Throws DataError for a shape without
// points, of another type than [n, 3] in float32 or float64, with coordinates that are not finite, or with normals of
// another length than the points.
void prepare(const ClassifySettings& settings, Shape& shape, std::vector<std::string>& warnings,
             bool estimated_normals = false);
// Reads a file and prepares the shape.
Shape read_prepared(const ClassifySettings& settings, const std::filesystem::path& file,
                    std::vector<std::string>& warnings, const FileOptions& options = {});

// Prediction for one shape, on the CPU; trace and importance are those of the first vote.
struct ShapeExplanation {
  at::Tensor logits;  // [classes], averaged over the votes, then with the kernel regression of the run if it has one
  Shape seen;         // input points of the model
  at::Tensor importance;  // [n], scores of the head's sampler
  ForwardTrace trace;
};
// Explains a shape that is prepared (see prepare), from a file or from memory (tools/experiment/input_cloud.h); predict
// (tools/classify/prediction.h) does that. The rotation is sampled with `seed`. Gradients are not recorded. Thread-safe
// for a shared `trained`. Throws DataError as prepare does, for normals that are not finite, and without normals that
// the model needs.
ShapeExplanation explain_shape(RunModel& trained, const Shape& shape, Rotation rotation, uint64_t seed);

}  // namespace geosft
