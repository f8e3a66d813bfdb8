// SPDX-License-Identifier: Apache-2.0
#include "models/layers/rng_buffer.h"

#include <catch2/catch.hpp>

#include "models/ops/sample_pairs.h"
#include "tests/support.h"

namespace geosft::test::test_rng_buffer {

TEST_CASE("a buffer gives the numbers of its generator, in memory that stays in place", "[rng_buffer]") {
  const at::Generator plain = generator(3);
  RngBuffer buffer(generator(3), at::kCPU);
  const std::vector<int64_t> counts = {4, 1, 0, 7};
  for (const int64_t count : counts) require_equal(buffer.next(count), sample_seeds(count, plain), "first step");
  std::vector<const void*> places;
  for (int step = 0; step < 3; ++step) {
    buffer.refill();
    for (size_t i = 0; i < counts.size(); ++i) {
      const at::Tensor seeds = buffer.next(counts[i]);
      require_equal(seeds, sample_seeds(counts[i], plain), "step " + std::to_string(step));
      if (step == 0) places.push_back(seeds.const_data_ptr());
      CHECK(places[i] == seeds.const_data_ptr());
    }
  }
}

TEST_CASE("a step that requests other counts than the first is an error", "[rng_buffer]") {
  RngBuffer buffer(generator(3), at::kCPU);
  buffer.next(2);
  buffer.refill();
  require_error([&] { buffer.next(3); }, {"count", "which was 2", "got 3"});
  buffer.next(2);
  require_error([&] { buffer.next(2); }, {"count", "request 1"});
}

}  // namespace geosft::test::test_rng_buffer
