// SPDX-License-Identifier: Apache-2.0
#include "data/folds.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "data/points/point_loader.h"
#include "data/seeds.h"

namespace geosft {

at::Tensor stratified_folds(const at::Tensor& labels, int64_t folds, uint64_t seed) {
  TORCH_CHECK(labels.dim() == 1 && labels.scalar_type() == at::kLong, "labels must be int64 [N], got ",
              labels.scalar_type(), " ", labels.sizes());
  const int64_t count = labels.size(0);
  TORCH_CHECK(folds >= 2 && folds <= count, "folds must be 2 or more and at most the number of labels, ", count,
              ", got ", folds);
  const at::Tensor order = at::randperm(count, make_generator(combine_seeds({seed, text_hash("folds")})), at::kLong);
  // Shuffles, then sorts stably by label. Assigning folds round-robin balances each label and the fold sizes.
  const at::Tensor by_label = std::get<1>(labels.index_select(0, order).sort(/*stable=*/true, /*dim=*/0, false));
  return at::empty_like(labels).index_copy_(0, order.index_select(0, by_label), at::arange(count, at::kLong) % folds);
}

std::pair<std::vector<int64_t>, std::vector<int64_t>> stratified_split(const std::vector<int64_t>& labels,
                                                                       double second_share, uint64_t seed) {
  const auto count = static_cast<int64_t>(labels.size());
  TORCH_CHECK(second_share >= 0 && second_share <= 1, "second_share must be from 0 to 1, got ", second_share);
  TORCH_CHECK(labels.empty() || std::ranges::min(labels) >= 0, "labels must not be negative, got ",
              labels.empty() ? 0 : std::ranges::min(labels));
  std::map<int64_t, int64_t> second_count;
  for (const int64_t label : labels) ++second_count[label];
  for (auto& [label, rows] : second_count) rows = std::llround(second_share * static_cast<double>(rows));
  std::pair<std::vector<int64_t>, std::vector<int64_t>> parts;
  for (const int64_t row : epoch_order(count, /*shuffle=*/true, seed, /*epoch=*/0)) {
    int64_t& left = second_count[labels[static_cast<size_t>(row)]];
    (left > 0 ? parts.second : parts.first).push_back(row);
    left -= left > 0 ? 1 : 0;
  }
  std::sort(parts.first.begin(), parts.first.end());
  std::sort(parts.second.begin(), parts.second.end());
  return parts;
}

}  // namespace geosft
