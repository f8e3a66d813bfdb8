// SPDX-License-Identifier: Apache-2.0
#include "models/layers/relative_encoding.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "geometry/deterministic_scatter_sum.h"
#include "geometry/device_offsets.h"
#include "geometry/no_autocast.h"

namespace geosft {
namespace {

// Scales vectors [..., 3] to length 1. Those of length 0 remain, with a gradient of 0: a steep one would have to cancel
// with that of the other end.
at::Tensor unit_vectors(const at::Tensor& x) {
  const at::Tensor squared = x.square().sum(-1, /*keepdim=*/true), nonzero = squared > smallest_squared_distance;
  return x * at::where(nonzero, at::where(nonzero, squared, 1.0).rsqrt(), 0.0);
}

// Returns the products xx, yy, zz, xy, xz, yz of the components of vectors [..., 3].
at::Tensor products_of(const at::Tensor& x) {
  return at::cat({x.square(), x.narrow(-1, 0, 1) * x.narrow(-1, 1, 2), x.narrow(-1, 1, 1) * x.narrow(-1, 2, 1)}, -1);
}

}  // namespace

RelativeEncoding RelativeEncoding::points(at::Tensor coordinates, at::Tensor normals) {
  RelativeEncoding relative;
  relative.kind = RelativeEncodingKind::points;
  relative.coordinates = std::move(coordinates);
  relative.normals = std::move(normals);
  return relative;
}

RelativeEncoding RelativeEncoding::graph(at::Tensor rowptr, at::Tensor col, at::Tensor edge_attr) {
  RelativeEncoding relative;
  relative.kind = RelativeEncodingKind::graph;
  relative.rowptr = std::move(rowptr);
  relative.col = std::move(col);
  relative.edge_attr = std::move(edge_attr);
  return relative;
}

RelativeEncoding RelativeEncoding::molecules(const RelativeEncoding& graph, at::Tensor coordinates,
                                             int64_t distance_channels, double distance_range, bool with_angles) {
  RelativeEncoding relative = graph;
  relative.coordinates = coordinates.to(at::promote_types(coordinates.scalar_type(), at::kFloat));
  relative.distance_channels = distance_channels;
  relative.distance_range = distance_range;
  if (with_angles) relative.directions = edge_directions(relative.coordinates, graph.rowptr, graph.col);
  return relative;
}

RelativeEncoding RelativeEncoding::sequence(at::Tensor positions) {
  RelativeEncoding relative;
  relative.kind = RelativeEncodingKind::sequence;
  relative.positions = std::move(positions);
  return relative;
}

at::Tensor distance_features(const at::Tensor& squared_distance, int64_t channels, double range) {
  TORCH_CHECK(channels >= 1 && range > 0, "distance features need channels >= 1 and range > 0, got ", channels, " and ",
              range);
  std::vector<at::Tensor> features = {squared_distance / (range * range)};
  const double width = range / static_cast<double>(std::max<int64_t>(channels - 2, 1));
  const at::Tensor distance = (squared_distance + smallest_squared_distance).sqrt();
  for (int64_t i = 0; i + 1 < channels; ++i) {
    features.push_back((-((distance - width * static_cast<double>(i)) / width).square()).exp());
  }
  return at::stack(features, -1);
}

EdgeDirections edge_directions(const at::Tensor& coordinates, const at::Tensor& rowptr, const at::Tensor& col) {
  const int64_t nodes = rowptr.size(0) - 1, edges = col.size(0);
  const at::Tensor source = item_of_row_on_device(rowptr, edges, col.device());
  const at::Tensor along = unit_vectors(coordinates.index_select(0, col) - coordinates.index_select(0, source));
  const at::Tensor sums = deterministic_scatter_sum(at::cat({along, products_of(along)}, 1), source, nodes);
  const at::Tensor means = sums / at::diff(rowptr).to(sums.device()).clamp_min(1).unsqueeze(1);
  return {means.narrow(1, 0, 3), means.narrow(1, 3, 6)};
}

at::Tensor angle_features(const at::Tensor& queries, const EdgeDirections& query_directions, const at::Tensor& keys,
                          const EdgeDirections& key_directions) {
  const NoAutocast no_autocast;
  const at::Tensor line = unit_vectors(keys.unsqueeze(0) - queries.unsqueeze(1));
  const at::Tensor twice = at::tensor({1.0, 1.0, 1.0, 2.0, 2.0, 2.0}, line.options().requires_grad(false));
  const at::Tensor products = products_of(line) * twice;
  // Sums of products with one row for each line of a node.
  const auto of_nodes = [](const at::Tensor& lines, const at::Tensor& rows) {
    return lines.matmul(rows.unsqueeze(2)).squeeze(2);
  };
  const at::Tensor back = line.transpose(0, 1), products_back = products.transpose(0, 1);
  return at::stack({of_nodes(line, query_directions.mean), of_nodes(products, query_directions.products),
                    -of_nodes(back, key_directions.mean).t(), of_nodes(products_back, key_directions.products).t(),
                    query_directions.mean.matmul(key_directions.mean.t())},
                   -1);
}

at::Tensor sinusoids(int64_t n, int64_t width, const at::TensorOptions& options) {
  TORCH_CHECK(n >= 0 && width >= 1, "sinusoids need n >= 0 and width >= 1, got ", n, " and ", width);
  const auto wide = options.dtype(at::kDouble);
  const at::Tensor column = at::arange(width, wide);
  const at::Tensor exponent = at::floor(column / 2) / static_cast<double>(width);
  const at::Tensor angle = at::arange(n, wide).unsqueeze(1) / at::pow(10000.0, exponent).unsqueeze(0);
  const at::Tensor even = (at::remainder(column, 2) == 0).unsqueeze(0);
  return at::where(even, angle.sin(), angle.cos()).to(options.dtype(options.dtype()));  // names the default dtype
}

}  // namespace geosft
