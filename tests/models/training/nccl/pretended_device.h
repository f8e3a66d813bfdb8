// SPDX-License-Identifier: Apache-2.0
// A device whose memory is that of the host, with streams: on the first one all is done at once, the others are threads
// that do one thing after the other beside the program. LibTorch knows it as PrivateUse1.
#pragma once

#include <ATen/ATen.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <atomic>
#include <chrono>
#include <future>
#include <map>
#include <memory>
#include <mutex>

#include "models/training/communicator.h"
#include "models/training/sockets/ordered_thread.h"
#include "tests/models/training/nccl/stand_in_stream.h"

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

  at::DeviceType type() const override { return pretended_device.type(); }
  at::Device exchangeDevice(at::Device) const override { return pretended_device; }
  at::Device getDevice() const override { return pretended_device; }
  void setDevice(at::Device) const override {}
  void uncheckedSetDevice(at::Device) const noexcept override {}
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }

  c10::Stream getStream(at::Device) const override { return stream(0); }
  c10::Stream exchangeStream(c10::Stream) const override { return stream(0); }
  c10::Stream getStreamFromGlobalPool(at::Device, bool) const override {
    const std::lock_guard lock(mutex_);
    streams_[++made_] = std::make_unique<PretendedStream>();
    return stream(made_);
  }
  void* getStreamNativeHandle(const c10::Stream stream) const override {
    return static_cast<StandInStream*>(thread_of(stream));
  }

  // An event is the future of what was on the stream when it was recorded; on the first one all is done.
  void record(void** event, const c10::Stream& stream, const c10::DeviceIndex, const c10::EventFlag) const override {
    if (*event == nullptr) *event = new Done();
    Done& done = *static_cast<Done*>(*event);
    done = stream.id() == 0 ? Done() : thread_of(stream)->then([] {});
  }
  void block(void* event, const c10::Stream& stream) const override {
    const Done done = *static_cast<Done*>(event);
    if (!done.valid()) return;
    if (stream.id() == 0) return done.wait();
    thread_of(stream)->add([done] { done.wait(); });
  }
  bool queryEvent(void* event) const override {
    const Done& done = *static_cast<Done*>(event);
    return !done.valid() || done.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }
  void destroyEvent(void* event, const c10::DeviceIndex) const noexcept override { delete static_cast<Done*>(event); }

 private:
  static c10::Stream stream(c10::StreamId id) { return {c10::Stream::UNSAFE, pretended_device, id}; }
  PretendedStream* thread_of(const c10::Stream& stream) const {
    const std::lock_guard lock(mutex_);
    return streams_.at(stream.id()).get();
  }

  mutable std::mutex mutex_;
  mutable c10::StreamId made_ = 0;
  mutable std::map<c10::StreamId, std::unique_ptr<PretendedStream>> streams_;
};

// For good: LibTorch asks for it when it likes.
inline void register_pretended_device() {
  static const c10::impl::DeviceGuardImplRegistrar registered(pretended_device.type(), new PretendedGuard());
}

// The values of a tensor of the host, as one on the device.
inline at::Tensor on_pretended_device(const at::Tensor& values) {
  auto* const memory = new at::Tensor(values);  // alive as long as the result
  c10::Storage storage(
      c10::Storage::use_byte_size_t(), values.nbytes(),
      at::DataPtr(
          values.data_ptr(), memory, [](void* held) { delete static_cast<at::Tensor*>(held); }, pretended_device));
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
  std::unique_ptr<PendingSum> start_sum(const at::Tensor& values) const override {
    return devices_.start_sum(on_pretended_device(values));
  }
  void await_turn_to_speak() const override { devices_.await_turn_to_speak(); }

 private:
  const Communicator& devices_;
};

}  // namespace geosft::test
