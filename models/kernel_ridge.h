// SPDX-License-Identifier: Apache-2.0
// Kernel ridge regression on vectors of graphs, descriptors and count fingerprints, and on histograms of clouds.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace geosft {

struct KernelRidgeOptions {
  int64_t fingerprints = 0;      // blocks of equally many columns, which come last
  int64_t fingerprint_bits = 0;  // columns of each, log(1 + count)
  bool wide_counts = false;      // counts up to 32,767 instead of 255, larger ones are taken as that
  bool labels = false;           // targets are 0 or 1, and predictions logits; otherwise both are values
  bool classes = false;          // targets are 0 or 1, one 1 in each row, and predictions logits of their softmax
  int64_t max_exact = 12000;     // 4 GB; above so many rows, the Nyström approximation from `landmarks` rows
  int64_t landmarks = 5000;
  int64_t selection_rows = 1200;  // at most, of those that choose the hyperparameters
  int64_t ridge_rows = 6000;      // at most, of those that choose the ridge again, of this mixture
  int64_t own_choices = 40;       // of more regressions, twelve choose the mixture and the ridge of all
  // Lists the widths of the Gaussian kernel to choose from, each by the exponent of two rows at the median distance.
  std::vector<double> gaussian_factors = {0.25};
  uint64_t seed = 0;  // of the rows above
};

// A trained regression. Each target has a kernel of its own, except labels that are known for the same rows, and
// classes, which share one, and its factorisation.
//
// The kernel is a mixture g G + l L + m M, g + l + m = 1. M is the min-max kernel of log(1 + count), sum min(a, b) /
// sum max(a, b) (Ralaivola et al., "Graph kernels for chemical informatics", 2005), averaged over the fingerprints. G
// is a Gaussian kernel, and L a linear one, of the descriptors, each mapped to normal scores of its rank in training:
// descriptors have heavy tails. Of several widths of G, the first target chooses for all. For each mixture, ridges are
// tried upwards, then downwards, as long as the squared error falls, and the best pair is taken. The error is that of
// at most selection_rows rows, and then, since more rows need a smaller ridge, of ridge_rows, each predicted while its
// part (left_out_parts) is left out, by the closed form: the residuals of the rows b are (inv(K + ridge)_bb)^-1 (inv(K
// + ridge) y)_b. The same residuals fit the logistic function that makes probabilities of labels, and the factor of the
// logits of classes. Of more than own_choices regressions, all have the mixture with the smallest mean error over
// twelve of them, the mean of the twelve's ridges, and the first width.
class KernelRidge {
 public:
  // features: floating [n, columns], NaN where unknown. targets: floating [n, t], NaN where unknown, which are left
  // out. groups: int64 [n], such as scaffolds. Deterministic. Throws c10::Error for other shapes, and for a kernel that
  // cannot be factorised.
  static KernelRidge fit(const at::Tensor& features, const at::Tensor& targets, const at::Tensor& groups,
                         const KernelRidgeOptions& options);

  // Returns float64 [m, t], in the unit of the targets, or logits.
  at::Tensor predict(const at::Tensor& features) const;

  // Return the state by name, for a checkpoint, and restore it. Throws c10::Error for a state that lacks a tensor
  // or has one of another type or size.
  const std::map<std::string, at::Tensor>& state() const { return state_; }
  static KernelRidge from_state(std::map<std::string, at::Tensor> state);

  int64_t columns() const;
  int64_t targets() const;
  // Return float64 [3, t], the shares g, l and m, and float64 [t].
  const at::Tensor& mixture() const { return state_.at("mixture"); }
  const at::Tensor& ridge() const { return state_.at("ridge"); }

 private:
  std::map<std::string, at::Tensor> state_;
};

// Divides rows into five parts of whole groups, int64 [n] each, ascending: the largest group first, each into the
// smallest part. The rows of a group with more than a twentieth of all are divided one by one: such a group, as that of
// the molecules without rings, is not alike within, and is never absent from the training split of a scaffold split.
std::vector<at::Tensor> left_out_parts(const at::Tensor& groups);

// Returns the min-max kernel, averaged over blocks of `bits` columns: a [n, blocks * bits] and b [m, blocks * bits],
// both uint8 or both int16; the result is float32 [n, m]. Two rows of zeros have the similarity 1. With `logarithms`,
// of log(1 + count).
at::Tensor min_max_kernel(const at::Tensor& a, const at::Tensor& b, int64_t bits, bool logarithms = false);

}  // namespace geosft
