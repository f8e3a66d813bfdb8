// SPDX-License-Identifier: Apache-2.0
#include "models/training/distributed/communicator.h"

#include <array>
#include <atomic>
#include <catch2/catch.hpp>

#include "tests/models/training/distributed/thread_processes.h"
#include "tests/support.h"

namespace geosft::test::test_communicator {

TEST_CASE("the collectives of a single process are the identity", "[communicator]") {
  const Communicator& alone = one_process();
  REQUIRE((alone.rank() == 0 && alone.size() == 1 && alone.is_root()));
  const at::Tensor values = at::tensor({1.5, -2.0});
  require_equal(alone.sum(values), values, "sum");
  REQUIRE((alone.any(true) && !alone.any(false)));
  require_equal(alone.broadcast(values), values, "broadcast");
  const at::Tensor rows = at::tensor({3, 4}, at::kLong);
  require_equal(all_gather(alone, rows, 0, 2), rows, "rows");
  REQUIRE(root_first(alone, [] { return 7; }) == 7);
  alone.barrier();
}

TEST_CASE("collectives give the same results in all processes", "[communicator]") {
  // Catch's macros are not made for threads: each leaves what it found.
  std::vector<at::Tensor> sums(3), led(3), rows(3);
  std::array<bool, 3> any = {}, none = {};
  std::atomic<int> made = 0;
  std::vector<int> order(3);
  ThreadProcesses(3).run([&](const Communicator& all) {
    const auto r = static_cast<size_t>(all.rank());
    sums[r] = all.sum(at::tensor({1.0, static_cast<double>(all.rank())}, at::kDouble));
    led[r] = all.broadcast(at::full({2}, 10 + all.rank(), at::kLong));
    any[r] = all.any(all.rank() == 2);
    none[r] = all.any(false);
    // Rows 0 and 1 from the first, none from the second, rows 2 to 4 from the last.
    const std::vector<int64_t> first = {0, 4, 2}, count = {2, 1, 3};
    rows[r] = all_gather(all, at::arange(count[r]) + 10 * all.rank(), first[r], 5, all.rank() == 1);
    order[r] = root_first(all, [&] { return made++; });
  });
  for (size_t r = 0; r < 3; ++r) {
    require_equal(sums[r], at::tensor({3.0, 3.0}, at::kDouble), "sum");
    require_equal(led[r], at::full({2}, 10, at::kLong), "the values of rank 0");
    require_equal(rows[r], at::tensor({0, 1, 20, 21, 22}, at::kLong), "rows");
    REQUIRE((any[r] && !none[r]));
  }
  REQUIRE(order[0] == 0);
}

TEST_CASE("all_gather rejects rows outside the result", "[communicator]") {
  require_error([] { all_gather(one_process(), at::zeros({3}, at::kLong), 2, 4); }, {"rows", "[3]", "from 2", "4"});
}

}  // namespace geosft::test::test_communicator
