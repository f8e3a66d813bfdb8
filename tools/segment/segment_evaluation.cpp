// SPDX-License-Identifier: Apache-2.0
#include "tools/segment/segment_evaluation.h"

#include <ATen/ops/cross_entropy_loss.h>

#include "data/seeds.h"
#include "geometry/packed.h"

namespace geosft {
namespace {

// Random stream separate from those of the loaders.
constexpr uint64_t rotation_stream = 3;

struct ScoreSum {
  PartMetrics metrics;
  double loss = 0.0;
  int64_t points = 0;  // with a label

  explicit ScoreSum(const at::Tensor& mask) : metrics(mask) {}
  SegmentScores result() const { return {metrics.scores(), loss / static_cast<double>(points)}; }
};

// Rotates each cloud of a batch independently.
PackedClouds rotated(const PointBatch& batch, Rotation rotation, uint64_t seed, int64_t repeat) {
  const std::vector<int64_t> offsets = packed_offsets(batch.ptr, batch.points.size(0), "ptr");
  std::vector<at::Tensor> points, normals;
  for (size_t i = 0; i + 1 < offsets.size(); ++i) {
    Shape shape;
    shape.points = batch.points.slice(0, offsets[i], offsets[i + 1]);
    if (batch.normals.defined()) shape.normals = batch.normals.slice(0, offsets[i], offsets[i + 1]);
    set_precision(shape, at::kDouble);
    const auto row = static_cast<uint64_t>(batch.index[static_cast<int64_t>(i)].item<int64_t>());
    rotate_shape(shape, rotation,
                 make_generator(combine_seeds({rotation_stream, seed, static_cast<uint64_t>(repeat), row})));
    points.push_back(shape.points);
    if (shape.normals.defined()) normals.push_back(shape.normals);
  }
  return {at::cat(points), normals.empty() ? at::Tensor() : at::cat(normals), batch.ptr, {}};
}

// Runs a batch through the model and accumulates the scores.
struct BatchPass {
  PointSegmenter& model;
  const SegmentSettings& settings;
  const at::Tensor& mask;

  CloudLogits run(const PointBatch& batch, Rotation rotation, int64_t repeat, ScoreSum& sum) const {
    TORCH_CHECK(batch.parts.defined(), "the shapes to evaluate must have parts");
    PackedClouds clouds = rotated(batch, rotation, settings.seed, repeat);
    if (model->options.categories > 0) clouds.category = batch.labels;
    CloudLogits found = segment_clouds(model, settings, clouds, BlockKind::spread);
    const double loss =
        at::cross_entropy_loss(found.logits, batch.parts, {}, at::Reduction::Sum, unlabelled_part).item<double>();
    const std::vector<int64_t> offsets = packed_offsets(batch.ptr, batch.points.size(0), "ptr");
    const at::Tensor item = item_of_row(offsets);
    found.logits = masked_logits(found.logits, mask.index_select(0, batch.labels).index_select(0, item));
    sum.metrics.add(count_parts(found.logits.argmax(1), batch.parts, item, batch.labels.size(0), mask.size(1)),
                    batch.labels);
    sum.loss += loss;
    sum.points += (batch.parts != unlabelled_part).sum().item<int64_t>();
    return found;
  }
};

void count_labels(const PointBatch& batch, LabelCounts& counts) {
  const std::vector<int64_t> offsets = packed_offsets(batch.ptr, batch.parts.size(0), "ptr");
  for (size_t i = 0; i + 1 < offsets.size(); ++i) {
    counts.add(batch.parts.slice(0, offsets[i], offsets[i + 1]).unsqueeze(0));
  }
}

PointLoaderOptions whole_clouds(const SegmentSettings& settings) {
  PointLoaderOptions options;
  options.batch_size = settings.evaluation.evaluation_batch;
  options.workers = settings.workers;
  options.transform = plain_clouds(settings.clouds.normals);
  return options;
}

}  // namespace

SegmentEvaluation evaluate_parts(PointSegmenter& model, const PointDataset& dataset, const SegmentSettings& settings,
                                 const at::Tensor& mask, Rotation rotation, int64_t repeats,
                                 const std::function<void(int64_t)>& progress) {
  const bool moved = rotation != Rotation::none;
  const BatchPass pass{model, settings, mask};
  ScoreSum upright(mask), turned(mask);
  InvarianceSum invariance;
  LabelCounts labels(mask.size(1));
  PointLoader loader(dataset, whole_clouds(settings));
  loader.start_epoch(0);
  int64_t done = 0;
  const auto advance = [&](int64_t clouds) {
    done += clouds;
    if (progress) progress(done);
  };
  while (const auto batch = loader.next()) {
    const CloudLogits original = pass.run(*batch, Rotation::none, 0, upright);
    count_labels(*batch, labels);
    advance(batch->labels.size(0));
    invariance.begin(original.logits);
    for (int64_t repeat = 1; moved && repeat <= repeats; ++repeat) {
      const CloudLogits copy = pass.run(*batch, rotation, repeat, turned);
      invariance.add({copy.logits, copy.choices != original.choices});
      advance(batch->labels.size(0));
    }
  }
  TORCH_CHECK(done > 0, "the dataset has no shapes to evaluate");
  if (!moved) return {upright.result(), std::nullopt, std::nullopt, labels};
  return {turned.result(), upright.result(), invariance.result(), labels};
}

}  // namespace geosft
