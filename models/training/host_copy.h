// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>
#include <c10/core/Event.h>

#include <optional>

namespace geosft {

// A tensor on its way to the CPU: the copy is enqueued when this is made, and waited for when it is read.
class HostCopy {
 public:
  explicit HostCopy(const at::Tensor& values);

  const at::Tensor& values() const;

 private:
  at::Tensor host_;
  std::optional<c10::Event> copied_;
};

// The values of a tensor on the CPU on their way into `target`, of the same shape on any device, which nothing waits
// for: through page-locked memory if that is on a GPU.
void copy_to_device(const at::Tensor& values, const at::Tensor& target);

// A tensor on its way to a device, which the program does not wait for: if that is a GPU, through page-locked memory
// and beside what it computes (on_copy_stream), so that a batch travels while the step before it runs. Undefined
// tensors stay undefined, and tensors that are there already are the same.
at::Tensor device_copy(const at::Tensor& values, at::Device device);

// Offsets of a batch, ptr on the CPU, for operators on `device`: with a copy there (ptr_with_device_copy), which came
// as that of device_copy.
at::Tensor offsets_for(const at::Tensor& ptr, at::Device device);

}  // namespace geosft
