// SPDX-License-Identifier: Apache-2.0
#include "data/points/point_loader.h"

#include <ATen/core/grad_mode.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>

#include "data/seeds.h"
#include "data/wait_clock.h"
#include "geometry/packed.h"
#include "geometry/threads.h"

namespace geosft {
namespace {

// Random streams for the order of an epoch and for the transforms of its items.
constexpr uint64_t order_stream = 1, item_stream = 2;

// Returns a number below `bound`. The modulo bias is negligible: bound is the size of a dataset, far below 2^64.
uint64_t random_below(uint64_t seed, uint64_t counter, uint64_t bound) {
  return combine_seeds({seed, counter}) % bound;
}

void check_shape(const Shape& shape) {
  const auto is_cloud = [](const at::Tensor& t) {
    return t.defined() && t.scalar_type() == at::kFloat && t.dim() == 2 && t.size(0) > 0 && t.size(1) == 3;
  };
  TORCH_CHECK(is_cloud(shape.points), "points of ", shape.name,
              " must be float32 [n, 3] with n > 0 after the transform");
  TORCH_CHECK(!shape.normals.defined() || (is_cloud(shape.normals) && shape.normals.sizes() == shape.points.sizes()),
              "normals of ", shape.name, " must be float32 of shape ", shape.points.sizes(), " after the transform");
  TORCH_CHECK(!shape.parts.defined() || (shape.parts.scalar_type() == at::kLong && shape.parts.dim() == 1 &&
                                         shape.parts.size(0) == shape.points.size(0)),
              "parts of ", shape.name, " must be int64 [", shape.points.size(0), "] after the transform");
}

PointBatch pack(const std::vector<Shape>& shapes, const std::vector<int64_t>& items) {
  std::vector<at::Tensor> points, normals, parts;
  std::vector<int64_t> offsets = {0}, labels;
  for (const Shape& shape : shapes) {
    check_shape(shape);
    points.push_back(shape.points);
    if (shape.normals.defined()) normals.push_back(shape.normals);
    if (shape.parts.defined()) parts.push_back(shape.parts);
    offsets.push_back(offsets.back() + shape.points.size(0));
    labels.push_back(shape.label);
  }
  TORCH_CHECK(normals.empty() || normals.size() == points.size(), "a batch must have normals in all ", points.size(),
              " clouds or in none, got ", normals.size(), ", among them ", shapes[0].name);
  PointBatch batch{at::cat(points),
                   normals.empty() ? at::Tensor() : at::cat(normals),
                   offsets_tensor(offsets),
                   at::tensor(labels, at::kLong),
                   at::tensor(items, at::kLong),
                   parts.size() == points.size() ? at::cat(parts) : at::Tensor()};
  batch.unlabelled = batch.parts.defined() && (batch.parts == unlabelled_part).any().item<bool>();
  return batch;
}

}  // namespace

PointBatch micro_batch(const PointBatch& batch, int64_t part, int64_t parts) {
  const BatchSlice place = batch_slice({part, parts}, batch.labels.size(0));
  const at::Tensor ptr = batch.ptr.slice(0, place.first, place.first + place.count + 1);
  const int64_t begin = ptr[0].item<int64_t>(), end = ptr[-1].item<int64_t>();
  const auto rows = [&](const at::Tensor& data) { return data.defined() ? data.slice(0, begin, end) : data; };
  const auto items = [&](const at::Tensor& data) {
    return data.defined() ? data.slice(0, place.first, place.first + place.count) : data;
  };
  return {rows(batch.points), rows(batch.normals), ptr - begin, items(batch.labels),
          items(batch.index), rows(batch.parts),   place,       items(batch.seeds),
          batch.unlabelled};
}

std::vector<int64_t> epoch_order(int64_t count, bool shuffle, uint64_t seed, int64_t epoch) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  if (!shuffle) return order;
  const uint64_t stream = combine_seeds({order_stream, seed, static_cast<uint64_t>(epoch)});
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_below(stream, i, i)]);
  return order;
}

struct PointLoader::State {
  State(const PointDataset& source, PointLoaderOptions chosen) : dataset(source), options(std::move(chosen)) {}

  int64_t batches() const {
    const int64_t size = dataset.size(), step = options.batch_size;
    return options.drop_last ? size / step : (size + step - 1) / step;
  }
  // Items of a shard and their range in the whole batch.
  struct Share {
    std::vector<int64_t> items;
    BatchSlice place;
  };
  PointBatch prepare(const Share& share, int64_t of_epoch) const;
  Share share_of(int64_t batch) const;
  void work();
  std::optional<PointBatch> take_prepared();
  std::optional<PointBatch> prepare_here();

  const PointDataset& dataset;
  const PointLoaderOptions options;

  struct Outcome {
    PointBatch batch;
    std::exception_ptr error;
  };
  std::mutex mutex;
  std::condition_variable work_is_possible, batch_is_ready;
  std::vector<int64_t> order;
  int64_t epoch = 0;
  int64_t generation = 0;  // counts calls of start_epoch, so that late batches of an abandoned epoch are dropped
  int64_t next_to_prepare = 0, next_to_hand_out = 0, end = 0;
  std::map<int64_t, Outcome> ready;
  bool stopping = false;
  WaitClock waited;  // used only by the caller's thread
  std::vector<std::jthread> threads;
};

