// SPDX-License-Identifier: Apache-2.0
// How good predictions are, computed in float64 as scikit-learn computes it. What cannot be computed (no item, or
// labels of one kind where two are needed) is NaN. Shapes and types that are not those below, NaN among the scores and
// negative classes are errors (c10::Error) that name the argument.
#pragma once

#include <ATen/ATen.h>

namespace geosft {

// Share of equal classes: predicted, truth int64 [n].
double accuracy_score(const at::Tensor& predicted, const at::Tensor& truth);

// Mean over the classes that occur in either of F1 = 2 tp / (2 tp + fp + fn): predicted, truth int64 [n], 0 and above.
double macro_f1_score(const at::Tensor& predicted, const at::Tensor& truth);

// Of one label: the share of pairs of a positive and a negative item whose scores are in that order, equal scores
// counting half. scores floating [n], labels bool [n].
double roc_auc_score(const at::Tensor& scores, const at::Tensor& labels);

// Of one label: sum over distinct scores, descending, of (recall - recall before) * precision.
double average_precision_score(const at::Tensor& scores, const at::Tensor& labels);

// Means over labels, as OGB's evaluator has them: scores floating [n, t], labels floating [n, t], 1, 0 or NaN for
// missing; missing entries are left out, and so are labels without both kinds.
double mean_roc_auc(const at::Tensor& scores, const at::Tensor& labels);
double mean_average_precision(const at::Tensor& scores, const at::Tensor& labels);

// One class against the others, the mean over the classes: scores floating [n, classes], truth int64 [n].
double one_vs_rest_roc_auc(const at::Tensor& scores, const at::Tensor& truth);

// Of regression, the mean over targets: predicted, truth floating [n, t]; where truth is NaN an entry is left out. R2
// of a target that is constant is 1 where it is met and 0 elsewhere.
double mean_absolute_error(const at::Tensor& predicted, const at::Tensor& truth);
double r2_score(const at::Tensor& predicted, const at::Tensor& truth);

}  // namespace geosft
