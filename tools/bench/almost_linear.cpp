// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/almost_linear.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>

#include "models/ops/polynomial_attention.h"
#include "models/ops/polynomial_degree.h"
#include "tools/bench/benchmark.h"

namespace geosft::bench {
namespace {

struct SelfAttention {
  SelfAttention(const AlmostLinearOptions& options, int64_t n, int64_t channels) {
    at::Generator random = at::make_generator<at::CPUGeneratorImpl>(options.seed + static_cast<uint64_t>(n));
    const auto leaf = [&](int64_t height, double deviation) {
      return (at::randn({height, channels}, random, at::kDouble) * deviation).requires_grad_(true);
    };
    const double deviation = 1 / std::sqrt(static_cast<double>(channels));
    x = leaf(n, 1);
    w_q = leaf(channels, deviation);
    w_k = leaf(channels, deviation);
    w_v = leaf(channels, deviation);
    grad_output = at::randn({n, channels}, random, at::kDouble);
    rows =
        n <= options.exact_tokens ? at::arange(n) : at::randperm(n, random, at::kLong).slice(0, 0, options.read_rows);
    const double product = polynomial_score_bound(query().detach(), key().detach(), 1.0).item<double>();
    scale = options.largest_score / product;
  }

  at::Tensor query() const { return at::matmul(x, w_q).unsqueeze(1); }  // [n, 1, d]
  at::Tensor key() const { return at::matmul(x, w_k).unsqueeze(1); }
  at::Tensor value() const { return at::matmul(x, w_v).unsqueeze(1); }

  // Returns the rows that the loss reads and its gradients in x, w_q, w_k and w_v.
  Tensors gradients(const at::Tensor& read) const {
    Tensors all = torch::autograd::grad({read}, {x, w_q, w_k, w_v}, {grad_output.index_select(0, rows)});
    all.insert(all.begin(), read.detach());
    return all;
  }

  at::Tensor x, w_q, w_k, w_v, grad_output, rows;
  double scale = 1;
};

at::Tensor exact_rows(const SelfAttention& net) {
  const at::Tensor q = net.query().squeeze(1).index_select(0, net.rows);
  return at::matmul(at::softmax(at::matmul(q, net.key().squeeze(1).t()) * net.scale, 1), net.value().squeeze(1));
}

at::Tensor polynomial_rows(const SelfAttention& net, int64_t degree) {
  return polynomial_attention(net.query(), net.key(), net.value(), degree, net.scale)
      .squeeze(1)
      .index_select(0, net.rows);
}

AlmostLinearErrors errors_between(const Tensors& ours, const Tensors& exact) {
  const auto error = [&](size_t i) { return ((ours[i] - exact[i]).norm() / exact[i].norm()).item<double>(); };
  return {.out = error(0), .x = error(1), .w_q = error(2), .w_k = error(3), .w_v = error(4)};
}

std::vector<Timing> timings(const SelfAttention& net, int64_t degree, bool with_exact, const TimingOptions& options) {
  const auto leaf = [](const at::Tensor& of) { return of.detach().clone().requires_grad_(true); };
  const at::Tensor q = leaf(net.query()), k = leaf(net.key()), v = leaf(net.value());
  const double scale = net.scale;
  const auto polynomial = measured_pass(Pass::both, {q, k, v}, net.grad_output.unsqueeze(1),
                                        [=] { return polynomial_attention(q, k, v, degree, scale); });
  std::vector<std::function<void()>> calls{[polynomial] { polynomial(); }};
  if (with_exact) {
    // [batch, heads, tokens, channels], as LibTorch takes them.
    const auto arranged = [&](const at::Tensor& of) { return leaf(of.permute({1, 0, 2}).unsqueeze(0)); };
    const at::Tensor eq = arranged(q), ek = arranged(k), ev = arranged(v);
    const auto exact =
        measured_pass(Pass::both, {eq, ek, ev}, net.grad_output.view({1, 1, eq.size(2), eq.size(3)}),
                      [=] { return at::scaled_dot_product_attention(eq, ek, ev, std::nullopt, 0.0, false, scale); });
    calls.emplace_back([exact] { exact(); });
  }
  return time_in_turns(calls, options);
}

AlmostLinearPoint measure_point(const AlmostLinearOptions& options, int64_t n, const TimingOptions& timing) {
  AlmostLinearPoint point;
  point.tokens = n;
  point.channels = std::max<int64_t>(1, std::llround(options.channels_per_log * std::log2(static_cast<double>(n))));
  const PolynomialDegree chosen = choose_polynomial_degree(
      options.largest_score, point.channels, {.tolerance = 1 / static_cast<double>(n), .dtype = at::kDouble});
  point.degree = chosen.degree;
  point.monomials = chosen.monomials;
  point.bound = chosen.error;
  const SelfAttention net(options, n, point.channels);
  point.rows = net.rows.size(0);
  point.errors = errors_between(net.gradients(polynomial_rows(net, point.degree)), net.gradients(exact_rows(net)));
  const std::vector<Timing> times = timings(net, point.degree, n <= options.exact_tokens, timing);
  point.polynomial = times.front();
  if (times.size() > 1) point.exact = times.back();
  return point;
}

}  // namespace

std::vector<AlmostLinearPoint> measure_almost_linear(const AlmostLinearOptions& options, const TimingOptions& timing,
                                                     const std::function<void(int64_t)>& progress) {
  std::vector<AlmostLinearPoint> points;
  for (int64_t n = options.min_tokens; n <= options.max_tokens; n *= 2) {
    progress(n);
    points.push_back(measure_point(options, n, timing));
  }
  return points;
}

}  // namespace geosft::bench
