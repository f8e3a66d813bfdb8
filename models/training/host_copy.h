// SPDX-License-Identifier: Apache-2.0
// Copies tensors between the CPU and a GPU asynchronously.
#pragma once

#include <ATen/ATen.h>
#include <c10/core/Event.h>

#include <functional>
#include <optional>

namespace geosft {

// An asynchronous copy to the CPU: the constructor enqueues it, values() waits for it.
class HostCopy {
 public:
  explicit HostCopy(const at::Tensor& values);

  const at::Tensor& values() const;

 private:
  at::Tensor host_;
  std::optional<c10::Event> copied_;
};

// Copies values on the CPU into `target`, of the same shape on any device, without waiting; through pinned memory if
// the target is on a GPU.
void copy_without_waiting(const at::Tensor& values, const at::Tensor& target);

// Calls `copy`, which creates a tensor on `device`, on the copy stream of the device: what it enqueues overlaps with
// earlier work of the current stream. The current stream waits for it before later work, and may use the tensor like
// its own. Must not be called during a capture.
at::Tensor on_copy_stream(at::Device device, const std::function<at::Tensor()>& copy);

// Copies a tensor to a device without waiting: to a GPU through pinned memory and on another stream (on_copy_stream),
// so that the copy of a batch overlaps with the previous step. Returns undefined tensors, and those already on the
// device, unchanged.
at::Tensor overlapping_copy(const at::Tensor& values, at::Device device);

// Returns the offsets `ptr` of a batch, on the CPU, for operators on `device`: with a copy there
// (ptr_with_device_copy), made by overlapping_copy.
at::Tensor offsets_for(const at::Tensor& ptr, at::Device device);

}  // namespace geosft
