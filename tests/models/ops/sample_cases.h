// SPDX-License-Identifier: Apache-2.0
// Draws of pairs by name, and what they are drawn from.
#pragma once

#include <catch2/catch.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "models/ops/sample_pairs.h"
#include "tests/support.h"

namespace geosft::test::sample_cases {

struct Drawn {
  at::Tensor top, partner, weight, sample_ptr;
};

inline Drawn drawn(std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> result) {
  auto [top, partner, weight, sample_ptr] = std::move(result);
  return {top, partner, weight, sample_ptr};
}

inline at::Tensor normal(at::IntArrayRef shape, uint64_t seed) {
  return at::randn(shape, generator(seed), at::kDouble);
}

inline at::Tensor longs(const std::vector<int64_t>& values) {
  return at::tensor(values, at::kLong);
}

// `items` copies of one item: scores and ptr.
inline std::pair<at::Tensor, at::Tensor> copies(const at::Tensor& item, int64_t items) {
  return {item.repeat({items}), at::arange(items + 1, at::kLong) * item.numel()};
}

}  // namespace geosft::test::sample_cases
