// SPDX-License-Identifier: Apache-2.0
// Benchmarks farthest point sampling and nearest neighbours against straightforward implementations.
#include <ATen/CPUGeneratorImpl.h>

#include "geometry/farthest_point_sampling.h"
#include "geometry/knn.h"
#include "tools/bench/attention_inputs.h"
#include "tools/bench/catalogue.h"
#include "tools/bench/composites.h"

namespace geosft::bench {
namespace {

constexpr int64_t neighbours = 16;

// Samples points uniformly in the unit cube.
at::Tensor random_cloud(int64_t points, uint64_t seed) {
  const auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  return at::rand({points, 3}, generator, at::TensorOptions().dtype(at::kFloat));
}

at::Tensor as_it_is(const at::Tensor& result) {
  return result;
}

Benchmark make_farthest(int64_t n, int64_t m, uint64_t seed, const std::string& name) {
  const at::Tensor points = random_cloud(n, seed);
  Benchmark benchmark{name, {}};
  benchmark.implementations = {
      {"geosft", [=] { return Tensors{farthest_point_sampling(points, m)}; }},
      {"O(n m) loop", [=] { return Tensors{plain_farthest_points(points, m)}; }, {}, as_it_is}};
  return benchmark;
}

Benchmark make_knn(int64_t n, uint64_t seed, const std::string& name) {
  const at::Tensor points = random_cloud(n, seed);
  Benchmark benchmark{name, {}};
  benchmark.implementations = {
      {"geosft", [=] { return Tensors{std::get<1>(knn(points, points, neighbours))}; }},
      {"nanoflann", [=] { return Tensors{plain_neighbour_distances(points, neighbours)}; }, {}, as_it_is}};
  return benchmark;
}

}  // namespace

Entries neighbour_entries(const Sizes& sizes) {
  Entries entries;
  const uint64_t seed = sizes.seed;
  for (const auto& [n, m] : {std::pair<int64_t, int64_t>{1024, 256}, {4096, 1024}, {100000, 1024}}) {
    const std::string name = "farthest_point_sampling/" + std::to_string(n) + "to" + std::to_string(m);
    entries.push_back({name, "of uniform points", [=, n = n, m = m] { return make_farthest(n, m, seed, name); }});
  }
  for (const int64_t n : {10000, 100000}) {
    const std::string name = "knn/k" + std::to_string(neighbours) + "/" + std::to_string(n);
    entries.push_back(
        {name, "of all points among all points, the tree included", [=] { return make_knn(n, seed, name); }});
  }
  return entries;
}

}  // namespace geosft::bench
