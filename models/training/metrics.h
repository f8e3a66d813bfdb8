// SPDX-License-Identifier: Apache-2.0
// Computes metrics of predictions in float64, as scikit-learn does. Undefined values (no item, or labels of only one
// kind) are NaN. Wrong shapes and types, NaN scores and negative classes are errors (c10::Error) that name the
// argument.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

namespace geosft {

// Returns the fraction of correct classes: predicted, truth int64 [n].
double accuracy_score(const at::Tensor& predicted, const at::Tensor& truth);

// Returns the mean of F1 = 2 tp / (2 tp + fp + fn) over the classes that occur in either argument: predicted, truth
// int64 [n], 0 and above.
double macro_f1_score(const at::Tensor& predicted, const at::Tensor& truth);

// Returns, for one label, the fraction of pairs of a positive and a negative item that the scores order correctly; ties
// count half. scores floating [n], labels bool [n].
double roc_auc_score(const at::Tensor& scores, const at::Tensor& labels);

// Returns, for one label, the sum over distinct scores, descending, of (recall - previous recall) * precision.
double average_precision_score(const at::Tensor& scores, const at::Tensor& labels);

// Returns, for one label, the area under the curve of precision against recall by the trapezoidal rule, as
// scikit-learn's auc of precision_recall_curve has it: the curve begins at precision 1 and recall 0.
double prc_auc_score(const at::Tensor& scores, const at::Tensor& labels);

// Return means over labels, as in OGB's evaluator: scores floating [n, t], labels floating [n, t], 1, 0 or NaN for
// missing; missing entries and labels without both kinds are ignored.
double mean_roc_auc(const at::Tensor& scores, const at::Tensor& labels);
double mean_average_precision(const at::Tensor& scores, const at::Tensor& labels);
double mean_prc_auc(const at::Tensor& scores, const at::Tensor& labels);

// Returns the one-vs-rest AUC, averaged over the classes: scores floating [n, classes], truth int64 [n].
double one_vs_rest_roc_auc(const at::Tensor& scores, const at::Tensor& truth);

// The predictions whose confidence, the largest probability, is above `low` and at most `high`.
struct ReliabilityBin {
  double low = 0.0, high = 1.0;
  int64_t count = 0;
  double confidence = 0.0, accuracy = 0.0;  // the mean confidence, and the share of right classes; NaN of an empty bin
};

// Returns `bins` intervals of confidence of equal width: probabilities floating [n, classes], truth int64 [n]. Guo et
// al., On Calibration of Modern Neural Networks, 2017, section 2.
std::vector<ReliabilityBin> reliability_bins(const at::Tensor& probabilities, const at::Tensor& truth,
                                             int64_t bins = 15);

// Returns the same of the probabilities softmax(logits), logits floating [n, classes]; no bins if one of them is NaN,
// as of a model that has diverged.
std::vector<ReliabilityBin> reliability_of_logits(const at::Tensor& logits, const at::Tensor& truth);

// Returns the mean over all predictions of |accuracy - confidence| of their bin; Guo et al., Eq. 3.
double expected_calibration_error(const std::vector<ReliabilityBin>& bins);

// Return regression metrics, averaged over targets: predicted, truth floating [n, t]; entries whose truth is NaN are
// ignored, and a prediction that is NaN makes the metric NaN. R2 of a constant target is 1 if it is predicted exactly,
// and 0 otherwise. The root is taken per target, as in OGB's evaluator.
double mean_absolute_error(const at::Tensor& predicted, const at::Tensor& truth);
double root_mean_squared_error(const at::Tensor& predicted, const at::Tensor& truth);
double r2_score(const at::Tensor& predicted, const at::Tensor& truth);

}  // namespace geosft
