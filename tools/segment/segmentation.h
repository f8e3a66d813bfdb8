// SPDX-License-Identifier: Apache-2.0
// What a trained model makes of the points of clouds.
#pragma once

#include <ATen/ATen.h>

#include <functional>

#include "tools/segment/blocks.h"
#include "tools/segment/segment_run.h"

namespace geosft {

struct PackedClouds {
  at::Tensor points, normals;  // float32 or float64 [N, 3], as they lie in their files; normals may be undefined
  at::Tensor ptr;              // int64 [B + 1]
  at::Tensor category;         // int64 [B], or undefined for a model that is not told
};

struct CloudLogits {
  at::Tensor logits;   // [N, parts], averaged over the votes, in the order of the points
  at::Tensor choices;  // int64 [N]: equal for two passes in whose block the same order and samples were chosen
};

// Every block of every cloud is normalised and seen alone, some at a time (settings.evaluation.evaluation_batch);
// memory is linear in the points. `progress` is told the points done, of points x votes.
CloudLogits segment_clouds(PointSegmenter& model, const SegmentSettings& settings, const PackedClouds& clouds,
                           BlockKind kind, const std::function<void(int64_t)>& progress = {});

// Logits of parts that a shape of its class cannot have, made impossible: allowed bool [N, parts] or [1, parts];
// half types become float32.
at::Tensor masked_logits(const at::Tensor& logits, const at::Tensor& allowed);

}  // namespace geosft
