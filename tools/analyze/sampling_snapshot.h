// SPDX-License-Identifier: Apache-2.0
// Statistics of a sampler at one moment of a training.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tools/classify/prediction.h"
#include "tools/experiment/colour_map.h"
#include "tools/experiment/plot_curves.h"

namespace geosft {

struct SamplingSnapshot {
  int64_t epochs = 0;
  at::Tensor points;       // [n, 3], as the model saw them
  at::Tensor importance;   // [n], scores of the head's sampler
  at::Tensor frequency;    // [n], share of the draws in which a point was chosen by its score
  double covered = 0.0;    // mean distance of the points to the nearest chosen one, mean over the draws
  double by_chance = 0.0;  // the same of as many points drawn uniformly
};

// `draws` samples by the sampler of the head, for one cloud.
SamplingSnapshot sampling_snapshot(RunModel& trained, const Shape& shape, int64_t epochs, int64_t draws);

// "scores from … to …; …"
std::string snapshot_text(const SamplingSnapshot& snapshot);
// epochs,point,x,y,z,importance,frequency
std::string snapshots_csv(const std::vector<SamplingSnapshot>& snapshots);
// Histograms of the importance, and the coverage over the epochs.
std::vector<CurvePanel> snapshot_panels(const std::vector<SamplingSnapshot>& snapshots);

}  // namespace geosft
