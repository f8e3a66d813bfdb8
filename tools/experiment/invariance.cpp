// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/invariance.h"

#include <algorithm>
#include <iomanip>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tools/experiment/report_texts.h"

namespace geosft {

void InvarianceSum::begin(const at::Tensor& original) {
  original_ = original;
  expected_ = original.argmax(1);
  ever_flipped_ = at::zeros({original.size(0)}, at::kBool);
  originals_ += static_cast<double>(original.size(0));
}

void InvarianceSum::add(const MovedCopy& copy) {
  const at::Tensor difference = (copy.logits - original_).abs().amax(1), agrees = copy.logits.argmax(1) == expected_;
  const double unflipped = difference.masked_fill(copy.flips, 0.0).max().item<double>();
  sums_.max_logit_difference = std::max(sums_.max_logit_difference, difference.max().item<double>());
  sums_.max_unflipped_difference = std::max(sums_.max_unflipped_difference, unflipped);
  sums_.flipped_share += copy.flips.sum().item<double>();
  sums_.prediction_agreement += agrees.sum().item<double>();
  sums_.unflipped_agreement += (agrees & ~copy.flips).sum().item<double>();
  sums_.ever_flipped_share += (copy.flips & ~ever_flipped_).sum().item<double>();
  ever_flipped_ |= copy.flips;
  copies_ += static_cast<double>(original_.size(0));
}

Invariance InvarianceSum::result() const {
  if (copies_ == 0) return {};
  Invariance found = sums_;
  const double unflipped = copies_ - found.flipped_share;
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  found.unflipped_agreement = unflipped > 0 ? found.unflipped_agreement / unflipped : unknown;
  if (unflipped == 0) found.max_unflipped_difference = unknown;
  found.flipped_share /= copies_;
  found.prediction_agreement /= copies_;
  found.ever_flipped_share /= originals_;
  return found;
}

void set_invariance(nlohmann::json& json, const std::optional<Invariance>& invariance) {
  json["max_logit_difference"] = invariance ? invariance->max_logit_difference : 0.0;
  if (!invariance) return;
  json["max_unflipped_difference"] = invariance->max_unflipped_difference;
  json["flipped_share"] = invariance->flipped_share;
  json["ever_flipped_share"] = invariance->ever_flipped_share;
  json["prediction_agreement"] = invariance->prediction_agreement;
  json["unflipped_agreement"] = invariance->unflipped_agreement;
}

std::string invariance_text(const std::optional<Invariance>& invariance) {
  if (!invariance) return "";
  std::ostringstream out;
  out << std::setprecision(3) << "compared with the upright clouds: same prediction for "
      << percent(invariance->prediction_agreement) << " of the copies, largest difference of a logit "
      << invariance->max_logit_difference << '\n';
  if (invariance->flipped_share == 0) return out.str() + "no copy has another order of points or other samples\n";
  out << "the order of points or the samples changed in " << percent(invariance->flipped_share) << " of the copies (of "
      << percent(invariance->ever_flipped_share) << " of the clouds)";
  if (invariance->flipped_share < 1) {
    out << "; for the other copies: same prediction for " << percent(invariance->unflipped_agreement)
        << ", largest difference " << invariance->max_unflipped_difference;
  }
  return out.str() + '\n';
}

}  // namespace geosft
