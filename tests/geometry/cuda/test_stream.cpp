// SPDX-License-Identifier: Apache-2.0
#include "geometry/cuda/stream.h"

#include <catch2/catch.hpp>

#include "tests/support.h"

namespace geosft::test::test_stream {

TEST_CASE("a launch that fails names its operator and what CUDA said") {
  REQUIRE_NOTHROW(cuda::check_launch(nullptr, "knn"));
  require_error([] { cuda::check_launch("too many resources requested for launch", "knn"); },
                {"knn: ", "too many resources requested for launch"});
}

TEST_CASE("there is no stream on a device whose library is not loaded") {
  if (at::hasCUDA()) {
    WARN("a GPU is here: skipped");
    return;
  }
  require_error([] { cuda::Stream(at::Device(at::kCUDA, 0)); }, {"cuda"});
}

}  // namespace geosft::test::test_stream
