// SPDX-License-Identifier: Apache-2.0
// Metrics of predictions, computed in float64 as in scikit-learn. Undefined values (no item, or labels of only one
// kind) are NaN. Wrong shapes and types, NaN scores and negative classes are errors (c10::Error) that name the
// argument.
#pragma once

#include <ATen/ATen.h>

namespace geosft {

// Fraction of correct classes: predicted, truth int64 [n].
double accuracy_score(const at::Tensor& predicted, const at::Tensor& truth);

// Mean over the classes that occur in either of F1 = 2 tp / (2 tp + fp + fn): predicted, truth int64 [n], 0 and above.
double macro_f1_score(const at::Tensor& predicted, const at::Tensor& truth);

// For one label: the fraction of pairs of a positive and a negative item that the scores order correctly; ties count
// half. scores floating [n], labels bool [n].
double roc_auc_score(const at::Tensor& scores, const at::Tensor& labels);

// For one label: sum over distinct scores, descending, of (recall - recall before) * precision.
double average_precision_score(const at::Tensor& scores, const at::Tensor& labels);

// Means over labels, as in OGB's evaluator: scores floating [n, t], labels floating [n, t], 1, 0 or NaN for
// missing; missing entries and labels without both kinds are ignored.
double mean_roc_auc(const at::Tensor& scores, const at::Tensor& labels);
double mean_average_precision(const at::Tensor& scores, const at::Tensor& labels);

// One-vs-rest, averaged over the classes: scores floating [n, classes], truth int64 [n].
double one_vs_rest_roc_auc(const at::Tensor& scores, const at::Tensor& truth);

// For regression, averaged over targets: predicted, truth floating [n, t]; entries whose truth is NaN are ignored. R2
// of a constant target is 1 if it is predicted exactly, and 0 otherwise.
double mean_absolute_error(const at::Tensor& predicted, const at::Tensor& truth);
double r2_score(const at::Tensor& predicted, const at::Tensor& truth);

}  // namespace geosft
