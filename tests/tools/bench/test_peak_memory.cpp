// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/peak_memory.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <catch2/catch.hpp>

namespace geosft::bench::test::test_peak_memory {
namespace {

at::Tensor bytes(int64_t count) {
  return at::empty({count}, at::TensorOptions().dtype(at::kByte));
}

}  // namespace

TEST_CASE("the peak is that of tensors alive at one time", "[bench]") {
  CHECK(peak_tensor_bytes([] {}) == 0);
  CHECK(peak_tensor_bytes([] {
          { const at::Tensor first = bytes(1000); }
          const at::Tensor second = bytes(600);
        }) == 1000);
  CHECK(peak_tensor_bytes([] {
          const at::Tensor first = bytes(1000);
          const at::Tensor second = bytes(600);
        }) == 1600);
}

TEST_CASE("what lived before does not count, what lives on does no harm", "[bench]") {
  at::Tensor before = bytes(5000), kept;
  CHECK(peak_tensor_bytes([&] {
          before = at::Tensor();
          kept = bytes(700);
        }) == 700);
  CHECK(peak_tensor_bytes([&] { kept = bytes(900); }) == 900);
  kept.fill_(3);
  CHECK(kept.sum().item<int64_t>() == 2700);
}

TEST_CASE("other threads' tensors count, and an exception leaves the allocator as it was", "[bench]") {
  CHECK(peak_tensor_bytes([] {
          at::parallel_for(0, 2, 1, [](int64_t, int64_t) { const at::Tensor one = bytes(1 << 20); });
        }) >= 1 << 20);
  CHECK_THROWS_AS(peak_tensor_bytes([] { throw std::runtime_error("stop"); }), std::runtime_error);
  CHECK(peak_tensor_bytes([] { const at::Tensor one = bytes(10); }) == 10);
}

}  // namespace geosft::bench::test::test_peak_memory
