// SPDX-License-Identifier: Apache-2.0
// Holds what the relative encodings X_R of an attention are computed from (SFT sections 4.3 and 5), per packed token.
#pragma once

#include <ATen/ATen.h>

namespace geosft {

enum class RelativeEncodingKind { none, points, graph, sequence };

// The directions u of the edges of each node, which have length 1: averages over its edges, 0 for a node without edges.
struct EdgeDirections {
  at::Tensor mean;      // of u, [N, 3]
  at::Tensor products;  // of the products of two components of u: xx, yy, zz, xy, xz, yz, [N, 6]
};

// The relative encoding of one packed batch. Only the members of its kind are defined. Layers check shapes and dtypes,
// not that numbers are finite: a NaN here reaches the rows that see its point or edge. Models check points and normals.
struct RelativeEncoding {
  RelativeEncodingKind kind = RelativeEncodingKind::none;
  at::Tensor coordinates;         // points: [N, 3]; graph: of the nodes, or undefined if X_R has only edges
  at::Tensor normals;             // points: [N, 3], or undefined if X_R is only the squared distance
  at::Tensor rowptr, col;         // graph: CSR over packed nodes, int64 [N + 1] and [E]
  at::Tensor edge_attr;           // graph: [E, r], including the channel of ones
  int64_t distance_channels = 0;  // graph with coordinates: further channels of X_R (distance_features)
  double distance_range = 1.0;    // the same, in the unit of the coordinates
  EdgeDirections directions;      // the same, or undefined: further channels of X_R (angle_features)
  at::Tensor positions;           // sequence: sinusoids [N, ds]

  static RelativeEncoding none() { return {}; }
  static RelativeEncoding points(at::Tensor coordinates, at::Tensor normals = {});
  static RelativeEncoding graph(at::Tensor rowptr, at::Tensor col, at::Tensor edge_attr);
  // Combines edges, distances and angles in one X_R. Coordinates of 16 bits are widened to float32. Takes n x k memory:
  // for molecules, not for large graphs.
  static RelativeEncoding molecules(const RelativeEncoding& graph, at::Tensor coordinates, int64_t distance_channels,
                                    double distance_range, bool with_angles = false);
  static RelativeEncoding sequence(at::Tensor positions);
};

// Keeps the gradient of a distance of 0 finite.
inline constexpr double smallest_squared_distance = 1e-12;

// Returns features [..., channels] of squared distances d^2 [...], channels >= 1: (d / range)^2, then Gaussians of d of
// equal width with evenly spaced centres from 0 to range > 0.
at::Tensor distance_features(const at::Tensor& squared_distance, int64_t channels, double range);

// Returns the directions of the edges rowptr int64 [N + 1] and col int64 [E] between nodes with coordinates [N, 3].
// Differentiable in the coordinates; sums in a fixed order. The direction of an edge of length 0 is 0, and so is its
// gradient.
EdgeDirections edge_directions(const at::Tensor& coordinates, const at::Tensor& rowptr, const at::Tensor& col);

inline constexpr int64_t angle_channels = 5;
// Returns features [n, k, angle_channels] of n queries and k keys, which are nodes with coordinates [n, 3] and [k, 3].
// Means over the edges: of the cosine of the angle between an edge of the query and the line to the key, and of its
// square; the same for the edges of the key and the line back; and of the cosine of the angle between an edge of the
// query and one of the key.
at::Tensor angle_features(const at::Tensor& queries, const EdgeDirections& query_directions, const at::Tensor& keys,
                          const EdgeDirections& key_directions);

// Returns sinusoids S [n, width], dtype of `options` or default: S[i, 2j] = sin(i / 10000^(j / width)), S[i, 2j + 1] =
// cos.
at::Tensor sinusoids(int64_t n, int64_t width, const at::TensorOptions& options = {});

}  // namespace geosft
