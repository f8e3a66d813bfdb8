// SPDX-License-Identifier: Apache-2.0
// Argument checks that every backend of sample_pairs runs; each error names its argument.
#pragma once

#include <ATen/ATen.h>

#include <optional>

namespace geosft {

// Bins of one item with replacement, where nothing but k limits them: far beyond any use, and small enough that the
// bins of a batch can be counted.
inline constexpr int64_t most_bins_with_replacement = int64_t{1} << 31;

void check_score(const at::Tensor& score);
void check_bins(int64_t k);
void check_bins_with_replacement(int64_t k);
void check_tau(double tau);
void check_seeds(const std::optional<at::Tensor>& seeds, const std::optional<at::Tensor>& ptr, at::Device device);
// All that a draw can check without the values of ptr.
void check_draw(const at::Tensor& score, int64_t k, const std::optional<at::Tensor>& ptr,
                const std::optional<at::Tensor>& seeds);

}  // namespace geosft
