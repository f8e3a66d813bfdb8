// SPDX-License-Identifier: Apache-2.0
// Compares a model's predictions for transformed copies with those for the originals.
#pragma once

#include <ATen/ATen.h>

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace geosft {

// A copy is flipped if a near-tie changed its order or its samples compared with the original. With several votes, a
// copy is flipped if any vote is, so the shares grow with the number of votes.
struct Invariance {
  double max_logit_difference = 0.0;      // over all copies
  double max_unflipped_difference = 0.0;  // over the copies that are not flipped
  double flipped_share = 0.0;             // of the copies
  double prediction_agreement = 1.0;      // of all copies with their originals
  double unflipped_agreement = 1.0;       // over the copies that are not flipped; NaN if there are none
  double ever_flipped_share = 0.0;        // share of originals with a flipped copy
};

struct MovedCopy {
  at::Tensor logits;  // [n, classes]
  at::Tensor flips;   // bool [n]
};

// Accumulates the comparison over rows of logits: clouds or points.
class InvarianceSum {
 public:
  // Starts the copies of the originals with these logits [n, classes].
  void begin(const at::Tensor& original);
  void add(const MovedCopy& copy);
  Invariance result() const;

 private:
  Invariance sums_{0.0, 0.0, 0.0, 0.0, 0.0, 0.0};  // its shares hold counts until result()
  double copies_ = 0.0, originals_ = 0.0;
  at::Tensor original_, expected_, ever_flipped_;  // of the current originals
};

// Sets the members of an evaluation's JSON object; the difference is 0 if nothing was transformed.
void set_invariance(nlohmann::json& json, const std::optional<Invariance>& invariance);
// Returns text for people; empty if nothing was transformed.
std::string invariance_text(const std::optional<Invariance>& invariance);

}  // namespace geosft
