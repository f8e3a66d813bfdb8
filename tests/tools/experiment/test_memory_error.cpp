// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/memory_error.h"

#include <ATen/ATen.h>

#include <catch2/catch.hpp>
#include <new>
#include <stdexcept>

namespace geosft::test::test_memory_error {
namespace {

template <class Fail>
std::optional<std::string> text(const Fail& fail) {
  try {
    fail();
  } catch (...) {
    return memory_error(std::current_exception());
  }
  return std::nullopt;
}

// As C10_CUDA_CHECK throws them.
[[noreturn]] void throw_accelerator_error(int32_t code, const std::string& message) {
  throw c10::AcceleratorError({__func__, __FILE__, __LINE__}, code, message);
}

}  // namespace

TEST_CASE("too little memory is told from other errors") {
  CHECK(text([] { throw std::bad_alloc(); }) == "out of memory");
  CHECK_THAT(text([] { at::empty({int64_t{1} << 50}); }).value(),
             Catch::StartsWith("out of memory: ") && Catch::Contains("4503599627370496 bytes"));
  const auto gpu = [] { TORCH_CHECK_WITH(OutOfMemoryError, false, "CUDA out of memory.\nMore"); };
  CHECK(text(gpu) == "out of memory: CUDA out of memory.");
  CHECK_FALSE(text([] { TORCH_CHECK(false, "points: expected [n, 3]"); }));
  CHECK_FALSE(text([] { throw std::runtime_error("disk full"); }));
  CHECK_FALSE(text([] { throw 3; }));
}

TEST_CASE("a GPU's want of memory is understood where LibTorch's allocator did not ask for it") {
  const auto allocation = [] {
    throw_accelerator_error(2, "CUDA error: out of memory\nSearch for `cudaErrorMemoryAllocation' in https://…");
  };
  CHECK(text(allocation) == "out of memory: CUDA error: out of memory");
  const auto named = [] { throw_accelerator_error(2, "CUDA error: no room\nSearch for `cudaErrorMemoryAllocation'"); };
  CHECK(text(named) == "out of memory: CUDA error: no room");
  const auto cublas = [] {
    TORCH_CHECK(false, "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`");
  };
  CHECK(text(cublas) == "out of memory: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`");
  const auto launch = [] { TORCH_CHECK(false, "knn: CUDA did not take a kernel: out of memory"); };
  CHECK(text(launch) == "out of memory: knn: CUDA did not take a kernel: out of memory");
  CHECK_FALSE(text([] { throw_accelerator_error(700, "CUDA error: an illegal memory access was encountered"); }));
  CHECK_FALSE(text([] { TORCH_CHECK(false, "CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling …"); }));
}

}  // namespace geosft::test::test_memory_error
