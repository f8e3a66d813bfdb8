// SPDX-License-Identifier: Apache-2.0
#include "models/layers/seed_tape.h"

#include <catch2/catch.hpp>

#include "models/ops/sample_pairs.h"
#include "tests/support.h"

namespace geosft::test::test_seed_tape {

TEST_CASE("a tape gives the draws of its generator, in memory that stays", "[seed_tape]") {
  const at::Generator plain = generator(3);
  SeedTape tape(generator(3), at::kCPU);
  const std::vector<int64_t> counts = {4, 1, 0, 7};
  for (const int64_t count : counts) require_equal(tape.next(count), sample_seeds(count, plain), "first step");
  std::vector<const void*> places;
  for (int step = 0; step < 3; ++step) {
    tape.redraw();
    for (size_t i = 0; i < counts.size(); ++i) {
      const at::Tensor drawn = tape.next(counts[i]);
      require_equal(drawn, sample_seeds(counts[i], plain), "step " + std::to_string(step));
      if (step == 0) places.push_back(drawn.const_data_ptr());
      CHECK(places[i] == drawn.const_data_ptr());
    }
  }
}

TEST_CASE("a step that draws otherwise than the first is an error", "[seed_tape]") {
  SeedTape tape(generator(3), at::kCPU);
  tape.next(2);
  tape.redraw();
  require_error([&] { tape.next(3); }, {"count", "which was 2", "got 3"});
  tape.next(2);
  require_error([&] { tape.next(2); }, {"count", "draw 1"});
}

}  // namespace geosft::test::test_seed_tape
