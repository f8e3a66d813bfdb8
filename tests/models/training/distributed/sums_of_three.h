// SPDX-License-Identifier: Apache-2.0
// What three processes must find, however they talk; each of them calls it.
#pragma once

#include <catch2/catch.hpp>

#include "models/training/distributed/communicator.h"
#include "tests/support.h"

namespace geosft::test {

inline void require_sums_of_three(const Communicator& all) {
  REQUIRE(all.size() == 3);
  const int64_t rank = all.rank();
  for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kLong}) {
    require_equal(all.sum(at::arange(1000).to(type) * (rank + 1)), at::arange(1000).to(type) * 6, "sum");
  }
  // Several at a time, of a size that goes in pieces, looked at while they are on their way.
  const at::Tensor large = at::full({1 << 20}, static_cast<float>(rank)), small = at::full({3}, rank, at::kLong);
  const std::unique_ptr<Work> first = all.all_reduce(large), second = all.all_reduce(small);
  for (int i = 0; i < 5; ++i) first->progress();
  second->wait();
  first->wait();
  first->progress();
  require_equal(large, at::full({1 << 20}, 3.0F), "large");
  require_equal(small, at::full({3}, 3, at::kLong), "small");
  REQUIRE(all.any(rank == 2));
  require_equal(all.broadcast(at::full({2}, rank + 5, at::kLong)), at::full({2}, 5, at::kLong), "the values of rank 0");
  // What is not exact has the same bits everywhere.
  const at::Tensor total = all.sum(at::randn({1000}, generator(static_cast<uint64_t>(rank))));
  require_equal(total, all.broadcast(total), "the same bits");
  require_error([&] { all.all_reduce(at::zeros({2}, at::kHalf)); }, {"values", "Half"});
  require_error([&] { all.all_reduce(at::zeros({4, 4}).t().slice(0, 1)); }, {"values", "contiguous"});
}

}  // namespace geosft::test
