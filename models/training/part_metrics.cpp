// SPDX-License-Identifier: Apache-2.0
#include "models/training/part_metrics.h"

#include <algorithm>
#include <cmath>

namespace geosft {
namespace {

at::Tensor counted(const at::Tensor& cells, const at::Tensor& weights, int64_t shapes, int64_t parts) {
  return at::zeros({shapes * parts}, weights.options()).scatter_add_(0, cells, weights).view({shapes, parts});
}

// Returns the mean over the allowed parts of each shape.
at::Tensor mean_of_allowed(const at::Tensor& ious, const at::Tensor& allowed) {
  return (ious * allowed).sum(1) / allowed.sum(1);
}

// Returns the mean of the fractions part / whole over non-zero wholes.
double mean_share(const at::Tensor& part, const at::Tensor& whole) {
  return (part / whole).masked_select(whole > 0).mean().item<double>();
}

}  // namespace

PartCounts count_parts(const at::Tensor& predicted, const at::Tensor& truth, const at::Tensor& shape, int64_t shapes,
                       int64_t parts) {
  TORCH_CHECK(predicted.dim() == 1 && predicted.sizes() == truth.sizes() && predicted.sizes() == shape.sizes(),
              "predicted, truth and shape must be of one size [N], got ", predicted.sizes(), ", ", truth.sizes(),
              " and ", shape.sizes());
  const at::Tensor labelled = (truth >= 0).to(at::kLong), true_cells = shape * parts + truth.clamp_min(0);
  return {counted(shape * parts + predicted, labelled, shapes, parts), counted(true_cells, labelled, shapes, parts),
          counted(true_cells, (predicted == truth).to(at::kLong), shapes, parts)};
}

at::Tensor part_ious(const PartCounts& counts) {
  const at::Tensor either = counts.found + counts.there - counts.both;
  return at::where(either == 0, 1.0, counts.both.to(at::kDouble) / either.clamp_min(1));
}

at::Tensor shape_ious(const PartCounts& counts, const at::Tensor& allowed) {
  TORCH_CHECK(allowed.scalar_type() == at::kBool && allowed.sizes() == counts.both.sizes(), "allowed must be bool ",
              counts.both.sizes(), ", got ", allowed.scalar_type(), " ", allowed.sizes());
  return mean_of_allowed(part_ious(counts), allowed);
}

PartMetrics::PartMetrics(const at::Tensor& mask) : mask_(mask) {
  TORCH_CHECK(mask.dim() == 2 && mask.scalar_type() == at::kBool, "mask must be bool [classes, parts], got ",
              mask.scalar_type(), " ", mask.sizes());
  TORCH_CHECK(mask.any(1).all().item<bool>(), "mask: every class must have a part");
  for (at::Tensor* sums : {&shapes_, &iou_, &points_, &right_}) *sums = at::zeros({mask.size(0)}, at::kDouble);
  for (at::Tensor* sums : {&part_points_, &part_right_, &part_iou_}) *sums = at::zeros({mask.size(1)}, at::kDouble);
}

void PartMetrics::add(const PartCounts& counts, const at::Tensor& category) {
  const at::Tensor labelled = (counts.there.cpu().sum(1) > 0).nonzero().squeeze(1);
  const auto kept = [&](const at::Tensor& of_shapes) { return of_shapes.cpu().index_select(0, labelled); };
  const PartCounts found{kept(counts.found), kept(counts.there), kept(counts.both)};
  const at::Tensor there = found.there.to(at::kDouble), both = found.both.to(at::kDouble);
  const at::Tensor label = kept(category), ious = part_ious(found);
  const at::Tensor allowed = mask_.index_select(0, label), iou = mean_of_allowed(ious, allowed);
  shapes_.index_add_(0, label, at::ones_like(iou));
  iou_.index_add_(0, label, iou);
  iou_squares_ += iou.square().sum().item<double>();
  points_.index_add_(0, label, there.sum(1));
  right_.index_add_(0, label, both.sum(1));
  part_points_ += there.sum(0);
  part_right_ += both.sum(0);
  part_iou_ += (ious * allowed).sum(0);
}

PartScores PartMetrics::scores() const {
  TORCH_CHECK(shapes_.sum().item<double>() > 0, "there are no shapes with labelled points to score");
  PartScores scores;
  const auto shapes = shapes_.sum().item<double>();
  scores.instance_iou = iou_.sum().item<double>() / shapes;
  const double spread = std::max(iou_squares_ / shapes - scores.instance_iou * scores.instance_iou, 0.0);
  scores.instance_iou_error = std::sqrt(spread / (shapes - 1));
  scores.class_iou = mean_share(iou_, shapes_);
  scores.accuracy = (right_.sum() / points_.sum()).item<double>();
  scores.mean_part_accuracy = mean_share(part_right_, part_points_);
  for (int64_t label = 0; label < mask_.size(0); ++label) {
    scores.classes.push_back({shapes_[label].item<int64_t>(), (iou_[label] / shapes_[label]).item<double>(),
                              (right_[label] / points_[label]).item<double>()});
  }
  const at::Tensor of_class = mask_.t().to(at::kDouble).mv(shapes_);  // shapes that may have each part
  const at::Tensor iou = part_iou_ / of_class, accuracy = part_right_ / part_points_;
  for (int64_t part = 0; part < mask_.size(1); ++part) {
    scores.parts.push_back({iou[part].item<double>(), accuracy[part].item<double>()});
  }
  return scores;
}

}  // namespace geosft
