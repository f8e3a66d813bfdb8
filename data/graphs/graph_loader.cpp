// SPDX-License-Identifier: Apache-2.0
#include "data/graphs/graph_loader.h"

#include <algorithm>
#include <numeric>

#include "data/points/point_loader.h"
#include "data/seeds.h"
#include "geometry/augment.h"
#include "geometry/packed.h"

namespace geosft {
namespace {

constexpr uint64_t drop_stream = 3, picture_stream = 12;

// Returns `count` pictures as graphs without edges whose nodes are patches.
FeaturedGraphs graphs_of_patches(const at::Tensor& patches, int64_t count) {
  FeaturedGraphs graphs;
  graphs.graphs.ptr = at::arange(count + 1, at::kLong) * (count > 0 ? patches.size(0) / count : 0);
  graphs.graphs.graph.rowptr = at::zeros({patches.size(0) + 1}, at::kLong);
  graphs.graphs.graph.col = at::empty({0}, at::kLong);
  graphs.node_values = patches;
  return graphs;
}

}  // namespace

LabelledItems labelled_items(const PackedItems& dataset, const std::vector<int64_t>& items,
                             const std::optional<PictureAugmentation>& augmentation) {
  LabelledItems batch;
  if (dataset.pictures) {
    static_cast<FeaturedGraphs&>(batch) =
        graphs_of_patches(picture_patches(*dataset.pictures, items, augmentation), static_cast<int64_t>(items.size()));
    batch.items = items;
    batch.target = dataset.target.index_select(0, at::tensor(items, at::kLong));
    return batch;
  }
  static_cast<FeaturedGraphs&>(batch) = items_of(dataset, items);
  batch.items = items;
  const at::Tensor nodes = rows_of_items(dataset.graphs.ptr, items);
  batch.target =
      dataset.target.index_select(0, is_of_nodes(dataset.schema.task) ? nodes : at::tensor(items, at::kLong));
  if (dataset.node_split.defined()) batch.node_split = dataset.node_split.index_select(0, nodes);
  return batch;
}

LabelledItems drop_random_nodes(const LabelledItems& graphs, GraphTask task, double share, at::Generator generator) {
  const std::vector<int64_t> offsets = packed_offsets(graphs.graphs.ptr, graphs.graphs.graph.nodes(), "ptr");
  std::vector<at::Tensor> kept;
  for (size_t b = 0; b + 1 < offsets.size(); ++b) {
    kept.push_back(drop_rows(offsets[b + 1] - offsets[b], share, generator) + offsets[b]);
  }
  const at::Tensor rows = at::cat(kept);
  LabelledItems part = graphs;
  static_cast<FeaturedGraphs&>(part) = induced_subgraph(graphs, rows);
  if (is_of_nodes(task)) part.target = graphs.target.index_select(0, rows);
  if (graphs.node_split.defined()) part.node_split = graphs.node_split.index_select(0, rows);
  return part;
}

LabelledItems micro_batch(const LabelledItems& batch, GraphTask task, int64_t part, int64_t parts) {
  const BatchSlice place = batch_slice({part, parts}, batch.graphs.items());
  std::vector<int64_t> chosen(static_cast<size_t>(place.count));
  std::iota(chosen.begin(), chosen.end(), place.first);
  LabelledItems result;
  static_cast<FeaturedGraphs&>(result) = items_of(batch, chosen);
  if (batch.document_ptr.defined()) {  // two entries per item
    const at::Tensor ptr = batch.document_ptr.slice(0, 2 * place.first, 2 * (place.first + place.count) + 1);
    result.document_ptr = ptr - ptr[0];
  }
  const at::Tensor ptr = batch.graphs.ptr;
  const int64_t begin = ptr[place.first].item<int64_t>(), end = ptr[place.first + place.count].item<int64_t>();
  result.target = is_of_nodes(task) ? batch.target.slice(0, begin, end)
                                    : batch.target.slice(0, place.first, place.first + place.count);
  if (batch.node_split.defined()) result.node_split = batch.node_split.slice(0, begin, end);
  const auto first = batch.items.begin() + place.first;
  result.items = {first, first + place.count};
  result.place = place;
  return result;
}

GraphLoader::GraphLoader(const PackedItems& dataset, std::vector<int64_t> items, GraphLoaderOptions options)
    : dataset_(dataset), items_(std::move(items)), options_(options) {
  TORCH_CHECK(options_.batch_size >= 1, "batch_size must be at least 1, got ", options_.batch_size);
  TORCH_CHECK(options_.batch_nodes >= 0, "batch_nodes must not be negative, got ", options_.batch_nodes);
  batch_slice(options_.share, 1);  // throws for an invalid shard
  set_order(0);
}

int64_t GraphLoader::nodes_of(int64_t item) const {
  if (dataset_.pictures) return dataset_.pictures->tokens();
  const int64_t* const ptr = dataset_.graphs.ptr.const_data_ptr<int64_t>();
  return ptr[item + 1] - ptr[item];
}

// Sets the order of the graphs in an epoch, and where its batches begin.
void GraphLoader::set_order(int64_t epoch) {
  order_.clear();
  for (const int64_t place : epoch_order(static_cast<int64_t>(items_.size()), options_.shuffle, options_.seed, epoch)) {
    order_.push_back(items_[static_cast<size_t>(place)]);
  }
  begins_ = {0};
  const int64_t count = static_cast<int64_t>(order_.size());
  int64_t nodes = 0;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t more = nodes_of(order_[static_cast<size_t>(i)]);
    const bool full =
        options_.batch_nodes > 0 ? nodes + more > options_.batch_nodes : i - begins_.back() == options_.batch_size;
    if (full && i > begins_.back()) {
      begins_.push_back(i);
      nodes = 0;
    }
    nodes += more;
  }
  if (count > 0) begins_.push_back(count);
}

