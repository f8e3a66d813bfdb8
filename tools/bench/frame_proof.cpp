// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/frame_proof.h"

#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "models/layers/primal_mixing.h"
#include "models/layers/sparse_masks.h"
#include "models/layers/token_convolution.h"
#include "models/ops/primal_attention.h"
#include "models/theory/primal_frame.h"

namespace geosft::bench {
namespace {

// The operator's result for queries x, keys k and values v, all [n, channels], as single heads.
using OperatorCall = std::function<at::Tensor(const at::Tensor& x, const at::Tensor& keys, const at::Tensor& values)>;

struct ProvenMember {
  std::string name;
  PrimalFrame frame;
  OperatorCall attend;
  bool grid = false;  // needs an even number of keys and queries
};

// Calls primal_attention with one head.
at::Tensor attend(const at::Tensor& x, const at::Tensor& keys, const at::Tensor& values, double beta = 0,
                  const char* kernel = "softmax", int64_t factor = 1) {
  return primal_attention(x.unsqueeze(1), keys.unsqueeze(1), values.unsqueeze(1), at::scalar_tensor(beta, at::kDouble),
                          std::vector<int64_t>{factor}, kernel)
      .squeeze(1);
}

// Runs the operator over the unpooled keys. Each key gets the value of its group, so pooling returns the group's value.
OperatorCall pooled_call(double beta, int64_t factor) {
  return [=](const at::Tensor& x, const at::Tensor& keys, const at::Tensor& values) {
    return attend(x, keys, at::repeat_interleave(values, factor, 0).slice(0, 0, keys.size(0)), beta, "softmax", factor);
  };
}

// Runs the operator over what the frame's layer within the primal makes of queries and keys.
OperatorCall call_on_points(const PrimalFrame& frame) {
  return [frame](const at::Tensor& x, const at::Tensor& keys, const at::Tensor& values) {
    return attend(frame.points(x, keys), frame.points(keys, keys), values);
  };
}

// Standardises by the operator that bn_variance has.
OperatorCall standardized_call(double eps) {
  return [eps](const at::Tensor& x, const at::Tensor& keys, const at::Tensor& values) {
    const NormalizedHeads heads =
        normalized_by_keys(x.unsqueeze(1), keys.unsqueeze(1), eps, {{0, x.size(0)}, {0, keys.size(0)}});
    return attend(heads.q.squeeze(1), heads.k.squeeze(1), values);
  };
}

std::vector<ProvenMember> proven_members(const FrameProblem& p, const at::Tensor& line, const at::Tensor& square,
                                         const at::Tensor& skip) {
  constexpr double eps = 1e-6;
  const PrimalFrame softmax = softmax_frame(1 / std::sqrt(static_cast<double>(p.channels))), linear = linear_frame(eps);
  const auto by_features = [](double beta, const char* kernel) -> OperatorCall {
    return [=](const at::Tensor& x, const at::Tensor& keys, const at::Tensor& values) {
      return attend(x, keys, values, beta, kernel);
    };
  };
  // Keys and queries have different numbers of rows, so the grid is two rows high, and as wide as needed.
  PrimalFrame grid = softmax;
  grid.points = [square](const at::Tensor& x, const at::Tensor&) {
    return convolve_grid(x.unsqueeze(1), square.unsqueeze(0), 2, x.size(0) / 2).squeeze(1);
  };
  const PrimalFrame sequence = convolved(softmax, line);
  return {{"softmax", softmax, by_features(0, "softmax")},
          {"linear", linear, by_features(0, "linear")},
          {"bn", recentred(softmax, p.beta), by_features(p.beta, "softmax")},
          {"linear_bn", recentred(linear, p.beta), by_features(p.beta, "linear")},
          {"bn_variance", standardized(softmax, eps), standardized_call(eps)},
          {"sh", pooled(softmax, p.factor), pooled_call(0, p.factor)},
          {"bn_sh", recentred(pooled(softmax, p.factor), p.beta), pooled_call(p.beta, p.factor)},
          {"conv1d", sequence, call_on_points(sequence)},
          {"conv2d", grid, call_on_points(grid), /*grid=*/true},
          {"residual", with_skip(softmax, skip),
           [skip](const at::Tensor& x, const at::Tensor& keys, const at::Tensor& values) {
             return attend(x, keys, values) + at::matmul(x, skip);
           }}};
}

double largest_difference(const at::Tensor& a, const at::Tensor& b) {
  return (a - b).abs().max().item<double>();
}

// Solves a regression per query, each fitted to the pairs of its row of the mask. The operator gets all keys and the
// mask; the values of other pairs are noise, which it must not see.
FrameProof prove_sparse(const FrameProblem& p, const at::Tensor& keys, const at::Tensor& x, const at::Tensor& targets,
                        const at::Tensor& noise) {
  const PrimalFrame softmax = softmax_frame(1 / std::sqrt(static_cast<double>(p.channels)));
  const SparseMask mask = strided_mask({0, keys.size(0)}, 0);
  FrameProof proof{"sparse", 0, 0, 0, 0, 0};
  std::vector<at::Tensor> predictions;
  for (int64_t query = 0; query < x.size(0); ++query) {
    const int64_t row = query % keys.size(0);
    const at::Tensor seen =
        mask.col.slice(0, mask.rowptr[row].item<int64_t>(), mask.rowptr[row + 1].item<int64_t>()).contiguous();
    const FittedFrame fitted(restricted(softmax, seen), keys, targets, p.regression);
    const at::Tensor one = x.slice(0, query, query + 1), predicted = fitted.predicted(one);
    const at::Tensor values = noise.index_copy(0, seen, fitted.values);
    const at::Tensor found =
        primal_attention(one.unsqueeze(1), keys.unsqueeze(1), values.unsqueeze(1), std::nullopt, std::nullopt,
                         "softmax", 1e-6, std::nullopt, std::nullopt, at::tensor({int64_t{0}, seen.size(0)}), seen)
            .squeeze(1);
    proof.pairs = std::max(proof.pairs, seen.size(0));
    proof.support_vectors = std::max(proof.support_vectors, fitted.regression.support_vectors());
    proof.by_frame = std::max(proof.by_frame, largest_difference(fitted.attended(one), predicted));
    proof.by_operator = std::max(proof.by_operator, largest_difference(found, predicted));
    predictions.push_back(predicted);
  }
  proof.spread = at::cat(predictions).std().item<double>();
  return proof;
}

}  // namespace

std::vector<FrameProof> prove_frame(const FrameProblem& p) {
  auto generator = at::make_generator<at::CPUGeneratorImpl>(p.seed);
  const auto normal = [&](int64_t rows, int64_t columns) {
    return at::randn({rows, columns}, generator, at::TensorOptions().dtype(at::kDouble));
  };
  const at::Tensor keys = normal(p.keys, p.channels), x = normal(p.queries, p.channels);
  const at::Tensor targets = at::matmul(keys, normal(p.channels, p.outputs)).sin();
  // Near the identity, as those of layers at initialisation, and a map that fits nothing.
  at::Tensor line = 0.3 * normal(1, p.window).squeeze(0), square = 0.3 * normal(p.window, p.window);
  line[(p.window - 1) / 2] += 1;
  square[(p.window - 1) / 2][(p.window - 1) / 2] += 1;
  const at::Tensor skip = 0.5 * normal(p.channels, p.outputs), noise = normal(p.keys, p.outputs);
  std::vector<FrameProof> proofs;
  for (const ProvenMember& member : proven_members(p, line, square, skip)) {
    const auto whole = [&](const at::Tensor& rows) {
      return member.grid ? rows.slice(0, 0, rows.size(0) - rows.size(0) % 2) : rows;
    };
    if (member.grid && std::min(p.keys, p.queries) < 2) continue;
    const at::Tensor of_keys = whole(keys), of_x = whole(x);
    const FittedFrame fitted(member.frame, of_keys, whole(targets), p.regression);
    const at::Tensor predicted = fitted.predicted(of_x);
    proofs.push_back({member.name, fitted.values.size(0), fitted.regression.support_vectors(),
                      predicted.std().item<double>(), largest_difference(fitted.attended(of_x), predicted),
                      largest_difference(member.attend(of_x, of_keys, fitted.values), predicted)});
  }
  proofs.push_back(prove_sparse(p, keys, x, targets, noise));
  return proofs;
}

}  // namespace geosft::bench
