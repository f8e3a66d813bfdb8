// SPDX-License-Identifier: Apache-2.0
// How far the answers of a model to moved copies are from those to the originals.
#pragma once

#include <ATen/ATen.h>

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace geosft {

// A copy is flipped when a near-tie made its order or its samples others than the original's. With several votes that
// is a copy of which any vote flipped, so that shares grow with the votes.
struct Invariance {
  double max_logit_difference = 0.0;      // of all copies
  double max_unflipped_difference = 0.0;  // of the copies that are not flipped
  double flipped_share = 0.0;             // of the copies
  double prediction_agreement = 1.0;      // of all copies with their originals
  double unflipped_agreement = 1.0;       // of those that are not flipped; 1 where there are none
  double ever_flipped_share = 0.0;        // of the originals: those with a flipped copy
};

struct MovedCopy {
  at::Tensor logits;  // [n, classes]
  at::Tensor flips;   // bool [n]
};

// Counts clouds, or points: whatever has a row of logits.
class InvarianceTally {
 public:
  // From now on copies are those of originals with these logits [n, classes].
  void begin(const at::Tensor& original);
  void add(const MovedCopy& copy);
  Invariance result() const;

 private:
  Invariance sums_{0.0, 0.0, 0.0, 0.0, 0.0, 0.0};  // numbers of copies and originals in place of shares
  double copies_ = 0.0, originals_ = 0.0;
  at::Tensor original_, expected_, ever_flipped_;  // of those that were begun with
};

// Sets the members of an evaluation's JSON object: nothing differs where nothing was moved.
void set_invariance(nlohmann::json& json, const std::optional<Invariance>& invariance);
// A line for people; empty where nothing was moved.
std::string invariance_text(const std::optional<Invariance>& invariance);

}  // namespace geosft
