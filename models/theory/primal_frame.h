// SPDX-License-Identifier: Apache-2.0
// Derives attentions from support vector regression, the frame of the primal-dual family ("A Primal-Dual Framework for
// Transformers and Neural Networks", section 2). A regressor
//   f(x) = W phi(x) / h(x) + b
// is fitted to pairs of keys and targets (k_j, y_j) by epsilon-insensitive support vector regression. Its dual gives
// numbers alpha_j, and the solution is attention over the keys,
//   f(x) = sum_j [phi(x) . phi(k_j) / h(x)] v_j + b,   v_j = alpha_j / h(k_j)
// so a feature map phi, a normaliser h and the choice of pairs define an attention.
#pragma once

#include <ATen/ATen.h>

#include <functional>

#include "models/theory/support_vector_regression.h"

namespace geosft {

struct PrimalFrame {
  // phi(x_i) . phi(y_j) for rows x [n, c] and y [m, c]: [n, m], not negative.
  std::function<at::Tensor(const at::Tensor& x, const at::Tensor& y)> features;
  // h(x_i) [n] given the keys [m, c] that the regressor is fitted to. Absent: sum_j phi(x) . phi(k_j).
  std::function<at::Tensor(const at::Tensor& x, const at::Tensor& keys)> normalizer = {};
  // The pairs that the regressor is fitted to, from rows [N, …] of keys or of targets, the same for both. Absent: all.
  std::function<at::Tensor(const at::Tensor& rows)> pairs = {};
  // What phi is applied to, from x [n, c] and the keys [m, c]: a layer within the primal. Absent: x.
  std::function<at::Tensor(const at::Tensor& x, const at::Tensor& keys)> points = {};
  // A fixed linear map [c, d] of a residual connection: f(x) = W phi(x) / h(x) + x skip + b. Its dual is that of the
  // frame without it for the targets y_j - k_j skip. Absent: none.
  at::Tensor skip = {};
};

// Return members of the family. scale: of the scalar product, usually 1 / sqrt(c); eps: added to h.
PrimalFrame softmax_frame(double scale);
PrimalFrame linear_frame(double eps = 0.0);
// Returns the frame recentred by beta times the mean of the keys (Attention-BN).
PrimalFrame recentred(PrimalFrame frame, double beta);
// Returns the frame fitted to the means of groups of `factor` neighbouring pairs (a head of Attention-SH).
PrimalFrame pooled(PrimalFrame frame, int64_t factor);
// Returns the frame standardised by the mean and the deviation of the keys, sqrt(variance + eps) (definition 1 in
// full).
PrimalFrame standardized(PrimalFrame frame, double eps);
// Returns the frame convolved along the rows with one kernel for all channels (Attention-Conv1D): weight [s]. Rows x
// are a sequence.
PrimalFrame convolved(PrimalFrame frame, const at::Tensor& weight);
// Returns the same on a grid of height x width rows, row-major (Attention-Conv2D): weight [s, s].
PrimalFrame convolved_on_grid(PrimalFrame frame, const at::Tensor& weight, int64_t height, int64_t width);
// Returns the frame fitted to the pairs `rows` alone, int64 [m]: what one query of sparse attention sees.
PrimalFrame restricted(PrimalFrame frame, const at::Tensor& rows);
// Returns the frame with a residual connection that adds `skip`.
PrimalFrame with_skip(PrimalFrame frame, const at::Tensor& skip);

// Returns the attention of the frame, without a residual connection: queries [n, c], keys [N, c], values [N_s, cv], one
// for each pair that the frame selects from the keys; result [n, cv].
at::Tensor frame_attention(const PrimalFrame& frame, const at::Tensor& queries, const at::Tensor& keys,
                           const at::Tensor& values);

// Returns K(x, k_j) = phi(x) . phi(k_j) / (h(x) h(k_j)) for the pairs that the frame makes of `keys`: [n, N_s].
at::Tensor frame_kernel(const PrimalFrame& frame, const at::Tensor& x, const at::Tensor& keys);

// The regressor of the frame, fitted to keys [N, c] and targets [N, d], float64.
struct FittedFrame {
  FittedFrame(PrimalFrame frame, const at::Tensor& keys, const at::Tensor& targets,
              const RegressionOptions& options = {});

  // Returns LIBSVM's prediction at x [n, c] minus its bias; and the same computed as attention over the keys. Both
  // include the residual connection.
  at::Tensor predicted(const at::Tensor& x) const;
  at::Tensor attended(const at::Tensor& x) const;

  PrimalFrame frame;
  at::Tensor keys;  // as passed to the constructor
  SupportVectorRegression regression;
  at::Tensor values;  // v_j of every pair, [N_s, d]
};

}  // namespace geosft
