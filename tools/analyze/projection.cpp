// SPDX-License-Identifier: Apache-2.0
#include "tools/analyze/projection.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace geosft {
namespace {

constexpr int64_t max_rows = 5000;
constexpr int64_t exaggerated_rounds = 250;  // in which attraction is `exaggeration` times as strong
constexpr double exaggeration = 12.0;
constexpr int bisections = 60;

// Squared distances of all pairs of rows, [n, n], with infinity for a row and itself.
at::Tensor squared_distances(const at::Tensor& rows) {
  at::Tensor squared = at::cdist(rows, rows, 2.0, /*compute_mode=*/2).square();
  squared.fill_diagonal_(std::numeric_limits<double>::infinity());
  return squared;
}

// Probabilities of pairs, [n, n], whose rows have this perplexity before they are made symmetric.
at::Tensor pair_probabilities(const at::Tensor& rows, double perplexity) {
  const at::Tensor squared = squared_distances(rows);
  const double target = std::log(perplexity);  // entropy of each row
  const at::Tensor nearest = std::get<0>(squared.min(1, true));
  const at::Tensor apart = squared - nearest;  // the softmax does not change
  const at::Tensor typical = apart.masked_fill(apart.isinf(), 0.0).mean(1, true).clamp_min(1e-300);
  at::Tensor low = at::full_like(typical, -40.0), high = at::full_like(typical, 40.0), share;
  for (int i = 0; i < bisections; ++i) {
    const at::Tensor middle = (low + high) / 2;  // the logarithm of the precision, relative to the typical distance
    const at::Tensor logits = -apart * (middle.exp() / typical);
    share = logits.softmax(1);
    const at::Tensor entropy = -(share * share.clamp_min(1e-300).log()).sum(1, true);
    const at::Tensor too_wide = entropy > target;
    low = at::where(too_wide, middle, low);
    high = at::where(too_wide, high, middle);
  }
  return (share + share.t()) / (2.0 * static_cast<double>(rows.size(0)));
}

}  // namespace

at::Tensor principal_components(const at::Tensor& rows) {
  TORCH_CHECK(rows.dim() == 2 && rows.size(0) >= 2 && rows.size(1) >= 1, "rows: expected [n, d] with n >= 2, found ",
              rows.sizes());
  const at::NoGradGuard guard;
  const at::Tensor centred = rows.to(at::kDouble) - rows.to(at::kDouble).mean(0);
  const auto [value, vector] = at::linalg_eigh(centred.t().matmul(centred));
  const at::Tensor axes = vector.flip({1}).narrow(1, 0, std::min<int64_t>(2, vector.size(1)));
  const at::Tensor along = centred.matmul(axes);
  const at::Tensor largest = along.gather(0, along.abs().argmax(0, true));
  at::Tensor plane = at::zeros({rows.size(0), 2}, at::kDouble);
  plane.narrow(1, 0, axes.size(1)).copy_(along * at::where(largest < 0, -1.0, 1.0));
  return plane;
}

at::Tensor tsne_projection(const at::Tensor& rows, double perplexity, int64_t rounds) {
  const at::Tensor first = principal_components(rows);
  const int64_t n = rows.size(0);
  TORCH_CHECK(n >= 4 && n <= max_rows, "rows: t-SNE takes 4 … ", max_rows, ", found ", n);
  TORCH_CHECK(perplexity >= 1, "perplexity: expected 1 or more, got ", perplexity);
  const at::NoGradGuard guard;
  const at::Tensor p = pair_probabilities(rows.to(at::kDouble), std::min(perplexity, static_cast<double>(n - 1) / 3.0));
  at::Tensor y = first * (1e-4 / first.select(1, 0).std().clamp_min(1e-300));
  at::Tensor change = at::zeros_like(y), gains = at::ones_like(y);
  for (int64_t round = 0; round < rounds; ++round) {
    const bool early = round < exaggerated_rounds;
    const at::Tensor kernel = (1 + squared_distances(y)).reciprocal();  // 0 on the diagonal
    const at::Tensor weight = ((early ? exaggeration : 1.0) * p - kernel / kernel.sum()) * kernel;
    const at::Tensor gradient = 4 * (y * weight.sum(1, true) - weight.matmul(y));
    gains = at::where(gradient * change < 0, gains + 0.2, gains * 0.8).clamp_min(0.01);
    const double rate = std::max(static_cast<double>(n) / exaggeration / 4.0, 50.0);
    change = (early ? 0.5 : 0.8) * change - rate * gains * gradient;
    y = y + change;
    y = y - y.mean(0);
  }
  return y;
}

double neighbour_accuracy(const at::Tensor& rows, const at::Tensor& labels) {
  const at::NoGradGuard guard;
  const at::Tensor nearest = squared_distances(rows.to(at::kDouble)).argmin(1);
  return (labels.index_select(0, nearest) == labels).to(at::kDouble).mean().item<double>();
}

}  // namespace geosft
