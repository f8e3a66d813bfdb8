// SPDX-License-Identifier: Apache-2.0
// Allocates arrays on huge pages for random access: on 4 KiB pages most time would be spent on TLB misses.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace geosft {

// Aligns to cache lines; arrays of at least 2 MiB use huge pages if the system provides them.
template <typename T>
struct LargePageAllocator {
  using value_type = T;
  LargePageAllocator() = default;
  template <typename U>
  LargePageAllocator(const LargePageAllocator<U>&) {}

  T* allocate(size_t count) {
    constexpr size_t large = size_t{1} << 21;
    const size_t unit = count * sizeof(T) >= large ? large : 64;
    const size_t bytes = (count * sizeof(T) + unit - 1) / unit * unit;
    void* memory = std::aligned_alloc(unit, bytes);
    if (memory == nullptr) throw std::bad_alloc();
#if defined(MADV_HUGEPAGE)
    if (unit == large) madvise(memory, bytes, MADV_HUGEPAGE);  // a hint; failure is harmless
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t) {
    std::free(memory);
  }
  bool operator==(const LargePageAllocator&) const {
    return true;
  }
};

template <typename T>
using LargeArray = std::vector<T, LargePageAllocator<T>>;

}  // namespace geosft