void GraphLoader::start_epoch(int64_t epoch, int64_t first_batch) {
  set_order(epoch);
  TORCH_CHECK(first_batch >= 0 && first_batch <= batches_per_epoch(), "first_batch must lie in [0, ",
              batches_per_epoch(), "], got ", first_batch);
  if (ahead_.valid()) ahead_.wait();  // of the epoch that is left
  ahead_ = {};
  epoch_ = epoch;
  next_ = first_batch;
  started_ = true;
  waited_.reset();
}

// Returns the generator of the batch that begins at `begin` in the order, advanced past the numbers that its first
// `first` graphs use.
at::Generator GraphLoader::dropping(int64_t batch, int64_t begin, int64_t first) const {
  at::Generator generator = make_generator(
      combine_seeds({drop_stream, options_.seed, static_cast<uint64_t>(epoch_), static_cast<uint64_t>(batch)}));
  for (int64_t i = begin; i < begin + first; ++i) {
    drop_rows(nodes_of(order_[static_cast<size_t>(i)]), options_.drop_nodes, generator);
  }
  return generator;
}

std::optional<LabelledItems> GraphLoader::next() {
  return waited_.during([&] { return prepare(); });
}

// Returns this shard's items of a batch, and their place in it.
std::vector<int64_t> GraphLoader::items_of_batch(int64_t batch, BatchSlice& place) const {
  const int64_t begin = begins_[static_cast<size_t>(batch)], end = begins_[static_cast<size_t>(batch) + 1];
  place = batch_slice(options_.share, end - begin);
  const auto first = order_.begin() + begin + place.first;
  return {first, first + place.count};
}

// Returns a batch of pictures, which may have been read ahead, and begins to read the next one.
LabelledItems GraphLoader::pictures_of_batch(int64_t batch, const std::vector<int64_t>& items) {
  // Only random views depend on the epoch.
  const std::optional<PictureAugmentation> augmentation =
      options_.augment ? std::optional(PictureAugmentation{
                             combine_seeds({picture_stream, options_.seed, static_cast<uint64_t>(epoch_)})})
                       : std::nullopt;
  const bool ready = ahead_.valid() && ahead_batch_ == batch;
  LabelledItems whole = ready ? ahead_.get() : labelled_items(dataset_, items, augmentation);
  if (batch + 1 < batches_per_epoch()) {
    BatchSlice place;
    // The thread refers to the dataset alone, which outlives the loader.
    ahead_ = std::async(std::launch::async, [dataset = &dataset_, next = items_of_batch(batch + 1, place),
                                             augmentation] { return labelled_items(*dataset, next, augmentation); });
    ahead_batch_ = batch + 1;
  }
  return whole;
}

std::optional<LabelledItems> GraphLoader::prepare() {
  if (!started_ || next_ >= batches_per_epoch()) return std::nullopt;
  const int64_t batch = next_++;
  BatchSlice place;
  const std::vector<int64_t> items = items_of_batch(batch, place);
  LabelledItems whole = dataset_.pictures ? pictures_of_batch(batch, items) : labelled_items(dataset_, items);
  whole.place = place;
  if (options_.drop_nodes <= 0) return whole;
  return drop_random_nodes(whole, dataset_.schema.task, options_.drop_nodes,
                           dropping(batch, begins_[static_cast<size_t>(batch)], place.first));
}

}  // namespace geosft
