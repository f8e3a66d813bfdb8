// SPDX-License-Identifier: Apache-2.0
#include "tools/common/device.h"

#include <catch2/catch.hpp>

#include "tests/support.h"
#include "tools/common/arguments.h"

namespace geosft::test::test_device {

TEST_CASE("the CPU can always be had, and is what auto gives where there is no GPU") {
  CHECK(chosen_device("cpu") == at::kCPU);
  if (!missing_for_cuda().empty()) CHECK(chosen_device("auto") == at::kCPU);
}

TEST_CASE("a device that is none is named, and one that cannot be used with the reason") {
  for (const char* name : {"gpu", "cuda:", "cuda:x", "cuda:1000", "", "CUDA"}) {
    CHECK_THROWS_AS(chosen_device(name), UsageError);
    require_error([&] { chosen_device(name); }, {"--device", "auto, cpu, cuda", name});
  }
  const std::string missing = missing_for_cuda();
  if (missing.empty()) {
    CHECK(chosen_device("cuda:0").is_cuda());
    require_error([&] { chosen_device("cuda:999"); }, {"cuda:999", "GPUs"});
  } else {
    require_error([&] { chosen_device("cuda:0"); }, {"cuda:0", missing, "--device cpu"});
  }
}

}  // namespace geosft::test::test_device
