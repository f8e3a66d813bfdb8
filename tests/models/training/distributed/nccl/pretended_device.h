// SPDX-License-Identifier: Apache-2.0
// A device whose memory is that of the host, with streams: threads that do one thing after the other beside the
// program. LibTorch knows it as PrivateUse1.
#pragma once

#include <ATen/ATen.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <atomic>
#include <chrono>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "models/training/distributed/communicator.h"
#include "models/training/distributed/sockets/ordered_thread.h"
#include "tests/models/training/distributed/nccl/stand_in_stream.h"

namespace geosft::test {

inline const at::Device pretended_device{at::DeviceType::PrivateUse1, 0};

class PretendedStream : public StandInStream {
 public:
  void add(std::function<void()> task) override { then(std::move(task)); }
  std::shared_future<void> then(std::function<void()> task) { return thread_.add(std::move(task)).share(); }

 private:
  OrderedThread thread_;
};

class PretendedGuard final : public c10::impl::DeviceGuardImplInterface {
 public:
  using Done = std::shared_future<void>;

  PretendedGuard() { streams_[0] = std::make_unique<PretendedStream>(); }  // the one that computes
  at::DeviceType type() const override { return pretended_device.type(); }
  at::Device exchangeDevice(at::Device) const override { return pretended_device; }
  at::Device getDevice() const override { return pretended_device; }
  void setDevice(at::Device) const override {
    static thread_local bool said = false;
    if (!std::exchange(said, true)) ++threads_;
  }
  void uncheckedSetDevice(at::Device) const noexcept override {}
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }

  c10::Stream getStream(at::Device) const override { return stream(current()); }
  c10::Stream exchangeStream(c10::Stream next) const override { return stream(std::exchange(current(), next.id())); }
  c10::Stream getStreamFromGlobalPool(at::Device, bool) const override {
    const std::lock_guard lock(mutex_);
    streams_[++made_] = std::make_unique<PretendedStream>();
    return stream(made_);
  }
  void* getStreamNativeHandle(const c10::Stream stream) const override {
    return static_cast<StandInStream*>(thread_of(stream));
  }
  void synchronizeStream(const c10::Stream& stream) const override {
    thread_of(stream)->then([] {}).wait();
  }

  // An event is the future of what was on the stream when it was recorded.
  void record(void** event, const c10::Stream& stream, const c10::DeviceIndex, const c10::EventFlag) const override {
    if (*event == nullptr) *event = new Done();
    *static_cast<Done*>(*event) = thread_of(stream)->then([] {});
  }
  void block(void* event, const c10::Stream& stream) const override {
    thread_of(stream)->add([this, done = *static_cast<Done*>(event)] {
      ++blocked_;
      done.wait();
      --blocked_;
    });
  }
  bool queryEvent(void* event) const override {
    return static_cast<Done*>(event)->wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }
  void destroyEvent(void* event, const c10::DeviceIndex) const noexcept override { delete static_cast<Done*>(event); }
  void recordDataPtrOnStream(const c10::DataPtr& memory, const c10::Stream& stream) const override {
    const std::lock_guard lock(mutex_);
    readers_[memory.get()] = stream.id();
  }

  // How many threads have said which device they are about.
  int threads() const { return threads_; }
  // How many streams wait for an event now.
  int blocked() const { return blocked_; }
  // The stream that is known to read what another one made; none: -1.
  c10::StreamId reader_of(const at::Tensor& tensor) const {
    const std::lock_guard lock(mutex_);
    const auto found = readers_.find(tensor.storage().data_ptr().get());
    return found == readers_.end() ? -1 : found->second;
  }

 private:
  static c10::StreamId& current() {
    static thread_local c10::StreamId id = 0;
    return id;
  }
  static c10::Stream stream(c10::StreamId id) { return c10::Stream(c10::Stream::UNSAFE, pretended_device, id); }
  PretendedStream* thread_of(const c10::Stream& stream) const {
    const std::lock_guard lock(mutex_);
    return streams_.at(stream.id()).get();
  }

  mutable std::mutex mutex_;
  mutable c10::StreamId made_ = 0;
  mutable std::map<const void*, c10::StreamId> readers_;
  mutable std::map<c10::StreamId, std::unique_ptr<PretendedStream>> streams_;
  mutable std::atomic<int> threads_ = 0, blocked_ = 0;
};

// Registered when first asked for, and for good: LibTorch asks for it when it likes.
inline const PretendedGuard& pretended_guard() {
  static const auto* const guard = new PretendedGuard();
  static const c10::impl::DeviceGuardImplRegistrar registered(pretended_device.type(), guard);
  return *guard;
}

// The current stream: the one on which the device computes, where nobody has said otherwise.
inline PretendedStream& computing_stream() {
  const PretendedGuard& guard = pretended_guard();
  auto* const handle = static_cast<StandInStream*>(guard.getStreamNativeHandle(guard.getStream(pretended_device)));
  return dynamic_cast<PretendedStream&>(*handle);
}

// As whoever reads what is on the device does.
inline void finish_computing() {
  computing_stream().then([] {}).wait();
}

// The values of a tensor of the host, as one on the device. `owner` lives as long as the result.
inline at::Tensor on_pretended_device(const at::Tensor& values, std::shared_ptr<void> owner = {}) {
  using Held = std::pair<at::Tensor, std::shared_ptr<void>>;
  auto* const held = new Held(values, std::move(owner));
  c10::Storage storage(
      c10::Storage::use_byte_size_t(), values.nbytes(),
      at::DataPtr(
          values.data_ptr(), held, [](void* last) { delete static_cast<Held*>(last); }, pretended_device));
  at::Tensor made = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), values.dtype());
  made.unsafeGetTensorImpl()->set_sizes_and_strides(values.sizes(), values.strides());
  return made;
}

// Processes with such a device each, as those see them that have their values on the host: all sums go over the
// devices.
class OverPretendedDevices : public Communicator {
 public:
  explicit OverPretendedDevices(const Communicator& devices) : devices_(devices) {}
  int64_t rank() const override { return devices_.rank(); }
  int64_t size() const override { return devices_.size(); }
  std::unique_ptr<Work> all_reduce(const at::Tensor& values) const override {
    return std::make_unique<Read>(devices_.all_reduce(on_pretended_device(values)));
  }
  void check() const override { devices_.check(); }
  void elect_error_reporter() const override { devices_.elect_error_reporter(); }

 private:
  // A sum that the host reads.
  class Read : public Work {
   public:
    explicit Read(std::unique_ptr<Work> sum) : sum_(std::move(sum)) {}
    void wait() override {
      sum_->wait();
      finish_computing();
    }

   private:
    std::unique_ptr<Work> sum_;
  };

  const Communicator& devices_;
};

}  // namespace geosft::test
