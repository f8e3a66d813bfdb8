// SPDX-License-Identifier: Apache-2.0
// Predictions of random forests (Breiman, "Random forests", 2001) on count fingerprints. They are trained in
// tools/experiment/random_forest_training.h.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <map>
#include <string>

namespace geosft {

// Trees, as many for each label. The state has, by name:
//   feature int32 [nodes]: the column that a node divides by, -1 of a leaf.
//   value float32 [nodes]: a row goes left if its feature is smaller; of a leaf, the share of ones in its training
//   rows. left int32 [nodes]: the left child, which has a larger number than the node; the right one is the next.
//   zero_right uint8 [nodes]: 1 where rows whose feature is 0 go right, whatever the value.
//   roots int64 [labels, trees].
//   share float64 [labels]: of ones in training, between 0 and 1.
//   columns int64: of the features.
class RandomForest {
 public:
  // Returns logits log(p / (1 - p)), float64 [n, labels], for features, floating [n, columns], where NaN is 0. p =
  // (trees
  // * mean of their leaves + share) / (trees + 1), as if one more tree knew the share alone. Throws c10::Error for
  // other columns.
  at::Tensor predict(const at::Tensor& features) const;

  const std::map<std::string, at::Tensor>& state() const { return state_; }
  // Throws c10::Error for a state that lacks a tensor or has one of another type, size or value, as in a damaged file.
  static RandomForest from_state(std::map<std::string, at::Tensor> state);

  int64_t columns() const;
  int64_t labels() const;

 private:
  std::map<std::string, at::Tensor> state_;
};

}  // namespace geosft
