// SPDX-License-Identifier: Apache-2.0
// Computes the metrics of part segmentation as ShapeNetPart's benchmark defines them.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

namespace geosft {

// Numbers of labelled points per shape and part, int64 [shapes, parts].
struct PartCounts {
  at::Tensor found, there, both;  // predicted; true; both
};

// predicted int64 [N] in [0, parts); truth likewise, or negative for a point without a label, which is not counted;
// shape int64 [N] in [0, shapes): the shape of each point. On any device, without synchronisation.
PartCounts count_parts(const at::Tensor& predicted, const at::Tensor& truth, const at::Tensor& shape, int64_t shapes,
                       int64_t parts);

// Returns the IoU of each part of each shape, both / (found + there - both), float64 [shapes, parts]; 1 for a part that
// is neither predicted nor present, as in PointNet.
at::Tensor part_ious(const PartCounts& counts);

// Returns the mean IoU of each shape, float64 [shapes], over the parts that it may have (allowed, bool [shapes,
// parts]).
at::Tensor shape_ious(const PartCounts& counts, const at::Tensor& allowed);

// Scores of one class; NaN if it has no shapes. A shape without labelled points counts nowhere.
struct ClassPartScores {
  int64_t shapes = 0;
  double iou = 0.0;       // mean over the shapes
  double accuracy = 0.0;  // share of the points
};

// Scores of one part; NaN if its class has no shapes.
struct SinglePartScores {
  double iou = 0.0;       // mean over the shapes of its class; 1 for a shape where it is neither predicted nor present
  double accuracy = 0.0;  // share of its points; NaN if it has none
};

struct PartScores {
  double instance_iou = 0.0;        // mean over all shapes
  double class_iou = 0.0;           // mean over the classes that have shapes
  double accuracy = 0.0;            // share of all points
  double mean_part_accuracy = 0.0;  // mean over the parts that have points
  std::vector<ClassPartScores> classes;
  std::vector<SinglePartScores> parts;
  double instance_iou_error = 0.0;  // standard error of instance_iou over the shapes; NaN for a single one

  // Returns the number of shapes that were scored.
  int64_t shapes() const {
    int64_t sum = 0;
    for (const ClassPartScores& one : classes) sum += one.shapes;
    return sum;
  }
};

class PartMetrics {
 public:
  // mask bool [classes, parts]: the parts that each class has, at least one.
  explicit PartMetrics(const at::Tensor& mask);

  // Adds the counts of shapes with these classes, int64 [shapes]. Shapes without labelled points are left out.
  void add(const PartCounts& counts, const at::Tensor& category);
  // Throws c10::Error when no shape with labelled points has been added.
  PartScores scores() const;

 private:
  at::Tensor mask_;
  at::Tensor shapes_, iou_, points_, right_;        // float64 [classes]: numbers of shapes, sums over them
  at::Tensor part_points_, part_right_, part_iou_;  // float64 [parts], likewise
  double iou_squares_ = 0.0;                        // sum over the shapes
};

}  // namespace geosft
