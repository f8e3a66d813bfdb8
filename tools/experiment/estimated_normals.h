// SPDX-License-Identifier: Apache-2.0
// Gives the clouds of a dataset normals that are estimated from their points: those that lack normals, all, or a share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/points/point_loader.h"
#include "geometry/normals.h"

namespace geosft {

// Has the clouds of a dataset with estimated normals (geometry/normals.h), in memory: those that come without, or all.
class EstimatedNormals final : public PointDataset {
 public:
  // Estimates the normals of the clouds, one after the other, the points of each in parallel, with progress on stderr;
  // with `all` also of those that have others, which are not used then. Throws Interrupted if a signal arrives
  // meanwhile. `data` names the dataset in the note.
  EstimatedNormals(std::unique_ptr<PointDataset> clouds, const std::string& data, NormalOrientation orientation,
                   bool all);

  int64_t size() const override { return clouds_->size(); }
  Shape get(int64_t index) const override;
  int64_t label(int64_t index) const override { return clouds_->label(index); }
  std::string name(int64_t index) const override { return clouds_->name(index); }
  const std::vector<std::string>& class_names() const override { return clouds_->class_names(); }
  bool has_normals() const override { return true; }
  bool in_memory() const override { return clouds_->in_memory(); }
  std::vector<std::string> warnings() const override { return clouds_->warnings(); }
  // Returns a sentence that says so, and names the first file without normals.
  const std::string& note() const { return note_; }
  // Returns whether no cloud has others.
  bool all() const { return all_; }

 private:
  std::unique_ptr<PointDataset> clouds_;
  std::vector<at::Tensor> normals_;  // by row; undefined where the cloud keeps its own
  bool all_ = false;
  std::string note_;
};

// Returns the dataset if all of its clouds have normals, else one where those that have none get estimated ones.
std::unique_ptr<PointDataset> with_normals(std::unique_ptr<PointDataset> dataset, const std::string& data,
                                           NormalOrientation orientation);

// Returns the dataset with estimated normals for all clouds, as those have that come without any.
std::unique_ptr<PointDataset> with_estimated_normals(std::unique_ptr<PointDataset> dataset, const std::string& data,
                                                     NormalOrientation orientation);

// Returns a transform that gives clouds of the dataset their estimated normals with probability `share`, drawn anew
// each time, and leaves the others as they are. All are estimated before this returns, with progress on stderr.
// Throws c10::Error if two clouds have one name.
ShapeTransform share_of_estimated_normals(const PointDataset& dataset, double share, NormalOrientation orientation);

// Returns the note of a dataset with estimated normals, or of a subset of one; empty for others.
std::string estimation_note(const PointDataset& dataset);
// Returns whether the normals of all clouds are estimated; of a subset, whether those of the whole dataset are.
bool estimates_all_normals(const PointDataset& dataset);

}  // namespace geosft
