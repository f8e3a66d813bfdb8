// SPDX-License-Identifier: Apache-2.0
#include "models/training/host_copy.h"

#include <c10/core/impl/VirtualGuardImpl.h>

#include "geometry/device_offsets.h"
#include "models/training/copy_stream.h"

namespace geosft {

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

void copy_to_device(const at::Tensor& values, const at::Tensor& target) {
  target.copy_(target.is_cuda() ? values.pin_memory() : values, /*non_blocking=*/true);
}

at::Tensor device_copy(const at::Tensor& values, at::Device device) {
  if (!values.defined() || values.device() == device) return values;
  if (!device.is_cuda() || !values.is_cpu()) return values.to(device);
  const at::Tensor locked = values.contiguous().pin_memory();
  return on_copy_stream(device, [&] { return locked.to(device, /*non_blocking=*/true); });
}

at::Tensor offsets_for(const at::Tensor& ptr, at::Device device) {
  return device.is_cpu() ? ptr : ptr_with_device_copy(ptr, device_copy(ptr, device));
}

}  // namespace geosft
