// SPDX-License-Identifier: Apache-2.0
#include "data/points/point_loader.h"

#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <numeric>
#include <set>
#include <thread>

#include "data/points/array_dataset.h"
#include "tests/support.h"

namespace geosft::test::test_point_loader {

namespace {

ArrayDataset example(int64_t count = 10) {
  CloudArrays arrays;
  arrays.points = at::randn({count, 6, 3}, test::generator(1));
  arrays.normals = at::randn({count, 6, 3}, test::generator(2));
  arrays.labels = at::arange(count) % 3;
  for (int64_t i = 0; i < count; ++i) arrays.names.push_back(std::to_string(i));
  return ArrayDataset(arrays, {"a", "b", "c"}, "example");
}

// Noise, and a number of points that differs from item to item.
Shape jitter(Shape shape, at::Generator& generator) {
  shape.points = shape.points + at::randn(shape.points.sizes(), generator);
  const int64_t keep = at::randint(1, 7, {1}, generator, at::kLong).item<int64_t>();
  shape.points = shape.points.slice(0, 0, keep);
  shape.normals = shape.normals.slice(0, 0, keep);
  return shape;
}

std::vector<PointBatch> drain(PointLoader& loader) {
  std::vector<PointBatch> batches;
  while (auto batch = loader.next()) batches.push_back(std::move(*batch));
  return batches;
}

void require_same(const std::vector<PointBatch>& a, const std::vector<PointBatch>& b) {
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    test::require_equal(a[i].points, b[i].points, "points");
    test::require_equal(a[i].normals, b[i].normals, "normals");
    test::require_equal(a[i].ptr, b[i].ptr, "ptr");
    test::require_equal(a[i].labels, b[i].labels, "labels");
    test::require_equal(a[i].index, b[i].index, "index");
    test::require_equal(a[i].seeds, b[i].seeds, "seeds");
  }
}

}  // namespace

TEST_CASE("what a batch that is not ready makes the caller wait is counted, epoch by epoch") {
  const ArrayDataset dataset = example(4);
  for (const int64_t workers : {0, 1}) {
    PointLoaderOptions options;
    options.batch_size = 2;
    options.workers = workers;
    // The work on a shape ends when the clock has moved on, however slow or fast the machine is.
    options.transform = [](Shape shape, at::Generator&) {
      const auto start = std::chrono::steady_clock::now();
      while (std::chrono::steady_clock::now() == start) continue;
      return shape;
    };
    PointLoader loader(dataset, options);
    CHECK(loader.seconds_waited() == 0.0);
    loader.start_epoch(0);
    CHECK(drain(loader).size() == 2);
    CHECK(loader.seconds_waited() > 0.0);
    loader.start_epoch(1);
    CHECK(loader.seconds_waited() == 0.0);
  }
}

TEST_CASE("epoch_order is a permutation of its own for every seed and epoch") {
  std::vector<int64_t> plain(50);
  std::iota(plain.begin(), plain.end(), 0);
  CHECK(epoch_order(50, false, 1, 2) == plain);
  std::set<std::vector<int64_t>> seen;
  for (uint64_t seed = 0; seed < 3; ++seed) {
    for (int64_t epoch = 0; epoch < 3; ++epoch) {
      std::vector<int64_t> order = epoch_order(50, true, seed, epoch);
      CHECK(order == epoch_order(50, true, seed, epoch));
      seen.insert(order);
      std::sort(order.begin(), order.end());
      CHECK(order == plain);
    }
  }
  CHECK(seen.size() == 9);
  CHECK(epoch_order(0, true, 0, 0).empty());
}

TEST_CASE("epoch_order is uniform") {
  // How often each of 5 items comes first in 5,000 epochs: 1,000 each, standard deviation 28.
  std::vector<int> first(5, 0);
  for (int64_t epoch = 0; epoch < 5000; ++epoch) ++first[static_cast<size_t>(epoch_order(5, true, 3, epoch)[0])];
  for (const int count : first) CHECK(std::abs(count - 1000) < 150);
}

