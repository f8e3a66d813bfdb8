// SPDX-License-Identifier: Apache-2.0
// How well parts of shapes are found, counted as ShapeNetPart's benchmark does.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

namespace geosft {

// Points of every part in every shape of a batch, int64 [shapes, parts].
struct PartCounts {
  at::Tensor found, there, both;  // predicted; true; predicted and true
};

// predicted, truth int64 [N] in [0, parts); shape int64 [N] in [0, shapes): whose points they are. On any device, and
// nothing waits for it.
PartCounts count_parts(const at::Tensor& predicted, const at::Tensor& truth, const at::Tensor& shape, int64_t shapes,
                       int64_t parts);

// float64 [shapes]: the mean over the parts that a shape may have, allowed bool [shapes, parts], of
// both / (found + there - both), where a part that is neither found nor there counts as 1 (as PointNet and its
// successors count it).
at::Tensor shape_ious(const PartCounts& counts, const at::Tensor& allowed);

// Of one class; NaN where it has no shape.
struct ClassPartScores {
  int64_t shapes = 0;
  double iou = 0.0;       // mean over the shapes
  double accuracy = 0.0;  // share of the points
};

struct PartScores {
  double instance_iou = 0.0;        // mean over all shapes
  double class_iou = 0.0;           // mean over the classes that have shapes
  double accuracy = 0.0;            // share of all points
  double mean_part_accuracy = 0.0;  // mean over the parts that have points
  std::vector<ClassPartScores> classes;
};

class PartMetrics {
 public:
  // mask bool [classes, parts]: which parts a class has, at least one.
  explicit PartMetrics(const at::Tensor& mask);

  // Shapes of these classes, int64 [shapes].
  void add(const PartCounts& counts, const at::Tensor& category);
  // Throws c10::Error when no shape has been added.
  PartScores scores() const;

 private:
  at::Tensor mask_;
  at::Tensor shapes_, iou_, points_, right_;  // float64 [classes]: numbers of shapes, sums over them
  at::Tensor part_points_, part_right_;       // float64 [parts]
};

}  // namespace geosft
