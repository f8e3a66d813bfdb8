// SPDX-License-Identifier: Apache-2.0
#include "models/training/distributed/gradient_reducer.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/models/training/distributed/thread_processes.h"
#include "tests/support.h"

namespace geosft::test::test_gradient_reducer {
namespace {

std::vector<at::Tensor> parameters() {
  std::vector<at::Tensor> made;
  for (int64_t i = 0; i < 6; ++i) {
    const at::ScalarType type = i == 3 ? at::kDouble : at::kFloat;
    made.push_back(at::rand({i + 1, 4}, generator(static_cast<uint64_t>(i)), type).requires_grad_(true));
  }
  return made;
}

// Parameter 1 is used nowhere, parameter 4 in process 1 alone; the others in an order that differs by process.
at::Tensor loss(const std::vector<at::Tensor>& p, int64_t rank) {
  const double factor = 1.0 + static_cast<double>(rank);
  std::vector<at::Tensor> terms = {p[0].square().sum(), p[2].sin().sum(), p[3].exp().sum().to(at::kFloat),
                                   (p[5] * p[5].detach()).sum()};
  if (rank == 1) std::reverse(terms.begin(), terms.end());
  if (rank == 1) terms.push_back(p[4].sum());
  at::Tensor total = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) total = (total + terms[i]) * 1.25;
  return total * factor;
}

}  // namespace

TEST_CASE("gradients are summed over processes, whatever the buckets", "[gradient_reducer]") {
  constexpr int64_t size = 3;
  std::vector<at::Tensor> expected(6);
  for (int64_t rank = 0; rank < size; ++rank) {
    const std::vector<at::Tensor> alone = parameters();
    loss(alone, rank).backward();
    for (size_t i = 0; i < 6; ++i) {
      if (!alone[i].grad().defined()) continue;
      expected[i] = expected[i].defined() ? expected[i] + alone[i].grad() : alone[i].grad();
    }
  }
  for (const auto& [bytes, buckets] : {std::pair<int64_t, int64_t>{1, 6}, {80, 5}, {int64_t{1} << 20, 3}}) {
    std::vector<std::vector<at::Tensor>> found(size);
    std::vector<int64_t> counts(size);
    ThreadProcesses(size).run([&, share = bytes](const Communicator& all) {
      const auto r = static_cast<size_t>(all.rank());
      found[r] = parameters();
      GradientReducer exchange(all, found[r], share);
      counts[r] = exchange.buckets();
      for (int step = 0; step < 2; ++step) {  // the second begins with buckets that were used
        for (at::Tensor& parameter : found[r]) parameter.mutable_grad().reset();
        exchange.begin();
        loss(found[r], all.rank()).backward();
        exchange.finish();
      }
    });
    for (size_t r = 0; r < size; ++r) {
      REQUIRE(counts[r] == buckets);
      for (size_t i = 0; i < 6; ++i) {
        REQUIRE(found[r][i].grad().defined() == expected[i].defined());
        if (!expected[i].defined()) continue;
        require_close(found[r][i].grad(), expected[i], 1e-6, "gradient " + std::to_string(i));
        require_equal(found[r][i].grad(), found[0][i].grad(), "the same in every process");
      }
    }
  }
}

TEST_CASE("a backward pass outside begin and finish is not reduced", "[gradient_reducer]") {
  std::vector<at::Tensor> alone = parameters(), watched = parameters();
  loss(alone, 0).backward();
  {
    const GradientReducer exchange(one_process(), watched, bucket_bytes_for(1));
    loss(watched, 0).backward();
    require_equal(watched[0].grad(), alone[0].grad(), "outside");
  }
  watched[0].mutable_grad().reset();
  loss(watched, 0).backward();
  require_equal(watched[0].grad(), alone[0].grad(), "after");
}

TEST_CASE("buckets grow with the processes", "[gradient_reducer]") {
  REQUIRE((bucket_bytes_for(1) == 1 << 20 && bucket_bytes_for(3) == 3 << 19 && bucket_bytes_for(8) == 4 << 20 &&
           bucket_bytes_for(64) == 8 << 20));
}

TEST_CASE("parameters that cannot be reduced are an error", "[gradient_reducer]") {
  require_error([] { GradientReducer(one_process(), {at::ones({2}, at::kHalf).requires_grad_(true)}, 1); },
                {"float32", "Half"});
  require_error(
      [] {
        GradientReducer(
            one_process(),
            {at::ones({2}).requires_grad_(true), at::ones({2}, at::TensorOptions(at::kMeta)).requires_grad_(true)}, 1);
      },
      {"one device", "cpu", "meta"});
  require_error([] { GradientReducer(one_process(), parameters(), 0); }, {"bucket_bytes", "0"});
}

}  // namespace geosft::test::test_gradient_reducer
