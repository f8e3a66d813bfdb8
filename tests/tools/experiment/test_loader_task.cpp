// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/loader_task.h"

#include <catch2/catch.hpp>

#include "tests/models/training/distributed/thread_processes.h"
#include "tests/support.h"

namespace geosft::test::test_loader_task {

TEST_CASE("processes that share a batch have the random numbers of one process for their items") {
  // Items of two documents each: sizes of documents 2 3 | 1 4 | 5 2.
  const std::vector<at::Tensor> ptr = {at::tensor({0, 2, 5}, at::kLong), at::tensor({0, 1, 5}, at::kLong),
                                       at::tensor({0, 5, 7}, at::kLong), at::tensor({0, 5, 7}, at::kLong)};
  SamplingContext alone = SamplingContext::training(generator(2));
  const at::Tensor seeds = alone.next_seeds(6, at::kCPU), mask = alone.dropout(at::ones({17, 3}), 0.5);
  std::vector<at::Tensor> found(4), masks(4);
  ThreadProcesses(4).run([&](const Communicator& all) {
    const auto r = static_cast<size_t>(all.rank());
    const BatchSlice place = r == 3 ? BatchSlice{2, 1, 3, true} : BatchSlice{all.rank(), 1, 3, false};
    RngBuffer rng(generator(2), at::kCPU);
    SamplingContext context = shared_context(rng, all, place, ptr[r]);
    found[r] = context.next_seeds(2, at::kCPU);
    masks[r] = context.dropout(at::ones({ptr[r][2].item<int64_t>(), 3}), 0.5);
  });
  for (int64_t r = 0; r < 3; ++r) require_equal(found[static_cast<size_t>(r)], seeds.narrow(0, 2 * r, 2), "seeds");
  require_equal(at::cat({masks[0], masks[1], masks[2]}), mask, "mask");
  require_equal(found[3], found[2], "the spare one has the last item");
  RngBuffer rng(generator(2), at::kCPU);
  SamplingContext same = shared_context(rng, one_process(), {0, 3, 3, false}, ptr[0]);
  require_equal(same.next_seeds(6, at::kCPU), seeds, "alone");
}

}  // namespace geosft::test::test_loader_task
