// SPDX-License-Identifier: Apache-2.0
// Memory in which a read or a write beside a tensor ends the test, instead of going unnoticed.
#pragma once

#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <functional>

namespace geosft::test {

// Where a tensor lies in its pages: a page holds more than the tensor, and only one end can touch a forbidden page.
enum class GuardedEnd { first, last };

// While it lives, each tensor on the CPU that is made has pages of its own, between pages that may be neither read nor
// written: whoever touches them gets SIGSEGV, which Catch reports as a failure of the case.
class GuardedMemory {
 public:
  explicit GuardedMemory(GuardedEnd end) : allocator_(end), before_(*c10::GetCPUAllocator()) {
    c10::SetCPUAllocator(&allocator_, priority);
  }
  ~GuardedMemory() { c10::SetCPUAllocator(&before_, priority); }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

 private:
  static constexpr uint8_t priority = 1;
  // On each side: more than the arrays of these tests are long, so that an index that is wrong by the length of an
  // array is noticed.
  static constexpr size_t wall = size_t{8} << 20;

  struct Pages {
    void* address;
    size_t bytes;
  };

  class Allocator final : public c10::Allocator {
   public:
    explicit Allocator(GuardedEnd end) : end_(end) {}
    c10::DataPtr allocate(size_t bytes) override {
      if (bytes == 0) return {nullptr, at::Device(at::kCPU)};
      const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
      const size_t inside = (bytes + page - 1) / page * page, all = inside + 2 * wall;
      void* const address = ::mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      TORCH_CHECK(address != MAP_FAILED, "no address space for ", all, " bytes");
      std::byte* const begin = static_cast<std::byte*>(address) + wall;
      TORCH_CHECK(::mprotect(begin, inside, PROT_READ | PROT_WRITE) == 0, "no memory for ", inside, " bytes");
      std::byte* const data = end_ == GuardedEnd::first ? begin : begin + (inside - bytes);
      const auto release = [](void* pages) {
        const auto* const held = static_cast<Pages*>(pages);
        ::munmap(held->address, held->bytes);
        delete held;
      };
      return {data, new Pages{address, all}, release, at::Device(at::kCPU)};
    }
    void copy_data(void* to, const void* from, size_t bytes) const override { default_copy_data(to, from, bytes); }

   private:
    GuardedEnd end_;
  };

  Allocator allocator_;
  c10::Allocator& before_;
};

// Runs `body` twice, with tensors that begin where forbidden memory ends, and with tensors that end where it begins.
// What `body` reads and writes must be made in it, or copied there.
inline void with_guarded_memory(const std::function<void()>& body) {
  for (const GuardedEnd end : {GuardedEnd::first, GuardedEnd::last}) {
    const GuardedMemory guarded(end);
    body();
  }
}

}  // namespace geosft::test
