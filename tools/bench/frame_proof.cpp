// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/frame_proof.h"

#include <ATen/CPUGeneratorImpl.h>

#include <cmath>

#include "models/ops/primal_attention.h"
#include "models/theory/primal_frame.h"

namespace geosft::bench {
namespace {

struct ProvenMember {
  std::string name;
  PrimalFrame frame;
  double beta;
  int64_t factor;
  bool linear;
};

std::vector<ProvenMember> proven_members(const FrameProblem& p) {
  const PrimalFrame softmax = softmax_frame(1 / std::sqrt(static_cast<double>(p.channels))),
                    linear = linear_frame(1e-6);
  return {{"softmax", softmax, 0, 1, false},
          {"linear", linear, 0, 1, true},
          {"bn", recentred(softmax, p.beta), p.beta, 1, false},
          {"linear_bn", recentred(linear, p.beta), p.beta, 1, true},
          {"sh", pooled(softmax, p.factor), 0, p.factor, false},
          {"bn_sh", recentred(pooled(softmax, p.factor), p.beta), p.beta, p.factor, false}};
}

// Runs the operator over the unpooled keys. Each key gets the value of its group, so pooling returns the group's value.
at::Tensor operator_attention(const ProvenMember& member, const at::Tensor& x, const FittedFrame& fitted) {
  const at::Tensor values =
      at::repeat_interleave(fitted.values, member.factor, 0).slice(0, 0, fitted.keys.size(0)).unsqueeze(1);
  return primal_attention(x.unsqueeze(1), fitted.keys.unsqueeze(1), values, at::scalar_tensor(member.beta, at::kDouble),
                          std::vector<int64_t>{member.factor}, member.linear ? "linear" : "softmax")
      .squeeze(1);
}

}  // namespace

std::vector<FrameProof> prove_frame(const FrameProblem& p) {
  auto generator = at::make_generator<at::CPUGeneratorImpl>(p.seed);
  const auto normal = [&](int64_t rows, int64_t columns) {
    return at::randn({rows, columns}, generator, at::TensorOptions().dtype(at::kDouble));
  };
  const at::Tensor keys = normal(p.keys, p.channels), x = normal(p.queries, p.channels);
  const at::Tensor targets = at::matmul(keys, normal(p.channels, p.outputs)).sin();
  std::vector<FrameProof> proofs;
  for (const ProvenMember& member : proven_members(p)) {
    const FittedFrame fitted(member.frame, keys, targets, p.regression);
    const at::Tensor predicted = fitted.predicted(x);
    const auto largest = [&](const at::Tensor& attended) { return (attended - predicted).abs().max().item<double>(); };
    proofs.push_back({member.name, fitted.values.size(0), fitted.regression.support_vectors(),
                      predicted.std().item<double>(), largest(fitted.attended(x)),
                      largest(operator_attention(member, x, fitted))});
  }
  return proofs;
}

}  // namespace geosft::bench
