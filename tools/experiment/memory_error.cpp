// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/memory_error.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <new>

namespace geosft {
namespace {

std::string text_of(const c10::Error& error) {
  const std::string text = error.what_without_backtrace();
  return text.substr(0, text.find('\n'));
}

// LibTorch's CPU allocator has no error type of its own; the end of its message gives the requested size.
std::optional<std::string> wanted_on_cpu(const std::string& text) {
  const size_t allocator = text.find("DefaultCPUAllocator: ");
  return allocator == std::string::npos ? std::nullopt : std::optional(text.substr(allocator));
}

// Allocations outside LibTorch's GPU allocator (contexts, kernels, cuBLAS and other libraries, page-locked memory) fail
// with an ordinary c10::AcceleratorError or c10::Error, recognised by its text.
bool wanted_on_gpu(const c10::Error& error) {
  constexpr std::array<const char*, 4> said{"CUDA error: out of memory", "cudaErrorMemoryAllocation",
                                            "CUDA did not take a kernel: out of memory", "_STATUS_ALLOC_FAILED"};
  const std::string text = error.what_without_backtrace();
  return std::any_of(said.begin(), said.end(),
                     [&](const char* words) { return text.find(words) != std::string::npos; });
}

}  // namespace

std::optional<std::string> memory_error(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    return "out of memory";
  } catch (const c10::OutOfMemoryError& gpu) {
    return "out of memory: " + text_of(gpu);
  } catch (const c10::Error& other) {
    const std::string text = text_of(other);
    if (const auto cpu = wanted_on_cpu(text)) return "out of memory: " + *cpu;
    return wanted_on_gpu(other) ? std::optional("out of memory: " + text) : std::nullopt;
  } catch (...) {
    return std::nullopt;
  }
}

}  // namespace geosft
