// SPDX-License-Identifier: Apache-2.0
#include "models/training/host_copy.h"

#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <mutex>
#include <unordered_map>

#include "geometry/device_offsets.h"

namespace geosft {
namespace {

// One stream per device, so that the caching allocator reuses the memory of earlier copies.
c10::Stream stream_for_copies(const c10::impl::VirtualGuardImpl& devices, at::Device device) {
  static std::mutex mutex;
  static std::unordered_map<at::Device, c10::Stream> streams;
  const std::lock_guard<std::mutex> lock(mutex);
  auto found = streams.find(device);
  if (found == streams.end()) found = streams.emplace(device, devices.getStreamFromGlobalPool(device)).first;
  return found->second;
}

}  // namespace

HostCopy::HostCopy(const at::Tensor& values) : host_(values.detach()) {
  const at::Device device = values.device();
  if (!device.is_cuda()) {
    host_ = host_.cpu();
    return;
  }
  host_ = at::empty(values.sizes(), values.options().device(at::kCPU).pinned_memory(true).requires_grad(false));
  host_.copy_(values.detach(), /*non_blocking=*/true);
  copied_.emplace(device.type());
  copied_->record(c10::impl::VirtualGuardImpl(device.type()).getStream(device));
}

const at::Tensor& HostCopy::values() const {
  if (copied_) copied_->synchronize();
  return host_;
}

void copy_without_waiting(const at::Tensor& values, const at::Tensor& target) {
  target.copy_(target.is_cuda() ? values.pin_memory() : values, /*non_blocking=*/true);
}

at::Tensor on_copy_stream(at::Device device, const std::function<at::Tensor()>& copy) {
  const c10::impl::VirtualGuardImpl devices(device.type());
  if (!device.has_index()) device = devices.getDevice();
  const c10::Stream current = devices.getStream(device), aside = stream_for_copies(devices, device);
  c10::Event copied(device.type());
  at::Tensor there;
  {
    const c10::StreamGuard guard(aside);
    there = copy();
    copied.record(aside);
  }
  copied.block(current);
  // The memory belongs to the copy stream, which must not reuse it while the current stream still reads it.
  devices.recordDataPtrOnStream(there.storage().data_ptr(), current);
  return there;
}

at::Tensor overlapping_copy(const at::Tensor& values, at::Device device) {
  if (!values.defined() || values.device() == device) return values;
  if (!device.is_cuda() || !values.is_cpu()) return values.to(device);
  const at::Tensor locked = values.contiguous().pin_memory();
  return on_copy_stream(device, [&] { return locked.to(device, /*non_blocking=*/true); });
}

at::Tensor offsets_for(const at::Tensor& ptr, at::Device device) {
  return device.is_cpu() ? ptr : ptr_with_device_copy(ptr, overlapping_copy(ptr, device));
}

}  // namespace geosft
