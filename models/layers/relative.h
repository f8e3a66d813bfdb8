// SPDX-License-Identifier: Apache-2.0
// What relative encodings X_R are made of (SFT sections 4.3 and 5): carried along the tokens, sampled with them.
#pragma once

#include <ATen/ATen.h>

namespace geosft {

enum class RelativeKind { none, points, graph, sequence };

// The relative source of one packed batch; the members of its kind are defined, the others are not.
struct Relative {
  RelativeKind kind = RelativeKind::none;
  at::Tensor coordinates;  // points: [N, 3]
  at::Tensor normals;      // points: [N, 3], or undefined: X_R then has the squared distance alone
  at::Tensor rowptr, col;  // graph: CSR over packed nodes, int64 [N + 1] and [E]
  at::Tensor edge_attr;    // graph: [E, r], the channel of ones included
  at::Tensor positions;    // sequence: sinusoids [N, ds]

  static Relative none() { return {}; }
  static Relative points(at::Tensor coordinates, at::Tensor normals = {});
  static Relative graph(at::Tensor rowptr, at::Tensor col, at::Tensor edge_attr);
  static Relative sequence(at::Tensor positions);
};

// Sinusoids S [n, width], dtype of `options`: S[i, 2j] = sin(i / 10000^(j / width)), S[i, 2j + 1] the cosine.
at::Tensor sinusoids(int64_t n, int64_t width, const at::TensorOptions& options = {});

}  // namespace geosft
