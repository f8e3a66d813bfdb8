// SPDX-License-Identifier: Apache-2.0
#include "models/training/metrics.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

namespace geosft {
namespace {

constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

void check_classes(const at::Tensor& predicted, const at::Tensor& truth) {
  TORCH_CHECK(predicted.dim() == 1 && predicted.scalar_type() == at::kLong, "predicted must be int64 [n], got ",
              predicted.scalar_type(), " ", predicted.sizes());
  TORCH_CHECK(truth.scalar_type() == at::kLong && truth.sizes() == predicted.sizes(), "truth must be int64 ",
              predicted.sizes(), ", got ", truth.scalar_type(), " ", truth.sizes());
}

void check_table(const at::Tensor& values, const char* name, const at::Tensor& truth, const char* truth_name) {
  TORCH_CHECK(values.dim() == 2 && values.is_floating_point(), name, " must be floating [n, t], got ",
              values.scalar_type(), " ", values.sizes());
  TORCH_CHECK(truth.is_floating_point() && truth.sizes() == values.sizes(), truth_name, " must be floating ",
              values.sizes(), ", got ", truth.scalar_type(), " ", truth.sizes());
}

// Numbers of positive and negative items with the same score.
struct Tie {
  double positive = 0.0, negative = 0.0;
};

// Returns the distinct scores, descending.
std::vector<Tie> ties(const at::Tensor& scores, const at::Tensor& labels) {
  TORCH_CHECK(scores.dim() == 1 && scores.is_floating_point(), "scores must be floating [n], got ",
              scores.scalar_type(), " ", scores.sizes());
  TORCH_CHECK(labels.scalar_type() == at::kBool && labels.sizes() == scores.sizes(), "labels must be bool ",
              scores.sizes(), ", got ", labels.scalar_type(), " ", labels.sizes());
  TORCH_CHECK(!scores.isnan().any().item<bool>(), "scores must be numbers, found NaN");
  const auto [sorted, order] = scores.to(at::kDouble).sort(/*dim=*/0, /*descending=*/true);
  const at::Tensor truth = labels.index_select(0, order).contiguous();
  const double* score = sorted.const_data_ptr<double>();
  const bool* positive = truth.const_data_ptr<bool>();
  std::vector<Tie> found;
  for (int64_t i = 0; i < sorted.size(0); ++i) {
    if (i == 0 || score[i] != score[i - 1]) found.emplace_back();
    (positive[i] ? found.back().positive : found.back().negative) += 1;
  }
  return found;
}

Tie sum(const std::vector<Tie>& all) {
  Tie total;
  for (const Tie& tie : all) {
    total.positive += tie.positive;
    total.negative += tie.negative;
  }
  return total;
}

// Returns the mean of of_column over the columns where it is defined, ignoring entries whose truth is NaN.
double mean_of_columns(const at::Tensor& values, const at::Tensor& truth,
                       const std::function<double(const at::Tensor&, const at::Tensor&)>& of_column) {
  double total = 0.0;
  int64_t columns = 0;
  for (int64_t column = 0; column < values.size(1); ++column) {
    const at::Tensor present = truth.select(1, column).isnan().logical_not();
    const double found =
        of_column(values.select(1, column).masked_select(present), truth.select(1, column).masked_select(present));
    if (std::isnan(found)) continue;
    total += found;
    ++columns;
  }
  return columns > 0 ? total / static_cast<double>(columns) : undefined;
}

bool has_both_kinds(const at::Tensor& labels) {
  return labels.any().item<bool>() && !labels.all().item<bool>();
}

double mean_of_labels(const at::Tensor& scores, const at::Tensor& labels,
                      double (*score)(const at::Tensor&, const at::Tensor&)) {
  check_table(scores, "scores", labels, "labels");
  return mean_of_columns(scores, labels, [&](const at::Tensor& of_label, const at::Tensor& truth) {
    const at::Tensor positive = truth == 1;
    return has_both_kinds(positive) ? score(of_label, positive) : undefined;
  });
}

// Returns whether a prediction of a known truth is NaN.
bool lacks_prediction(const at::Tensor& predicted, const at::Tensor& truth) {
  return predicted.isnan().logical_and(truth.isnan().logical_not()).any().item<bool>();
}

double r2_of_column(const at::Tensor& predicted, const at::Tensor& truth) {
  if (truth.size(0) < 2) return undefined;
  const at::Tensor exact = truth.to(at::kDouble);
  const double error = (exact - predicted.to(at::kDouble)).square().sum().item<double>();
  const double spread = (exact - exact.mean()).square().sum().item<double>();
  if (spread == 0.0) return error == 0.0 ? 1.0 : 0.0;
  return 1.0 - error / spread;
}

}  // namespace

double accuracy_score(const at::Tensor& predicted, const at::Tensor& truth) {
  check_classes(predicted, truth);
  return (predicted == truth).to(at::kDouble).mean().item<double>();
}

double macro_f1_score(const at::Tensor& predicted, const at::Tensor& truth) {
  check_classes(predicted, truth);
  if (truth.size(0) == 0) return undefined;
  const at::Tensor both = at::cat({predicted, truth});
  TORCH_CHECK(both.min().item<int64_t>() >= 0, "predicted and truth must hold classes 0 and above");
  const int64_t classes = both.max().item<int64_t>() + 1;
  const at::Tensor right = at::bincount(truth.masked_select(predicted == truth), {}, classes).to(at::kDouble);
  const at::Tensor occurring = at::bincount(both, {}, classes).to(at::kDouble);  // 2 tp + fp + fn
  const at::Tensor seen = occurring > 0;
  return (2 * right.masked_select(seen) / occurring.masked_select(seen)).mean().item<double>();
}

double roc_auc_score(const at::Tensor& scores, const at::Tensor& labels) {
  const std::vector<Tie> all = ties(scores, labels);
  const Tie total = sum(all);
  double in_order = 0.0, above = 0.0;
  for (const Tie& tie : all) {
    in_order += tie.negative * (above + 0.5 * tie.positive);
    above += tie.positive;
  }
  return in_order / (total.positive * total.negative);
}

double average_precision_score(const at::Tensor& scores, const at::Tensor& labels) {
  const std::vector<Tie> all = ties(scores, labels);
  const Tie total = sum(all);
  double found = 0.0, taken = 0.0, weighted = 0.0;
  for (const Tie& tie : all) {
    found += tie.positive;
    taken += tie.positive + tie.negative;
    weighted += tie.positive * (found / taken);
  }
  return weighted / total.positive;
}

double prc_auc_score(const at::Tensor& scores, const at::Tensor& labels) {
  const std::vector<Tie> all = ties(scores, labels);
  const Tie total = sum(all);
  double found = 0.0, taken = 0.0, precision = 1.0, area = 0.0;
  for (const Tie& tie : all) {
    found += tie.positive;
    taken += tie.positive + tie.negative;
    area += tie.positive * (precision + found / taken) / 2;
    precision = found / taken;
  }
  return area / total.positive;
}

double mean_roc_auc(const at::Tensor& scores, const at::Tensor& labels) {
  return mean_of_labels(scores, labels, roc_auc_score);
}

double mean_average_precision(const at::Tensor& scores, const at::Tensor& labels) {
  return mean_of_labels(scores, labels, average_precision_score);
}

double mean_prc_auc(const at::Tensor& scores, const at::Tensor& labels) {
  return mean_of_labels(scores, labels, prc_auc_score);
}

double one_vs_rest_roc_auc(const at::Tensor& scores, const at::Tensor& truth) {
  TORCH_CHECK(scores.dim() == 2 && truth.dim() == 1 && truth.size(0) == scores.size(0),
              "scores must be [n, classes] and truth [n], got ", scores.sizes(), " and ", truth.sizes());
  return mean_roc_auc(scores, at::one_hot(truth, scores.size(1)).to(scores.scalar_type()));
}

std::vector<ReliabilityBin> reliability_bins(const at::Tensor& probabilities, const at::Tensor& truth, int64_t bins) {
  TORCH_CHECK(probabilities.dim() == 2 && probabilities.is_floating_point() && probabilities.size(1) > 0,
              "probabilities must be floating [n, classes], got ", probabilities.scalar_type(), " ",
              probabilities.sizes());
  TORCH_CHECK(truth.scalar_type() == at::kLong && truth.dim() == 1 && truth.size(0) == probabilities.size(0),
              "truth must be int64 [", probabilities.size(0), "], got ", truth.scalar_type(), " ", truth.sizes());
  TORCH_CHECK(bins >= 1, "bins must be at least 1, got ", bins);
  const auto [top, predicted] = probabilities.to(at::kCPU, at::kDouble).max(1);
  TORCH_CHECK(!((top >= 0) & (top <= 1 + 1e-6)).logical_not().any().item<bool>(),
              "probabilities must be from 0 to 1, found others");
  const at::Tensor confidence = top.contiguous(), right = (predicted == truth.to(at::kCPU)).contiguous();
  std::vector<ReliabilityBin> found(static_cast<size_t>(bins));
  const auto width = 1.0 / static_cast<double>(bins);
  for (int64_t bin = 0; bin < bins; ++bin) {
    found[static_cast<size_t>(bin)].low = static_cast<double>(bin) * width;
    found[static_cast<size_t>(bin)].high = static_cast<double>(bin + 1) * width;
  }
  for (int64_t i = 0; i < confidence.size(0); ++i) {
    const double share = confidence.const_data_ptr<double>()[i];
    const auto place = static_cast<int64_t>(std::ceil(share * static_cast<double>(bins))) - 1;
    ReliabilityBin& bin = found[static_cast<size_t>(std::clamp<int64_t>(place, 0, bins - 1))];
    ++bin.count;
    bin.confidence += share;
    bin.accuracy += right.const_data_ptr<bool>()[i] ? 1.0 : 0.0;
  }
  for (ReliabilityBin& bin : found) {
    const double count = bin.count > 0 ? static_cast<double>(bin.count) : undefined;
    bin.confidence /= count;
    bin.accuracy /= count;
  }
  return found;
}

std::vector<ReliabilityBin> reliability_of_logits(const at::Tensor& logits, const at::Tensor& truth) {
  TORCH_CHECK(logits.dim() == 2 && logits.is_floating_point(), "logits must be floating [n, classes], got ",
              logits.scalar_type(), " ", logits.sizes());
  const at::Tensor probabilities = logits.to(at::kDouble).softmax(1);
  if (probabilities.isnan().any().item<bool>()) return {};
  return reliability_bins(probabilities, truth);
}

double expected_calibration_error(const std::vector<ReliabilityBin>& bins) {
  double sum = 0.0;
  int64_t items = 0;
  for (const ReliabilityBin& bin : bins) {
    if (bin.count == 0) continue;
    sum += static_cast<double>(bin.count) * std::abs(bin.accuracy - bin.confidence);
    items += bin.count;
  }
  return items > 0 ? sum / static_cast<double>(items) : undefined;
}

double mean_absolute_error(const at::Tensor& predicted, const at::Tensor& truth) {
  check_table(predicted, "predicted", truth, "truth");
  if (lacks_prediction(predicted, truth)) return undefined;
  return mean_of_columns(predicted, truth, [](const at::Tensor& values, const at::Tensor& exact) {
    return (values.to(at::kDouble) - exact.to(at::kDouble)).abs().mean().item<double>();
  });
}

double root_mean_squared_error(const at::Tensor& predicted, const at::Tensor& truth) {
  check_table(predicted, "predicted", truth, "truth");
  if (lacks_prediction(predicted, truth)) return undefined;
  return mean_of_columns(predicted, truth, [](const at::Tensor& values, const at::Tensor& exact) {
    return (values.to(at::kDouble) - exact.to(at::kDouble)).square().mean().sqrt().item<double>();
  });
}

double r2_score(const at::Tensor& predicted, const at::Tensor& truth) {
  check_table(predicted, "predicted", truth, "truth");
  if (lacks_prediction(predicted, truth)) return undefined;
  return mean_of_columns(predicted, truth, r2_of_column);
}

}  // namespace geosft
