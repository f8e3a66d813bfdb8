// SPDX-License-Identifier: Apache-2.0
// What relative encodings X_R are made of (SFT sections 4.3 and 5): carried along the tokens, sampled with them.
#pragma once

#include <ATen/ATen.h>

namespace geosft {

enum class RelativeKind { none, points, graph, sequence };

// The relative source of one packed batch; the members of its kind are defined, the others are not.
struct Relative {
  RelativeKind kind = RelativeKind::none;
  at::Tensor coordinates;         // points: [N, 3]; graph: of the nodes, or undefined: X_R then has the edges alone
  at::Tensor normals;             // points: [N, 3], or undefined: X_R then has the squared distance alone
  at::Tensor rowptr, col;         // graph: CSR over packed nodes, int64 [N + 1] and [E]
  at::Tensor edge_attr;           // graph: [E, r], the channel of ones included
  int64_t distance_channels = 0;  // graph with coordinates: further channels of X_R (distance_features)
  double distance_range = 1.0;    // the same, in the unit of the coordinates
  at::Tensor positions;           // sequence: sinusoids [N, ds]

  static Relative none() { return {}; }
  static Relative points(at::Tensor coordinates, at::Tensor normals = {});
  static Relative graph(at::Tensor rowptr, at::Tensor col, at::Tensor edge_attr);
  // Bonds and distances in one X_R. Takes n x k memory: for molecules, not for large graphs.
  static Relative molecules(const Relative& graph, at::Tensor coordinates, int64_t distance_channels,
                            double distance_range);
  static Relative sequence(at::Tensor positions);
};

// [..., channels] of squared distances d^2 [...], channels >= 1: (d / range)^2, then Gaussians of d of one width, their
// centres evenly from 0 to range > 0.
at::Tensor distance_features(const at::Tensor& squared_distance, int64_t channels, double range);

// Sinusoids S [n, width], dtype of `options`: S[i, 2j] = sin(i / 10000^(j / width)), S[i, 2j + 1] the cosine.
at::Tensor sinusoids(int64_t n, int64_t width, const at::TensorOptions& options = {});

}  // namespace geosft
