// SPDX-License-Identifier: Apache-2.0
// Collects statistics of a sampler at one epoch of a training.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tools/experiment/classification.h"
#include "tools/experiment/colour_map.h"
#include "tools/experiment/plot_curves.h"

namespace geosft {

struct SamplingSnapshot {
  int64_t epochs = 0;
  at::Tensor points;       // [n, 3], as the model saw them
  at::Tensor importance;   // [n], scores of the head's sampler
  at::Tensor frequency;    // [n], fraction of the samples in which a point was chosen by its score
  double covered = 0.0;    // distance to the nearest chosen point, mean over points and samples
  double by_chance = 0.0;  // the same for as many points sampled uniformly
};

// Samples one cloud `num_samples` times with the head's sampler.
SamplingSnapshot sampling_snapshot(RunModel& trained, const Shape& shape, int64_t epochs, int64_t num_samples);

// Formats as "scores from … to …; …".
std::string snapshot_text(const SamplingSnapshot& snapshot);
// CSV with the columns epochs,point,x,y,z,importance,frequency
std::string snapshots_csv(const std::vector<SamplingSnapshot>& snapshots);
// Returns histograms of the importance, and the coverage over the epochs.
std::vector<CurvePanel> snapshot_panels(const std::vector<SamplingSnapshot>& snapshots);

}  // namespace geosft
