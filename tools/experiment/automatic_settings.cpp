// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/automatic_settings.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "data/sequences/sequence_dataset.h"
#include "tools/experiment/automatic_sizes.h"

namespace geosft {
namespace {

constexpr int64_t target_tokens = 32, max_patch = 32, max_numbers = 512, target_steps = 1200, target_graph_steps = 3000;
constexpr int64_t some_examples = 400, many_examples = 4000, head_channels = 8;

int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

int64_t patch_of(const DataSizes& sizes) {
  if (!sizes.series) return 1;
  const int64_t maximum = std::clamp<int64_t>(max_numbers / std::max<int64_t>(sizes.values, 1), 1, max_patch);
  return std::clamp<int64_t>(ceil_div(sizes.longest, target_tokens), 1, maximum);
}

int64_t batch_of(const DataSizes& sizes) {
  const auto share = static_cast<uint64_t>(sizes.items / 32);
  return std::clamp<int64_t>(static_cast<int64_t>(std::bit_floor(share)), 16, 64);
}

int64_t epochs_of(const DataSizes& sizes, int64_t batch_size, bool graphs) {
  const int64_t steps = ceil_div(sizes.items, batch_size);
  return graphs ? std::clamp<int64_t>(ceil_div(target_graph_steps, steps), 20, 200)
                : std::clamp<int64_t>(ceil_div(target_steps, steps), 30, 400);
}

double validation_of(const DataSizes& sizes, const PackedItems& items) {
  if (items.schema.items == "graphs") {
    constexpr double share = 0.1;
    constexpr int64_t fewest = 5;
    const bool too_few = std::llround(share * static_cast<double>(sizes.items)) < fewest;
    return too_few || items.node_split.defined() || std::llround(share * static_cast<double>(sizes.common_class)) == 0
               ? 0.0
               : share;
  }
  constexpr double fraction = 0.2;
  return std::llround(fraction * static_cast<double>(sizes.common_class)) > 0 ? fraction : 0.0;
}

// Returns the number of items of the most common class among the training items.
int64_t common_class(const PackedItems& items, int64_t training) {
  if (items.schema.task != GraphTask::classification) return training;
  at::Tensor classes = items.target;
  if (items.split) classes = classes.index_select(0, at::tensor(items.split->train, at::kLong));
  classes = classes.masked_select(classes >= 0);
  return classes.numel() > 0 ? at::bincount(classes).max().item<int64_t>() : 0;
}

double dropout_of(const DataSizes& sizes, int64_t patch) {
  return patch * sizes.values > sizes.items ? 0.2 : 0.1;
}

int64_t samples_of(const DataSizes& sizes) {
  const auto third = static_cast<uint64_t>(std::ceil(sizes.mean / 3));
  return std::clamp<int64_t>(static_cast<int64_t>(std::bit_ceil(third)), 4, 64);
}

// Resolves the sizes of the model.
void resolve_model(AutomaticKeys& keys, GraphModelSettings& model, const DataSizes& sizes) {
  const int64_t examples = sizes.examples;
  keys.resolve("dim", model.dim, [&] { return examples > some_examples ? int64_t{64} : int64_t{32}; });
  keys.resolve("num_heads", model.num_heads, [&] { return heads_of(model.dim, head_channels); });
  keys.resolve("depth", model.depth, [&] { return examples > many_examples ? int64_t{4} : int64_t{3}; });
  keys.resolve("num_samples", model.sampling.num_samples, [&] { return samples_of(sizes); });
}

double beta_of(const GraphModelSettings& model, const std::string& data) {
  const auto found = model.beta_by_set.find(series_name(data));
  if (found == model.beta_by_set.end() || found->second.empty()) return PrimalSettings().beta;
  const bool scaled = !model.layer().primal.pool.empty();
  return scaled ? found->second.back() : found->second.front();
}

}  // namespace

DataSizes data_sizes(const PackedItems& items, const SplitSettings& splits) {
  DataSizes sizes;
  const at::Tensor lengths = items.graphs.ptr.diff();
  if (lengths.numel() > 0) sizes.longest = std::max<int64_t>(lengths.max().item<int64_t>(), 1);
  const int64_t all = items.size();
  if (lengths.numel() > 0) sizes.mean = std::max(lengths.to(at::kDouble).mean().item<double>(), 1.0);
  sizes.items = std::max<int64_t>(items.split                  ? static_cast<int64_t>(items.split->train.size())
                                  : items.node_split.defined() ? all
                                                               : all - all / splits.folds,
                                  1);
  sizes.examples = is_of_nodes(items.schema.task) ? items.graphs.graph.nodes() : sizes.items;
  sizes.common_class = common_class(items, sizes.items);
  const ItemSchema& schema = items.schema;
  sizes.values = schema.node_values;
  sizes.series = schema.items == "sequences" && schema.node_values > 0 && schema.grid_height == 0;
  return sizes;
}

std::string resolve_automatic(GraphSettings& settings, const PackedItems& items) {
  const DataSizes sizes = data_sizes(items, settings.splits);
  const bool graphs = items.schema.items == "graphs";
  AutomaticKeys keys;
  resolve_model(keys, settings.model, sizes);
  // Pictures have that of DeiT.
  keys.resolve("patch_size", settings.patch_size, [&] { return items.pictures ? int64_t{16} : patch_of(sizes); });
  keys.resolve("batch_size", settings.train.batch_size, [&] { return batch_of(sizes); });
  keys.resolve("epochs", settings.train.epochs, [&] { return epochs_of(sizes, settings.train.batch_size, graphs); });
  keys.resolve("validation_fraction", settings.splits.validation_fraction, [&] { return validation_of(sizes, items); });
  keys.resolve("ema_decay", settings.train.optimization.average_decay, [&] {
    return average_decay_of(ceil_div(sizes.items, settings.train.batch_size) * settings.train.epochs);
  });
  const auto dropout = [&] { return dropout_of(sizes, settings.patch_size); };
  keys.resolve("token_dropout", settings.model.token_dropout, dropout);
  keys.resolve("feed_forward_dropout", settings.model.feed_forward_dropout, dropout);
  keys.resolve("beta", settings.model.primal.beta, [&] { return beta_of(settings.model, settings.data); });
  return keys.text();
}

}  // namespace geosft
