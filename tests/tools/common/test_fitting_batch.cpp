// SPDX-License-Identifier: Apache-2.0
#include "tools/common/fitting_batch.h"

#include <catch2/catch.hpp>
#include <new>
#include <vector>

#include "tests/support.h"

namespace geosft::test::test_fitting_batch {
namespace {

// Has room for so many items, and notes what it was asked for; trainings fail for want of memory.
struct Training {
  int64_t room;
  std::vector<int64_t> tried = {};

  bool operator()(int64_t batch_size, RunStart start) {
    if (start != RunStart::trial) throw std::bad_alloc();
    tried.push_back(batch_size);
    if (batch_size > room) throw std::bad_alloc();
    return true;
  }
};

void require_advice(Training training, const std::string& end, const std::vector<int64_t>& tried) {
  const auto train = [&] { train_within_memory(20, RunStart::fresh, one_process(), std::ref(training)); };
  require_error(train, {"out of memory" + end});
  CHECK(training.tried == tried);
}

}  // namespace

TEST_CASE("a training that needs too much memory names the largest batch of halves that there is room for") {
  require_advice({6}, "; a step has room with --batch-size 5 (tried)", {20, 10, 5});
  require_advice({1}, "; a step has room with --batch-size 1 (tried)", {20, 10, 5, 2, 1});
  require_advice({0}, "; not even a step with --batch-size 1 has room", {20, 10, 5, 2, 1});
  // The training failed, but not for its steps.
  require_advice({20}, ". A smaller --batch-size (when evaluating", {20});
}

TEST_CASE("a training with enough memory, and one with other troubles, is left alone") {
  for (const bool done : {true, false}) {
    CHECK(train_within_memory(4, RunStart::resumed, one_process(), [&](int64_t batch_size, RunStart start) {
            CHECK((batch_size == 4 && start == RunStart::resumed));
            return done;
          }) == done);
  }
  const auto other = [](int64_t, RunStart) -> bool { throw std::runtime_error("disk full"); };
  require_error([&] { train_within_memory(4, RunStart::fresh, one_process(), other); }, {"disk full"});
  const auto both = [](int64_t, RunStart start) -> bool {
    if (start == RunStart::trial) throw std::runtime_error("disk full");
    throw std::bad_alloc();
  };
  require_error([&] { train_within_memory(4, RunStart::fresh, one_process(), both); }, {"out of memory. A smaller"});
  const auto refused = [](int64_t, RunStart start) -> bool {
    if (start == RunStart::trial) return false;
    throw std::bad_alloc();
  };
  require_error([&] { train_within_memory(4, RunStart::fresh, one_process(), refused); }, {"out of memory. A smaller"});
}

}  // namespace geosft::test::test_fitting_batch
