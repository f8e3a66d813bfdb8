// SPDX-License-Identifier: Apache-2.0
// How far the answers of a model to moved copies are from those to the originals.
#pragma once

#include <ATen/ATen.h>

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace geosft {

struct Invariance {
  double max_logit_difference = 0.0;      // of all copies
  double max_unflipped_difference = 0.0;  // of the copies where no choice flipped
  double flipped_share = 0.0;             // copies whose order or samples were chosen differently
  double prediction_agreement = 1.0;      // of all copies
};

// Counts copies, or points of copies: whatever has a row of logits.
class InvarianceTally {
 public:
  // logits [n, classes] of originals and copies; flips bool [n]: where a choice flipped.
  void add(const at::Tensor& original, const at::Tensor& moved, const at::Tensor& flips);
  Invariance result() const;

 private:
  double max_difference_ = 0.0, max_unflipped_ = 0.0, flipped_ = 0.0, agreeing_ = 0.0, rows_ = 0.0;
};

// Sets the members of an evaluation's JSON object: nothing differs where nothing was moved.
void set_invariance(nlohmann::json& json, const std::optional<Invariance>& invariance);
// A line for people; empty where nothing was moved.
std::string invariance_text(const std::optional<Invariance>& invariance);

}  // namespace geosft
