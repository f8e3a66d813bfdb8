// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace geosft::test {

struct TestSizes {
  int64_t depth, num_samples, batch_size, evaluation_batch;
};

// Makes a model of 16 channels and 4 heads, which runs in milliseconds.
template <class Settings>
void set_small_sizes(Settings& settings, const TestSizes& sizes) {
  settings.model.dim = 16;
  settings.model.num_heads = 4;
  settings.model.depth = sizes.depth;
  settings.model.sampling.num_samples = sizes.num_samples;
  settings.train.batch_size = sizes.batch_size;
  settings.evaluation.evaluation_batch = sizes.evaluation_batch;
}

}  // namespace geosft::test
