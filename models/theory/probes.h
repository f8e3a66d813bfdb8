// SPDX-License-Identifier: Apache-2.0
// Measures what the theorems and figures of the SFT paper state about attention.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace geosft {

// From scores S [n, k], or other arguments [n, m] that give scores, to probabilities P [n, k], differentiable.
using ProbabilityMap = std::function<at::Tensor(const at::Tensor&)>;

// Returns the leaky relu probability, computed by maxout_attention with V = I and leaks of the keys evenly spaced from
// -1 to 1. float64.
at::Tensor leaky_relu_probability(const at::Tensor& scores);
// Returns the softmax probability, computed by scaled dot-product attention with V = I. float64.
at::Tensor softmax_probability(const at::Tensor& scores);

// A component f of P and a segment that contradict pseudoconvexity: <grad f(x1), x2 - x1> >= 0, but f(x2) < f(x1).
struct Contradiction {
  int64_t component, row;  // of P, and of the pairs
  double slope, before, after;
};

// Returns all contradictions among pairs (x1, x2) of rows [n, m] of arguments, float64. For scores of one orthant, that
// is for pairs of equal signs, the leaky relu probability has none (theorem B.5), softmax has (theorem B.2).
std::vector<Contradiction> contradictions(const ProbabilityMap& probability, const at::Tensor& x1,
                                          const at::Tensor& x2);

// Returns the scores [n, k] of one query over k keys, as functions of the weights of a head: rows [n, 2 d c] of W_Q and
// W_K, each row-major [d, c]. tokens [1 + k, d] are the query's and the keys'. maxout: sum_t max(q_t, k_t); dot: q . k
// / sqrt(c). float64, differentiable in the weights.
at::Tensor maxout_scores_of_weights(const at::Tensor& tokens, const at::Tensor& weights);
at::Tensor dot_scores_of_weights(const at::Tensor& tokens, const at::Tensor& weights);

// Tells which rows of two sets of weights lie in one region, bool [n]: every maximum takes the same side, and every
// maxout score has the same sign. There maxout scores are linear in the weights, so that the leaky relu probability of
// maxout scores has no contradictions (theorems B.6 and B.8). Softmax of dot products has (theorem B.3).
at::Tensor in_one_region(const at::Tensor& tokens, const at::Tensor& weights1, const at::Tensor& weights2);

// E |d Sa / d W|^2 (Frobenius) of W_Q and W_V at initialisation (theorem 4.3: Theta(1) and Theta(n)), with all n tokens
// as keys, estimated with random signs as grad_output. The tokens have a common component, and the leak is 0. The
// theorem shows for wide tokens (d > n).
struct GradientNorms {
  double query = 0.0, value = 0.0;
};
GradientNorms gradient_norms(int64_t n, int64_t width, uint64_t seed = 0, int64_t num_samples = 4);

// Returns the number of singular values of tokens [n, d] above max(n, d) * epsilon of their type times the largest.
int64_t numerical_rank(const at::Tensor& tokens);
// Returns the mean cosine similarity over pairs of different tokens [n, d], n > 1.
double mean_cosine(const at::Tensor& tokens);

// Rank of the tokens after different numbers of single-head layers (figure 3): equal tokens and one random normal
// attention bias pass through random layers, all tokens being keys, with residual and normalisation. float64. Without
// the leak the rank stays 1, also with feed-forward networks, as long as every row has a positive score, which holds
// for wide tokens (512 in the paper).
struct RankInjection {
  int64_t tokens = 256, width = 512, layers = 100;
  int64_t every = 5;          // layers between measurements
  bool leak = true;           // without, the probability is relu(S) / sum relu(S)
  bool feed_forward = false;  // a network d -> 4 d -> d with GELU follows attention, with residual and normalisation
  uint64_t seed = 0;
};
struct DepthRank {
  int64_t depth, rank;
};
std::vector<DepthRank> rank_injection(const RankInjection& options);

}  // namespace geosft
