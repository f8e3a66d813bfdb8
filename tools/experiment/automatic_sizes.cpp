// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/automatic_sizes.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace geosft {
namespace {

constexpr int64_t many_clouds = 4000, target_cloud_steps = 4000, min_epochs = 20, max_epochs = 200, min_averaged = 400;
constexpr int64_t channels_of_head = 16;

}  // namespace

int64_t heads_of(int64_t dim, int64_t min_channels) {
  for (int64_t heads = dim / min_channels; heads > 1; --heads) {
    if (dim % heads == 0) return heads;
  }
  return 1;
}

std::string resolve_sizes(EncoderSettings& model, int64_t* head_samples, TrainSettings& train, int64_t clouds,
                          const SmallSizes& small) {
  const bool many = clouds > many_clouds;
  const int64_t factor = many ? 2 : 1;
  AutomaticKeys keys;
  keys.resolve("dim", model.dim, [&] { return 64 * factor; });
  keys.resolve("num_heads", model.num_heads, [&] { return heads_of(model.dim, channels_of_head); });
  keys.resolve("depth", model.depth, [&] { return many ? int64_t{4} : int64_t{3}; });
  keys.resolve("num_samples", model.sampling.num_samples, [&] { return small.num_samples * factor; });
  if (head_samples != nullptr)
    keys.resolve("head_num_samples", *head_samples, [&] { return small.head_num_samples * factor; });
  keys.resolve("batch_size", train.batch_size, [&] {
    const auto share = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(clouds, 8) / 8)));
    return std::clamp<int64_t>(share, 4, small.batch_size * factor);
  });
  const int64_t steps = std::max<int64_t>((clouds + train.batch_size - 1) / train.batch_size, 1);
  keys.resolve("epochs", train.epochs,
               [&] { return std::clamp<int64_t>((target_cloud_steps + steps - 1) / steps, min_epochs, max_epochs); });
  keys.resolve("ema_decay", train.optimization.average_decay, [&] { return average_decay_of(steps * train.epochs); });
  return keys.text();
}

double average_decay_of(int64_t steps) {
  if (steps < min_averaged) return 0.0;
  return std::round(1000 * (1 - 20 / static_cast<double>(steps))) / 1000;
}

bool has_automatic_sizes(const EncoderSettings& model, const int64_t* head_samples, const TrainSettings& train) {
  return is_automatic(model.dim) || is_automatic(model.num_heads) || is_automatic(model.depth) ||
         is_automatic(model.sampling.num_samples) || (head_samples != nullptr && is_automatic(*head_samples)) ||
         is_automatic(train.batch_size) || is_automatic(train.epochs) || is_automatic(train.optimization.average_decay);
}

}  // namespace geosft
