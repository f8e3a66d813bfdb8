// SPDX-License-Identifier: Apache-2.0
// How far the gradient of polynomial attention is from that of softmax attention, through whole networks. The table:
//   test_models "[polynomial_errors]" -s | grep error
#include "tests/models/ops/polynomial_cases.h"

namespace geosft::test::test_polynomial_errors {
namespace {

constexpr int64_t kTokens = 160, kChannels = 8, kPrompt = 10;

struct Network {
  int64_t layers, heads;
  double largest_score;  // R, of every layer
  bool causal, cross_entropy;
};

// Layers y = x + attention(x W_Q, x W_K, x W_V) W_O over a prompt and tokens, and a loss; leaves are all of them.
struct Parameters {
  explicit Parameters(const Network& net) {
    const int64_t width = net.heads * kChannels;
    at::Generator random = generator(7);
    const auto leaf = [&](at::IntArrayRef shape, double deviation) {
      leaves.push_back((at::randn(shape, random, at::kDouble) * deviation).requires_grad_(true));
    };
    leaf({kPrompt, width}, 1);
    leaf({kTokens - kPrompt, width}, 1);
    for (int64_t w = 0; w < 4 * net.layers; ++w) leaf({width, width}, 1 / std::sqrt(static_cast<double>(width)));
    target = at::randn({kTokens, width}, random, at::kDouble);
    classes = at::randint(width, {kTokens}, random, at::kLong);
  }
  std::vector<at::Tensor> leaves;
  at::Tensor target, classes;
};

// Gradients of all leaves; a degree below 0 is softmax. `scales` are made by the first call, so that R is what it is.
std::vector<at::Tensor> gradients(const Network& net, const Parameters& p, int64_t degree,
                                  std::vector<double>& scales) {
  at::Tensor x = at::cat({p.leaves[0], p.leaves[1]});
  for (int64_t layer = 0; layer < net.layers; ++layer) {
    const auto map = [&](int64_t n) {
      return at::matmul(x, p.leaves[2 + 4 * layer + n]).view({kTokens, net.heads, -1});
    };
    const at::Tensor q = map(0), k = map(1), v = map(2);
    if (static_cast<int64_t>(scales.size()) == layer) {
      scales.push_back(net.largest_score / at::einsum("ihc,jhc->hij", {q, k}).abs().max().item<double>());
    }
    const PolynomialNumbers numbers{degree, scales[layer], net.causal};
    const Arguments a{{{"q", q}, {"k", k}, {"v", v}}};
    const at::Tensor mixed = degree < 0 ? slow_polynomial(numbers)(a) : fused_polynomial(numbers)(a);
    x = x + at::matmul(mixed.flatten(1), p.leaves[5 + 4 * layer]);
  }
  const at::Tensor loss =
      net.cross_entropy ? at::cross_entropy_loss(x, p.classes) : 0.5 * (x - p.target).square().sum();
  return torch::autograd::grad({loss}, p.leaves);
}

// The largest relative error of a leaf's gradient, in the norm.
double gradient_error(const Network& net, int64_t degree) {
  const Parameters parameters(net);
  std::vector<double> scales;
  const std::vector<at::Tensor> exact = gradients(net, parameters, -1, scales);
  const std::vector<at::Tensor> own = gradients(net, parameters, degree, scales);
  double error = 0;
  for (size_t i = 0; i < exact.size(); ++i) {
    error = std::max(error, ((own[i] - exact[i]).norm() / exact[i].norm()).item<double>());
  }
  return error;
}

}  // namespace

TEST_CASE("gradients through networks of polynomial attention are as exact as the degree", "[polynomial_errors]") {
  const std::map<int64_t, double> expected{{2, 5e-2}, {4, 1e-3}, {6, 3e-5}, {8, 4e-7}, {10, 4e-9}};
  for (const auto& [layers, heads] : {std::pair(1, 1), std::pair(2, 2), std::pair(4, 2)}) {
    for (const bool causal : {false, true}) {
      for (const bool cross_entropy : {false, true}) {
        for (const auto& [degree, order] : expected) {
          const double error = gradient_error({layers, heads, 1.0, causal, cross_entropy}, degree);
          INFO("layers " << layers << ", heads " << heads << (causal ? ", causal" : "")
                         << (cross_entropy ? ", cross entropy" : ", squares") << ", R 1, degree " << degree
                         << ": error " << error);
          CHECK(error < 3 * static_cast<double>(layers) * order);  // they add up over the layers
        }
      }
    }
  }
}

TEST_CASE("even degrees take larger scores at a larger degree", "[polynomial_errors]") {
  for (const auto& [largest_score, degree, most] :
       {std::tuple(0.5, 6, 1e-6), std::tuple(1.0, 10, 1e-6), std::tuple(2.0, 10, 1e-5)}) {
    const double error = gradient_error({1, 1, largest_score, false, false}, degree);
    INFO("layers 1, heads 1, squares, R " << largest_score << ", degree " << degree << ": error " << error);
    CHECK(error < most);
  }
}

}  // namespace geosft::test::test_polynomial_errors
