// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/polynomial_errors.h"

#include <ATen/CPUGeneratorImpl.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "models/ops/low_rank_gradient.h"
#include "models/ops/polynomial_attention.h"
#include "tools/bench/benchmark.h"

namespace geosft::bench {
namespace {

constexpr int64_t kErrorTokens = 160, kErrorPrompt = 10;
constexpr size_t first_weight = 2;  // among the leaves: prompt, tokens, then the weights of each layer

// The weights of a layer in their order: W_Q, W_K, W_V, W_O and, with a feed-forward part, W_1, W_2.
size_t weights_per_layer(const ErrorNetwork& network) {
  return network.feed_forward ? 6 : 4;
}

struct ErrorParameters {
  explicit ErrorParameters(const ErrorNetwork& network) {
    const int64_t width = network.heads * network.channels;
    at::Generator random = at::make_generator<at::CPUGeneratorImpl>(7);
    const auto leaf = [&](at::IntArrayRef shape, double deviation) {
      leaves.push_back((at::randn(shape, random, at::kDouble) * deviation).requires_grad_(true));
    };
    leaf({kErrorPrompt, width}, 1);
    leaf({kErrorTokens - kErrorPrompt, width}, 1);
    const double deviation = 1 / std::sqrt(static_cast<double>(width));
    for (int64_t layer = 0; layer < network.layers; ++layer) {
      for (int64_t w = 0; w < 4; ++w) leaf({width, width}, deviation);
      if (!network.feed_forward) continue;
      leaf({width, 4 * width}, deviation);
      leaf({4 * width, width}, deviation / 2);
    }
    target = at::randn({kErrorTokens, width}, random, at::kDouble);
    classes = at::randint(width, {kErrorTokens}, random, at::kLong);
    mean = at::randn({width}, random, at::kDouble) * network.mean;
  }
  std::vector<at::Tensor> leaves;
  at::Tensor target, classes, mean;
};

at::Tensor softmax_of_all(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, double scale, bool causal) {
  at::Tensor score = at::einsum("ihc,jhc->hij", {q, k}) * scale;
  if (causal) {
    score = score.masked_fill(at::ones_like(score, at::kBool).tril().logical_not(),
                              -std::numeric_limits<double>::infinity());
  }
  return at::einsum("hij,jhc->ihc", {score.softmax(-1), v});
}

using AttentionOfAll = std::function<at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&, double)>;

AttentionOfAll polynomial_of_all(const ErrorNetwork& network, int64_t degree, PolynomialGradient gradient) {
  const auto attention = gradient == PolynomialGradient::paper ? polynomial_attention_low_rank : polynomial_attention;
  return [=, causal = network.causal, center = network.center](const at::Tensor& q, const at::Tensor& k,
                                                               const at::Tensor& v, double scale) {
    return attention(q, k, v, degree, scale, causal, std::nullopt, std::nullopt, center);
  };
}

// Returns the output, then the gradients of all leaves. Without `attention`, uses softmax and sets `scales`; this call
// must come first.
Tensors run_network(const ErrorNetwork& network, const ErrorParameters& p, const AttentionOfAll& attention,
                    std::vector<double>& scales) {
  at::Tensor x = at::cat({p.leaves[0], p.leaves[1]}) + p.mean;
  const auto normalised = [&] { return network.feed_forward ? at::layer_norm(x, {x.size(1)}) : x; };
  for (int64_t layer = 0; layer < network.layers; ++layer) {
    const size_t at = first_weight + weights_per_layer(network) * static_cast<size_t>(layer);
    const at::Tensor input = normalised();
    const auto map = [&](size_t n) {
      return at::matmul(input, p.leaves[at + n]).view({kErrorTokens, network.heads, -1});
    };
    const at::Tensor q = map(0), k = map(1), v = map(2);
    if (!attention) {
      scales.push_back(network.largest_score / at::einsum("ihc,jhc->hij", {q, k}).abs().max().item<double>());
    }
    const double scale = scales[static_cast<size_t>(layer)];
    const at::Tensor mixed = attention ? attention(q, k, v, scale) : softmax_of_all(q, k, v, scale, network.causal);
    x = x + at::matmul(mixed.flatten(1), p.leaves[at + 3]);
    if (network.feed_forward) {
      x = x + at::matmul(at::gelu(at::matmul(normalised(), p.leaves[at + 4])), p.leaves[at + 5]);
    }
  }
  const at::Tensor loss =
      network.cross_entropy ? at::cross_entropy_loss(x, p.classes) : 0.5 * (x - p.target).square().sum();
  Tensors pass = torch::autograd::grad({loss}, p.leaves);
  pass.insert(pass.begin(), x.detach());
  return pass;
}

// Returns the maximum of two errors; unlike std::max it propagates NaN.
double larger(double a, double b) {
  return std::isnan(a) || a >= b ? a : b;
}

}  // namespace

double NetworkErrors::largest_gradient() const {
  double largest = x;
  for (const double error : {prompt, w_q, w_k, w_v, w_o, w_1, w_2}) largest = larger(largest, error);
  return largest;
}

void NetworkErrors::raise(const NetworkErrors& other) {
  for (const auto member :
       {&NetworkErrors::out, &NetworkErrors::x, &NetworkErrors::prompt, &NetworkErrors::w_q, &NetworkErrors::w_k,
        &NetworkErrors::w_v, &NetworkErrors::w_o, &NetworkErrors::w_1, &NetworkErrors::w_2}) {
    this->*member = larger(this->*member, other.*member);
  }
}

NetworkErrors network_errors(const ErrorNetwork& network, int64_t degree, PolynomialGradient gradient) {
  const ErrorParameters parameters(network);
  std::vector<double> scales;
  const Tensors exact = run_network(network, parameters, {}, scales);
  const Tensors ours = run_network(network, parameters, polynomial_of_all(network, degree, gradient), scales);
  const auto error = [&](size_t i) { return ((ours[i] - exact[i]).norm() / exact[i].norm()).item<double>(); };
  NetworkErrors errors{.out = error(0), .x = error(2), .prompt = error(1)};
  for (size_t i = 1 + first_weight; i < exact.size(); i += weights_per_layer(network)) {
    NetworkErrors layer{.w_q = error(i), .w_k = error(i + 1), .w_v = error(i + 2), .w_o = error(i + 3)};
    if (network.feed_forward) layer.w_1 = error(i + 4), layer.w_2 = error(i + 5);
    errors.raise(layer);
  }
  return errors;
}

}  // namespace geosft::bench
