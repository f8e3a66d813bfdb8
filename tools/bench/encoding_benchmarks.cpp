// SPDX-License-Identifier: Apache-2.0
// Benchmarks the inputs of layers: surface normals and sinusoids.
#include <ATen/CPUGeneratorImpl.h>

#include "geometry/knn.h"
#include "geometry/normals.h"
#include "models/layers/relative_encoding.h"
#include "models/ops/point_tokens.h"
#include "tools/bench/attention_inputs.h"
#include "tools/bench/catalogue.h"

namespace geosft::bench {
namespace {

constexpr int64_t encoding_neighbours = 16;

// Samples points on unit spheres, packed: [items n, 3].
at::Tensor spheres(const Sizes& sizes) {
  const auto generator = at::make_generator<at::CPUGeneratorImpl>(sizes.seed);
  const at::Tensor points = normal({sizes.batch * sizes.tokens, 3}, generator);
  return points / points.norm(2, 1, /*keepdim=*/true);
}

// Returns the eigenvector of the smallest eigenvalue of each neighbourhood's covariance, with arbitrary sign: ours also
// makes the signs consistent.
at::Tensor composite_normals(const at::Tensor& points, const at::Tensor& ptr) {
  const at::Tensor index = std::get<0>(knn(points, points, encoding_neighbours, ptr, ptr));
  const at::Tensor near = points.to(at::kDouble).index_select(0, index.flatten()).view({-1, encoding_neighbours, 3});
  const at::Tensor offset = near - near.mean(1, /*keepdim=*/true);
  const at::Tensor vectors = std::get<1>(at::linalg_eigh(at::bmm(offset.transpose(1, 2), offset)));
  return vectors.select(2, 0).to(points.scalar_type());
}

Benchmark make_normals(const Sizes& sizes, const std::string& name) {
  const at::Tensor points = spheres(sizes), ptr = equal_offsets(sizes.batch, sizes.tokens);
  Benchmark benchmark{name, {}};
  benchmark.implementations = {
      {"geosft", [=] { return Tensors{estimate_normals(points, encoding_neighbours, ptr)}; }},
      {"knn + linalg_eigh, no orientation", [=] { return Tensors{composite_normals(points, ptr)}; }}};
  return benchmark;
}

Benchmark make_sinusoids(const Sizes& sizes, const std::string& name) {
  Benchmark benchmark{name, {}};
  benchmark.implementations = {
      {"geosft", [=] { return Tensors{sinusoids(sizes.tokens, sizes.width, at::TensorOptions().dtype(at::kFloat))}; }}};
  return benchmark;
}

Benchmark make_tokens(const Sizes& sizes, const std::string& name) {
  const at::Tensor points = spheres(sizes), ptr = equal_offsets(sizes.batch, sizes.tokens);
  Benchmark benchmark{name, {}};
  benchmark.implementations = {
      {"geosft", [=] { return Tensors{point_tokens(PointTokens::local, points, points, ptr)}; }}};
  return benchmark;
}

}  // namespace

Entries encoding_entries(const Sizes& sizes) {
  return {{"estimate_normals", "oriented normals of points on spheres, 16 neighbours",
           [=] { return make_normals(sizes, "estimate_normals"); }},
          {"sinusoids", "of one item's tokens", [=] { return make_sinusoids(sizes, "sinusoids"); }},
          {"point_tokens", "neighbourhood tokens of points with normals",
           [=] { return make_tokens(sizes, "point_tokens"); }}};
}

}  // namespace geosft::bench
