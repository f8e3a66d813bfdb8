// SPDX-License-Identifier: Apache-2.0
#include "tools/common/invariance.h"

#include <algorithm>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tools/common/report_texts.h"

namespace geosft {

void InvarianceTally::add(const at::Tensor& original, const at::Tensor& moved, const at::Tensor& flips) {
  const at::Tensor difference = (moved - original).abs().amax(1);
  max_difference_ = std::max(max_difference_, difference.max().item<double>());
  max_unflipped_ = std::max(max_unflipped_, difference.masked_fill(flips, 0.0).max().item<double>());
  flipped_ += flips.sum().item<double>();
  agreeing_ += (moved.argmax(1) == original.argmax(1)).sum().item<double>();
  rows_ += static_cast<double>(original.size(0));
}

Invariance InvarianceTally::result() const {
  if (rows_ == 0) return {};
  return {max_difference_, max_unflipped_, flipped_ / rows_, agreeing_ / rows_};
}

void set_invariance(nlohmann::json& json, const std::optional<Invariance>& invariance) {
  json["max_logit_difference"] = invariance ? invariance->max_logit_difference : 0.0;
  if (!invariance) return;
  json["max_unflipped_difference"] = invariance->max_unflipped_difference;
  json["flipped_share"] = invariance->flipped_share;
  json["prediction_agreement"] = invariance->prediction_agreement;
}

std::string invariance_text(const std::optional<Invariance>& invariance) {
  if (!invariance) return "";
  std::ostringstream out;
  out << std::setprecision(3) << "largest logit difference to the upright cloud " << invariance->max_logit_difference
      << " (" << invariance->max_unflipped_difference << " where the same was chosen; a near-tie flipped a choice in "
      << percent(invariance->flipped_share) << "); same prediction in " << percent(invariance->prediction_agreement)
      << "\n";
  return out.str();
}

}  // namespace geosft
