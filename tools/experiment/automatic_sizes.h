// SPDX-License-Identifier: Apache-2.0
// Derives the sizes of a model of clouds, and of its training, that are "auto" from the number of training clouds.
#pragma once

#include <string>

#include "tools/experiment/experiment_settings.h"

namespace geosft {

// Sizes that differ between tasks, for a few thousand clouds or fewer.
struct SmallSizes {
  int64_t num_samples = 32, head_num_samples = 128, batch_size = 16;
};

// Replaces every automatic setting:
//   dim, num_heads, depth   64, 4 and 3; for more than 4,000 clouds 128, 8 and 4. A head has at least 16 channels
//   num_samples, head_num_samples, batch_size   those of `small`, twice as many for more than 4,000 clouds; a batch has
//                           at most an eighth of the clouds, but at least 4
//   epochs                  as many as 4,000 optimiser steps take, from 20 to 200
//   ema_decay               1 - 20 / steps, rounded to three digits: the average spans the last twentieth; 0 for fewer
//                           than 400 steps
// `head_samples` is null for a model without a sampling head. Returns "dim 64, depth 3, …", the settings replaced;
// empty if there is none.
std::string resolve_sizes(EncoderSettings& model, int64_t* head_samples, TrainSettings& train, int64_t clouds,
                          const SmallSizes& small);

// Returns the largest number of heads that divides `dim` and leaves each at least `min_channels` channels; else 1.
int64_t heads_of(int64_t dim, int64_t min_channels);

// Returns the decay of a running average that spans the last twentieth of `steps`; 0 for fewer than 400.
double average_decay_of(int64_t steps);

// Returns whether resolve_sizes would replace a setting.
bool has_automatic_sizes(const EncoderSettings& model, const int64_t* head_samples, const TrainSettings& train);

}  // namespace geosft
