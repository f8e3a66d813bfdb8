// SPDX-License-Identifier: Apache-2.0
#include "data/folds.h"

#include "data/seeds.h"

namespace geosft {

at::Tensor stratified_folds(const at::Tensor& labels, int64_t folds, uint64_t seed) {
  TORCH_CHECK(labels.dim() == 1 && labels.scalar_type() == at::kLong, "labels must be int64 [N], got ",
              labels.scalar_type(), " ", labels.sizes());
  const int64_t count = labels.size(0);
  TORCH_CHECK(folds >= 2 && folds <= count, "folds must be 2 or more and at most the number of labels, ", count,
              ", got ", folds);
  const at::Tensor order = at::randperm(count, make_generator(combine_seeds({seed, text_hash("folds")})), at::kLong);
  // Shuffled, then by label: dealt out in turn, every fold gets its share of each label and of the whole.
  const at::Tensor by_label = std::get<1>(labels.index_select(0, order).sort(/*stable=*/true, /*dim=*/0, false));
  return at::empty_like(labels).index_copy_(0, order.index_select(0, by_label), at::arange(count, at::kLong) % folds);
}

}  // namespace geosft
