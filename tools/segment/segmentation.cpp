// SPDX-License-Identifier: Apache-2.0
#include "tools/segment/segmentation.h"

#include <ATen/core/grad_mode.h>
#include <algorithm>

#include "geometry/normalize.h"
#include "models/summary.h"
#include "models/training/host_copy.h"
#include "tools/experiment/batch_size_finder.h"

namespace geosft {
namespace {

// Finite, so that differences of logits are finite too.
constexpr double impossible = -1e30;

// The model's inputs for the blocks first … last - 1.
struct BlockBatch {
  at::Tensor rows, points, normals, ptr, category;

  BlockBatch(const PackedClouds& clouds, const Blocks& blocks, int64_t first, int64_t last) {
    const int64_t begin = blocks.ptr[first].item<int64_t>(), end = blocks.ptr[last].item<int64_t>();
    rows = blocks.rows.slice(0, begin, end);
    ptr = (blocks.ptr.slice(0, first, last + 1) - begin).contiguous();
    points = normalize(clouds.points.index_select(0, rows).to(at::kDouble), ptr).points.to(at::kFloat);
    if (clouds.normals.defined()) normals = clouds.normals.index_select(0, rows).to(at::kFloat);
    if (clouds.category.defined()) {
      category = clouds.category.index_select(0, blocks.item.slice(0, first, last));
    }
  }
};

struct VotePass {
  PointSegmenter& model;
  const SegmentSettings& settings;
  const PackedClouds& clouds;
  BlockKind kind;
  int64_t batch;  // blocks per forward pass
  const BatchProgress& progress;

  void add_to(CloudLogits& total, uint64_t vote) const {
    const Blocks blocks = make_blocks(clouds.points, clouds.ptr, settings.clouds.block, kind, vote);
    const at::Device device = device_of(*model);
    const int64_t count = blocks.item.size(0);
    for (int64_t first = 0; first < count; first += batch) {
      const int64_t last = std::min(first + batch, count);
      const BlockBatch seen(clouds, blocks, first, last);
      SamplingContext context = settings.evaluation.context(vote);
      context.record_choices(last - first);
      const at::Tensor logits = model->forward(device_copy(seen.points, device), device_copy(seen.normals, device),
                                               seen.ptr, seen.category, context);
      total.logits.index_add_(0, seen.rows, logits.cpu());
      const at::Tensor choices = context.choices().cpu().repeat_interleave(seen.ptr.diff());
      total.choices.index_copy_(0, seen.rows, total.choices.index_select(0, seen.rows) * 0x2545F4914F6CDD1D + choices);
      progress(static_cast<int64_t>(vote) * clouds.points.size(0) + blocks.ptr[last].item<int64_t>());
    }
  }
};

}  // namespace

CloudLogits segment_clouds(PointSegmenter& model, const SegmentSettings& settings, const PackedClouds& clouds,
                           BlockKind kind, const std::function<void(int64_t)>& progress) {
  const at::NoGradGuard guard;
  if (model->is_training()) model->eval();  // threads may share a loaded model
  const int64_t points = clouds.points.size(0), votes = settings.evaluation.votes;
  return evaluate_within_memory(
      settings.evaluation.evaluation_batch, progress, [&](int64_t batch_size, const BatchProgress& heard) {
        CloudLogits total{at::zeros({points, model->options.parts}), at::zeros({points}, at::kLong)};
        const VotePass pass{model, settings, clouds, kind, batch_size, heard};
        for (int64_t vote = 0; vote < votes; ++vote) pass.add_to(total, static_cast<uint64_t>(vote));
        total.logits.div_(static_cast<double>(votes));
        return total;
      });
}

at::Tensor masked_logits(const at::Tensor& logits, const at::Tensor& allowed) {
  const at::Tensor wide = logits.to(at::promote_types(logits.scalar_type(), at::kFloat));  // float16 max is 65504
  return wide.masked_fill(allowed.logical_not(), impossible);
}

}  // namespace geosft