TEST_CASE("the batches are the same whatever the number of workers") {
  const ArrayDataset dataset = example();
  const auto batches = [&](int64_t workers, int64_t prefetch, int64_t first_batch) {
    PointLoaderOptions options{
        .batch_size = 3, .shuffle = true, .seed = 5, .workers = workers, .prefetch = prefetch, .transform = jitter};
    PointLoader loader(dataset, options);
    std::vector<PointBatch> all;
    for (int64_t epoch = 0; epoch < 2; ++epoch) {
      loader.start_epoch(epoch, first_batch);
      for (PointBatch& batch : drain(loader)) all.push_back(std::move(batch));
    }
    return all;
  };
  const std::vector<PointBatch> expected = batches(0, 4, 0);
  CHECK(expected.size() == 8);
  CHECK_FALSE(at::equal(expected[0].index, expected[4].index));
  for (const int64_t workers : {1, 3}) {
    for (const int64_t prefetch : {1, 4}) require_same(batches(workers, prefetch, 0), expected);
  }
  // Resumed at batch 2 of each epoch.
  for (const int64_t workers : {0, 2}) {
    require_same(batches(workers, 4, 2), {expected[2], expected[3], expected[6], expected[7]});
  }
}

TEST_CASE("batches are packed and say where they come from") {
  const ArrayDataset dataset = example();
  PointLoader loader(dataset, {.batch_size = 4, .transform = jitter});
  CHECK_FALSE(loader.next());
  CHECK(loader.batches_per_epoch() == 3);
  loader.start_epoch(0);
  const std::vector<PointBatch> batches = drain(loader);
  REQUIRE(batches.size() == 3);
  CHECK(batches[2].labels.size(0) == 2);
  test::require_equal(batches[1].index, at::arange(4, 8), "index");
  test::require_equal(batches[1].labels, at::arange(4, 8) % 3, "labels");
  CHECK(batches[1].ptr[0].item<int64_t>() == 0);
  CHECK(batches[1].ptr[4].item<int64_t>() == batches[1].points.size(0));
  CHECK(batches[1].normals.sizes() == batches[1].points.sizes());
  PointLoader full(dataset, {.batch_size = 4, .drop_last = true});
  CHECK(full.batches_per_epoch() == 2);
  full.start_epoch(0);
  CHECK(drain(full).size() == 2);
}

TEST_CASE("every item of every epoch has a seed of its own") {
  const ArrayDataset dataset = example();
  std::set<int64_t> seen;
  for (const uint64_t seed : {3, 4}) {
    PointLoader loader(dataset, {.batch_size = 4, .shuffle = true, .seed = seed});
    for (int64_t epoch = 0; epoch < 3; ++epoch) {
      loader.start_epoch(epoch);
      for (const PointBatch& batch : drain(loader)) {
        REQUIRE(batch.seeds.sizes() == batch.index.sizes());
        for (int64_t i = 0; i < batch.seeds.size(0); ++i) seen.insert(batch.seeds[i].item<int64_t>());
      }
    }
  }
  CHECK(seen.size() == 2 * 3 * 10);
}

TEST_CASE("a batch is transformed once its shapes are, by the thread that prepares it") {
  const ArrayDataset dataset = example();
  for (const int64_t workers : {0, 2}) {
    PointLoaderOptions options{.batch_size = 4, .shuffle = true, .seed = 5, .workers = workers, .transform = jitter};
    PointLoader plain(dataset, options);
    const auto caller = std::this_thread::get_id();
    options.batch_transform = [&](PointBatch batch) {
      if ((std::this_thread::get_id() == caller) != (workers == 0)) throw DataError("batch", "a worker", "the caller");
      batch.points = batch.points * batch.seeds[0].sign();
      return batch;
    };
    PointLoader changed(dataset, options);
    plain.start_epoch(1);
    changed.start_epoch(1);
    const std::vector<PointBatch> before = drain(plain), after = drain(changed);
    REQUIRE(after.size() == 3);
    for (size_t i = 0; i < after.size(); ++i) {
      test::require_equal(after[i].points, before[i].points * before[i].seeds[0].sign(), "points");
      CHECK(after[i].place.all == before[i].place.all);
    }
  }
}

TEST_CASE("what a worker throws arrives at its batch, and a new epoch starts afresh") {
  const ArrayDataset dataset = example();
  for (const int64_t workers : {0, 1, 3}) {
    std::atomic<bool> broken = true;
    PointLoaderOptions options{.batch_size = 2, .workers = workers};
    options.transform = [&](Shape shape, at::Generator&) {
      if (broken && shape.name == "5") throw DataError("5.obj", "a shape", "nothing");
      return shape;
    };
    PointLoader loader(dataset, options);
    loader.start_epoch(0);
    CHECK(loader.next());
    CHECK(loader.next());
    CHECK_THROWS_AS(loader.next(), DataError);
    CHECK_THROWS_AS(loader.next(), DataError);
    broken = false;
    loader.start_epoch(0);
    CHECK(drain(loader).size() == 5);
  }
}

