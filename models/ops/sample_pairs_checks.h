// SPDX-License-Identifier: Apache-2.0
// Argument checks that every backend of sample_pairs runs; each error names its argument.
#pragma once

#include <ATen/ATen.h>

#include <optional>

namespace geosft {

void check_score(const at::Tensor& score);
void check_bins(int64_t k);
void check_tau(double tau);
void check_seeds(const std::optional<at::Tensor>& seeds, int64_t items);
// Items of a packed batch by the shape of `ptr`, 1 without it.
int64_t item_count(const std::optional<at::Tensor>& ptr);

}  // namespace geosft
