// SPDX-License-Identifier: Apache-2.0
// Predicts part logits for the points of clouds.
#pragma once

#include <ATen/ATen.h>

#include <functional>

#include "tools/segment/blocks.h"
#include "tools/segment/segment_run.h"

namespace geosft {

struct PackedClouds {
  at::Tensor points, normals;  // float32 or float64 [N, 3], as in the files; normals may be undefined
  at::Tensor ptr;              // int64 [B + 1]
  at::Tensor category;         // int64 [B], or undefined for a model without class input
};

struct CloudLogits {
  at::Tensor logits;   // [N, parts], averaged over the votes, in the order of the points
  at::Tensor choices;  // int64 [N]: equal for two passes if the point's block had the same order and samples
};

// Normalises each block and processes it separately, settings.evaluation.evaluation_batch blocks at a time; memory is
// linear in the points. `progress` receives the points done, of points x votes.
CloudLogits segment_clouds(PointSegmenter& model, const SegmentSettings& settings, const PackedClouds& clouds,
                           BlockKind kind, const std::function<void(int64_t)>& progress = {});

// Masks the logits of parts that are impossible for a shape's class: allowed bool [N, parts] or [1, parts]. Half types
// become float32.
at::Tensor masked_logits(const at::Tensor& logits, const at::Tensor& allowed);

}  // namespace geosft