TEST_CASE("a loader can be left in the middle of an epoch") {
  const ArrayDataset dataset = example(50);
  for (const int64_t workers : {1, 3}) {
    PointLoader loader(dataset, {.batch_size = 2, .shuffle = true, .workers = workers, .transform = jitter});
    for (int64_t epoch = 0; epoch < 5; ++epoch) {
      loader.start_epoch(epoch);
      const auto batch = loader.next();
      REQUIRE(batch);
      CHECK(batch->index[0].item<int64_t>() == epoch_order(50, true, 0, epoch)[0]);
    }
  }
}

TEST_CASE("batches are plain tensors, also for a caller in inference mode") {
  const ArrayDataset dataset = example();
  const c10::InferenceMode inference;
  for (const int64_t workers : {0, 1}) {
    PointLoader loader(dataset, {.batch_size = 2, .workers = workers, .transform = jitter});
    loader.start_epoch(0);
    CHECK_FALSE(loader.next()->points.is_inference());
  }
}

TEST_CASE("wrong options and wrong transforms are named") {
  const ArrayDataset dataset = example();
  test::require_error([&] { PointLoader(dataset, {.batch_size = 0}); }, {"batch_size", "0"});
  test::require_error([&] { PointLoader(dataset, {.workers = -1}); }, {"workers", "-1"});
  test::require_error([&] { PointLoader(dataset, {.prefetch = 0}); }, {"prefetch", "0"});
  PointLoader loader(dataset, {});
  test::require_error([&] { loader.start_epoch(-1); }, {"epoch", "-1"});
  test::require_error([&] { loader.start_epoch(0, 2); }, {"first_batch", "[0, 1]", "2"});
  const auto fails = [&](ShapeTransform transform, const std::vector<std::string>& words) {
    PointLoader broken(dataset, {.transform = std::move(transform)});
    broken.start_epoch(0);
    test::require_error([&] { broken.next(); }, words);
  };
  fails([](Shape s, at::Generator&) { return s.points = s.points.slice(0, 0, 0), s; }, {"points of 0", "n > 0"});
  fails([](Shape s, at::Generator&) { return s.points = s.points.to(at::kDouble), s; }, {"points of 0", "float32"});
  fails([](Shape s, at::Generator&) { return s.normals = s.normals.slice(0, 1), s; }, {"normals of 0"});
  fails([](Shape s, at::Generator&) { return s.name == "3" ? s.normals.reset() : void(), s; }, {"normals in all 10"});
}

TEST_CASE("shares of a loader make up its batches, each item once") {
  const ArrayDataset dataset = example();
  PointLoaderOptions options{.batch_size = 4, .shuffle = true, .seed = 5, .transform = jitter};
  PointLoader whole(dataset, options);
  whole.start_epoch(2);
  const std::vector<PointBatch> batches = drain(whole);
  REQUIRE(batches.size() == 3);  // of 4, 4 and 2
  std::vector<std::vector<PointBatch>> shares;
  for (int64_t part = 0; part < 3; ++part) {
    options.share = {part, 3};
    PointLoader loader(dataset, options);
    REQUIRE(loader.batches_per_epoch() == 3);
    loader.start_epoch(2);
    shares.push_back(drain(loader));
  }
  for (size_t b = 0; b < 3; ++b) {
    CHECK((batches[b].place.first == 0 && batches[b].place.count == batches[b].place.all && !batches[b].place.spare));
    std::vector<at::Tensor> points, index, seeds;
    for (const auto& share : shares) {
      REQUIRE(share.size() == 3);
      const BatchSlice& place = share[b].place;
      CHECK(place.all == batches[b].place.all);
      test::require_equal(share[b].index, batches[b].index.narrow(0, place.first, place.count), "index");
      if (place.spare) continue;
      points.push_back(share[b].points);
      index.push_back(share[b].index);
      seeds.push_back(share[b].seeds);
    }
    test::require_equal(at::cat(index), batches[b].index, "items");
    test::require_equal(at::cat(points), batches[b].points, "points, with the same transforms");
    test::require_equal(at::cat(seeds), batches[b].seeds, "seeds");
  }
  CHECK((shares[0][2].place.spare && !shares[1][2].place.spare && !shares[2][2].place.spare));
  options.share = {3, 3};
  require_error([&] { PointLoader(dataset, options); }, {"part", "[0, 3)", "3"});
}

}  // namespace geosft::test::test_point_loader