PointLoader::State::Share PointLoader::State::share_of(int64_t batch) const {
  const int64_t begin = batch * options.batch_size;
  const int64_t stop = std::min(begin + options.batch_size, dataset.size());
  const BatchSlice place = batch_slice(options.share, stop - begin);
  const auto first = order.begin() + begin + place.first;
  return {{first, first + place.count}, place};
}

PointBatch PointLoader::State::prepare(const Share& share, int64_t of_epoch) const {
  // Creates normal tensors without gradients, usable in training even if the calling thread is in inference mode.
  const c10::InferenceMode no_inference(false);
  const at::NoGradGuard no_grad;
  std::vector<Shape> shapes;
  std::vector<int64_t> seeds;
  for (const int64_t item : share.items) {
    Shape shape = dataset.get(item);
    const uint64_t seed =
        combine_seeds({item_stream, options.seed, static_cast<uint64_t>(of_epoch), static_cast<uint64_t>(item)});
    if (options.transform) {
      at::Generator generator = make_generator(seed);
      shape = options.transform(std::move(shape), generator);
    }
    shapes.push_back(std::move(shape));
    seeds.push_back(static_cast<int64_t>(seed));
  }
  PointBatch batch = pack(shapes, share.items);
  batch.place = share.place;
  batch.seeds = at::tensor(seeds, at::kLong);
  return options.batch_transform ? options.batch_transform(std::move(batch)) : batch;
}

void PointLoader::State::work() {
  const IntraOpThreads single(1);
  std::unique_lock lock(mutex);
  while (true) {
    work_is_possible.wait(lock, [&] {
      return stopping || (next_to_prepare < end && next_to_prepare < next_to_hand_out + options.prefetch);
    });
    if (stopping) return;
    const int64_t batch = next_to_prepare++, of_epoch = epoch, of_generation = generation;
    const Share share = share_of(batch);
    lock.unlock();
    Outcome outcome;
    try {
      outcome.batch = prepare(share, of_epoch);
    } catch (...) {
      outcome.error = std::current_exception();
    }
    lock.lock();
    if (of_generation != generation) continue;
    ready.emplace(batch, std::move(outcome));
    batch_is_ready.notify_all();
  }
}

std::optional<PointBatch> PointLoader::State::take_prepared() {
  std::unique_lock lock(mutex);
  if (next_to_hand_out >= end) return std::nullopt;
  batch_is_ready.wait(lock, [&] { return ready.contains(next_to_hand_out); });
  // The error is kept: further calls rethrow it until another epoch begins.
  if (const auto& error = ready.at(next_to_hand_out).error) std::rethrow_exception(error);
  PointBatch batch = std::move(ready.extract(next_to_hand_out++).mapped().batch);
  work_is_possible.notify_all();
  return batch;
}

std::optional<PointBatch> PointLoader::State::prepare_here() {
  if (next_to_hand_out >= end) return std::nullopt;
  PointBatch batch = prepare(share_of(next_to_hand_out), epoch);
  ++next_to_hand_out;
  return batch;
}

PointLoader::PointLoader(const PointDataset& dataset, PointLoaderOptions options)
    : state_(std::make_unique<State>(dataset, std::move(options))) {
  const PointLoaderOptions& chosen = state_->options;
  TORCH_CHECK(chosen.batch_size >= 1, "batch_size must be at least 1, got ", chosen.batch_size);
  batch_slice(chosen.share, 1);  // throws for an invalid shard
  TORCH_CHECK(chosen.workers >= 0, "workers must be 0 or more, got ", chosen.workers);
  TORCH_CHECK(chosen.prefetch >= 1, "prefetch must be at least 1, got ", chosen.prefetch);
  for (int64_t i = 0; i < chosen.workers; ++i) state_->threads.emplace_back([state = state_.get()] { state->work(); });
}

PointLoader::~PointLoader() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->work_is_possible.notify_all();
  state_->threads.clear();
}

int64_t PointLoader::batches_per_epoch() const {
  return state_->batches();
}

void PointLoader::start_epoch(int64_t epoch, int64_t first_batch) {
  State& state = *state_;
  TORCH_CHECK(epoch >= 0, "epoch must be 0 or more, got ", epoch);
  TORCH_CHECK(first_batch >= 0 && first_batch <= state.batches(), "first_batch must lie in [0, ", state.batches(),
              "], got ", first_batch);
  {
    const std::lock_guard lock(state.mutex);
    ++state.generation;
    state.ready.clear();
    state.order = epoch_order(state.dataset.size(), state.options.shuffle, state.options.seed, epoch);
    state.epoch = epoch;
    state.next_to_prepare = state.next_to_hand_out = first_batch;
    state.end = state.batches();
  }
  state.waited.reset();
  state.work_is_possible.notify_all();
}

std::optional<PointBatch> PointLoader::next() {
  State& state = *state_;
  return state.waited.during([&] { return state.options.workers > 0 ? state.take_prepared() : state.prepare_here(); });
}

double PointLoader::seconds_waited() const {
  return state_->waited.seconds();
}

}  // namespace geosft
