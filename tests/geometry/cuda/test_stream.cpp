// SPDX-License-Identifier: Apache-2.0
#include "geometry/cuda/stream.h"

#include <catch2/catch.hpp>
#include <vector>

#include "tests/support.h"

namespace geosft::test::test_stream {

TEST_CASE("a launch that fails names its operator and what CUDA said") {
  REQUIRE_NOTHROW(cuda::check_launch(nullptr, "knn"));
  require_error([] { cuda::check_launch("too many resources requested for launch", "knn"); },
                {"knn: ", "too many resources requested for launch"});
}

TEST_CASE("there is no stream on a device whose library is not loaded") {
  // LibTorch has no library for the second one anywhere.
  std::vector<at::Device> absent = {at::Device(at::DeviceType::VE, 0)};
  if (!at::hasCUDA()) absent.emplace_back(at::kCUDA, 0);
  for (const at::Device& device : absent) {
    require_error([&] { cuda::Stream{device}; }, {c10::DeviceTypeName(device.type(), /*lower_case=*/true)});
  }
}

}  // namespace geosft::test::test_stream
