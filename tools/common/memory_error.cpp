// SPDX-License-Identifier: Apache-2.0
#include "tools/common/memory_error.h"

#include <c10/util/Exception.h>

#include <new>

namespace geosft {
namespace {

std::string text_of(const c10::Error& error) {
  const std::string text = error.what_without_backtrace();
  return text.substr(0, text.find('\n'));
}

}  // namespace

std::optional<std::string> memory_error(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    return "out of memory";
  } catch (const c10::OutOfMemoryError& gpu) {
    return "out of memory: " + text_of(gpu);
  } catch (const c10::Error& cpu) {
    // LibTorch's allocator of the CPU has no error of its own.
    const std::string text = text_of(cpu);
    const size_t allocator = text.find("DefaultCPUAllocator: ");
    if (allocator == std::string::npos) return std::nullopt;
    return "out of memory: " + text.substr(allocator);
  } catch (...) {
    return std::nullopt;
  }
}

}  // namespace geosft
