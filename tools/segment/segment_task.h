// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/experiment/cloud_task.h"
#include "tools/segment/segment_evaluation.h"

namespace geosft {

// Part segmentation for the training loop. The loss is the mean over the labelled points, 0 if there are none, and the
// score the instance IoU of the shapes that have such points. The means of an epoch weight each batch by its number
// of such shapes; a single process on a GPU, which does not wait for that number, weights it by all of its shapes, and
// a batch without a labelled point then counts with a loss and a score of 0.
class SegmentTask : public CloudModelTask<PointSegmenter, SegmentSettings> {
 public:
  // See CloudTask; mask: part_mask of the dataset.
  SegmentTask(const PointSegmenter& model, const PointDataset& training, const PointDataset* validation,
              const SegmentSettings& settings, const at::Tensor& mask, const Communicator& processes = one_process());

 private:
  Step step_on(const PointBatch& batch, SamplingContext& context) override;
  Means validate_on(const PointDataset& clouds, const std::function<void(int64_t)>& progress) override;

  at::Tensor mask_, mask_there_;  // mask_there_ is on the model's device
};

}  // namespace geosft
