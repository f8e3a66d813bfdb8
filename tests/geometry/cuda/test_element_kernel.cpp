// SPDX-License-Identifier: Apache-2.0
#include "geometry/cuda/element_kernel.cuh"

#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

#include "tests/geometry/cuda/emulated_block.h"

namespace geosft::test::test_element_kernel {
namespace {

// Counts how often each element is computed.
struct Visits {
  int32_t* visits;
  int64_t count;

  int64_t elements() const { return count; }
  void compute(int64_t at) const { ++visits[at]; }
};

}  // namespace

TEST_CASE("every element of a call is computed once, and none beyond", "[element_kernel]") {
  for (const int64_t count : {0, 1, 31, 32, 33, 255, 256, 257, 1000}) {
    INFO(count << " elements");
    std::vector<int32_t> visits(static_cast<size_t>(count) + 300, 0), once = visits;
    for (int64_t at = 0; at < count; ++at) once[static_cast<size_t>(at)] = 1;
    cuda::run_grids(Visits{visits.data(), count}, EmulatedGrids<ThreadOrder::kAscending>());
    CHECK(visits == once);
    visits.assign(visits.size(), 0);
    cuda::element_grid<32>(Visits{visits.data(), count}, EmulatedGrids<ThreadOrder::kDescending>());
    CHECK(visits == once);
  }
}

}  // namespace geosft::test::test_element_kernel
