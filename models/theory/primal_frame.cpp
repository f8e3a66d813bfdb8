// SPDX-License-Identifier: Apache-2.0
#include "models/theory/primal_frame.h"

#include <utility>

#include "models/layers/token_convolution.h"
#include "models/ops/primal_heads.h"

namespace geosft {
namespace {

at::Tensor pairs_of(const PrimalFrame& frame, const at::Tensor& rows) {
  return frame.pairs ? frame.pairs(rows) : rows;
}

at::Tensor points_of(const PrimalFrame& frame, const at::Tensor& x, const at::Tensor& pairs) {
  return frame.points ? frame.points(x, pairs) : x;
}

// phi(x) . phi(k_j) for all pairs, and h(x), with the keys of the pairs.
struct Features {
  at::Tensor products, normalizer;  // [n, m] and [n]
};
Features features_of(const PrimalFrame& frame, const at::Tensor& x, const at::Tensor& pairs) {
  const at::Tensor from = points_of(frame, x, pairs), to = points_of(frame, pairs, pairs);
  const at::Tensor products = frame.features(from, to);
  return {products, frame.normalizer ? frame.normalizer(from, to) : products.sum(1)};
}

// The kernel between x and the pairs: products divided by the normalisers of rows and columns.
at::Tensor kernel_of(const PrimalFrame& frame, const at::Tensor& x, const at::Tensor& pairs) {
  const Features at_x = features_of(frame, x, pairs), at_pairs = features_of(frame, pairs, pairs);
  return at_x.products / at_x.normalizer.unsqueeze(1) / at_pairs.normalizer;
}

// Adds the residual connection, if there is one.
at::Tensor plus_skip(const PrimalFrame& frame, const at::Tensor& x, const at::Tensor& result) {
  return frame.skip.defined() ? result + at::matmul(x, frame.skip) : result;
}

// Returns what the attention has to fit of the targets of the pairs.
at::Tensor fitted_targets(const PrimalFrame& frame, const at::Tensor& keys, const at::Tensor& targets) {
  const at::Tensor all = pairs_of(frame, targets);
  return frame.skip.defined() ? all - at::matmul(pairs_of(frame, keys), frame.skip) : all;
}

}  // namespace

PrimalFrame softmax_frame(double scale) {
  return {[scale](const at::Tensor& x, const at::Tensor& y) { return (at::matmul(x, y.t()) * scale).exp(); }};
}

PrimalFrame linear_frame(double eps) {
  const auto phi = [](const at::Tensor& x) { return at::elu(x) + 1; };
  const auto features = [phi](const at::Tensor& x, const at::Tensor& y) { return at::matmul(phi(x), phi(y).t()); };
  return {features,
          [features, eps](const at::Tensor& x, const at::Tensor& keys) { return features(x, keys).sum(1) + eps; }};
}

PrimalFrame recentred(PrimalFrame frame, double beta) {
  frame.points = [beta](const at::Tensor& x, const at::Tensor& keys) { return x - beta * keys.mean(0); };
  return frame;
}

PrimalFrame pooled(PrimalFrame frame, int64_t factor) {
  frame.pairs = [factor](const at::Tensor& rows) {
    const PooledRows groups({0, rows.size(0)}, factor);
    return segment_sums(rows, groups.groups) / segment_sizes(groups.groups, rows).squeeze(2);
  };
  return frame;
}

PrimalFrame standardized(PrimalFrame frame, double eps) {
  frame.points = [eps](const at::Tensor& x, const at::Tensor& keys) {
    return (x - keys.mean(0)) / (keys.var(0, /*unbiased=*/false) + eps).sqrt();
  };
  return frame;
}

PrimalFrame convolved(PrimalFrame frame, const at::Tensor& weight) {
  frame.points = [weight](const at::Tensor& x, const at::Tensor&) {
    return convolve_sequence(x.unsqueeze(1), weight.unsqueeze(0), {0, x.size(0)}).squeeze(1);
  };
  return frame;
}

PrimalFrame convolved_on_grid(PrimalFrame frame, const at::Tensor& weight, int64_t height, int64_t width) {
  frame.points = [weight, height, width](const at::Tensor& x, const at::Tensor&) {
    return convolve_grid(x.unsqueeze(1), weight.unsqueeze(0), height, width).squeeze(1);
  };
  return frame;
}

PrimalFrame restricted(PrimalFrame frame, const at::Tensor& chosen) {
  frame.pairs = [chosen](const at::Tensor& rows) { return rows.index_select(0, chosen); };
  return frame;
}

PrimalFrame with_skip(PrimalFrame frame, const at::Tensor& skip) {
  frame.skip = skip;
  return frame;
}

at::Tensor frame_attention(const PrimalFrame& frame, const at::Tensor& queries, const at::Tensor& keys,
                           const at::Tensor& values) {
  const Features features = features_of(frame, queries, pairs_of(frame, keys));
  return at::matmul(features.products / features.normalizer.unsqueeze(1), values);
}

at::Tensor frame_kernel(const PrimalFrame& frame, const at::Tensor& x, const at::Tensor& keys) {
  return kernel_of(frame, x, pairs_of(frame, keys));
}

FittedFrame::FittedFrame(PrimalFrame primal_frame, const at::Tensor& given_keys, const at::Tensor& targets,
                         const RegressionOptions& options)
    : frame(std::move(primal_frame)),
      keys(given_keys),
      regression(frame_kernel(frame, pairs_of(frame, keys), keys), fitted_targets(frame, keys, targets), options) {
  const at::Tensor pairs = pairs_of(frame, keys);
  values = regression.dual() / features_of(frame, pairs, pairs).normalizer.unsqueeze(1);
}

at::Tensor FittedFrame::predicted(const at::Tensor& x) const {
  return plus_skip(frame, x, regression.predict(frame_kernel(frame, x, keys)) - regression.bias());
}

at::Tensor FittedFrame::attended(const at::Tensor& x) const {
  return plus_skip(frame, x, frame_attention(frame, x, keys, values));
}

}  // namespace geosft
