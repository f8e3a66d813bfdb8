// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/peak_memory.h"

#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <mutex>
#include <unordered_map>

namespace geosft::bench {
namespace {

// Records the blocks of one measurement by address. A singleton, since LibTorch frees blocks with a plain function that
// gets only the address. Blocks from before the measurement may be freed during it, and vice versa.
class Ledger {
 public:
  static Ledger& instance() {
    static Ledger ledger;
    return ledger;
  }
  void begin(c10::DeleterFnPtr free_block) {
    const std::lock_guard<std::mutex> lock(mutex_);
    free_ = free_block;
    bytes_.clear();
    now_ = peak_ = 0;
  }
  void add(void* block, size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    bytes_[block] = static_cast<int64_t>(bytes);
    now_ += static_cast<int64_t>(bytes);
    peak_ = std::max(peak_, now_);
  }
  // Unknown blocks are older than the measurement and do not count.
  c10::DeleterFnPtr remove(void* block) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (const auto found = bytes_.find(block); found != bytes_.end()) {
      now_ -= found->second;
      bytes_.erase(found);
    }
    return free_;
  }
  int64_t peak() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return peak_;
  }

 private:
  std::mutex mutex_;
  c10::DeleterFnPtr free_ = nullptr;
  std::unordered_map<void*, int64_t> bytes_;
  int64_t now_ = 0, peak_ = 0;
};

void release(void* block) {
  Ledger::instance().remove(block)(block);
}

class CountingAllocator final : public c10::Allocator {
 public:
  explicit CountingAllocator(c10::Allocator& inner) : inner_(inner) {
    TORCH_CHECK(inner.raw_deleter() != nullptr, "LibTorch's CPU allocator cannot be counted: it has no raw deleter");
    Ledger::instance().begin(inner.raw_deleter());
  }

  c10::DataPtr allocate(size_t bytes) override {
    void* const block = inner_.raw_allocate(bytes);
    if (block != nullptr) Ledger::instance().add(block, bytes);
    return {block, block, &release, at::Device(at::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, size_t bytes) const override { default_copy_data(to, from, bytes); }

 private:
  c10::Allocator& inner_;
};

// Installs the counting allocator as LibTorch's CPU allocator during its lifetime.
class Installed {
 public:
  Installed() : before_(*c10::GetCPUAllocator()), counting_(before_) { c10::SetCPUAllocator(&counting_, priority); }
  ~Installed() { c10::SetCPUAllocator(&before_, priority); }
  Installed(const Installed&) = delete;
  Installed& operator=(const Installed&) = delete;

 private:
  static constexpr uint8_t priority = 1;
  c10::Allocator& before_;
  CountingAllocator counting_;
};

}  // namespace

int64_t peak_tensor_bytes(const std::function<void()>& body) {
  const Installed counting;
  body();
  return Ledger::instance().peak();
}

}  // namespace geosft::bench
