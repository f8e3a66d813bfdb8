// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/peak_memory.h"

#include <c10/core/CPUAllocator.h>

#include <atomic>
#include <memory>

namespace geosft::bench {
namespace {

// Blocks outlive the allocator that counted them, the counter must too.
struct Counter {
  std::atomic<int64_t> now{0}, peak{0};

  void add(int64_t bytes) {
    const int64_t total = now.fetch_add(bytes) + bytes;
    int64_t seen = peak.load();
    while (total > seen && !peak.compare_exchange_weak(seen, total)) {
    }
  }
};

struct Block {
  c10::DataPtr data;
  int64_t bytes;
  std::shared_ptr<Counter> counter;
};

void release(void* context) {
  const std::unique_ptr<Block> block(static_cast<Block*>(context));
  block->counter->add(-block->bytes);
}

class CountingAllocator final : public c10::Allocator {
 public:
  explicit CountingAllocator(c10::Allocator& inner) : inner_(inner), counter_(std::make_shared<Counter>()) {}

  c10::DataPtr allocate(size_t bytes) override {
    auto block = std::make_unique<Block>(Block{inner_.allocate(bytes), static_cast<int64_t>(bytes), counter_});
    void* const data = block->data.get();
    const c10::Device device = block->data.device();
    counter_->add(block->bytes);
    return {data, block.release(), &release, device};
  }
  void copy_data(void* to, const void* from, size_t bytes) const override { default_copy_data(to, from, bytes); }
  int64_t peak() const { return counter_->peak.load(); }

 private:
  c10::Allocator& inner_;
  std::shared_ptr<Counter> counter_;
};

// LibTorch's allocator of the CPU while it lives.
class Installed {
 public:
  Installed() : before_(*c10::GetCPUAllocator()), counting_(before_) { c10::SetCPUAllocator(&counting_, priority); }
  ~Installed() { c10::SetCPUAllocator(&before_, priority); }
  Installed(const Installed&) = delete;
  Installed& operator=(const Installed&) = delete;
  int64_t peak() const { return counting_.peak(); }

 private:
  static constexpr uint8_t priority = 1;
  c10::Allocator& before_;
  CountingAllocator counting_;
};

}  // namespace

int64_t peak_tensor_bytes(const std::function<void()>& body) {
  const Installed counting;
  body();
  return counting.peak();
}

}  // namespace geosft::bench
