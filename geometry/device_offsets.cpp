// SPDX-License-Identifier: Apache-2.0
#include "geometry/device_offsets.h"

#include <c10/core/TensorImpl.h>

#include "geometry/packed.h"

namespace geosft {
namespace {

// Device copy of offsets, attached to a tensor as backend metadata, which LibTorch preserves through operators and
// backward passes.
struct OffsetsCopy : c10::BackendMeta {
  OffsetsCopy(at::Tensor values, int64_t of_version) : copy(std::move(values)), version(of_version) {}

  at::Tensor copy;
  int64_t version;  // version of the tensor at the time of the copy
};

int64_t version_of(const at::Tensor& ptr) {
  return ptr.is_inference() ? 0 : ptr._version();
}

at::Tensor carried_copy(const at::Tensor& ptr, at::Device device) {
  const auto* const carried = dynamic_cast<OffsetsCopy*>(ptr.unsafeGetTensorImpl()->get_backend_meta());
  const bool same = carried != nullptr && carried->copy.device() == device && carried->version == version_of(ptr);
  return same ? carried->copy : at::Tensor();
}

}  // namespace

at::Tensor ptr_on_device(const std::optional<at::Tensor>& ptr, at::Device device, const char* name) {
  if (!given(ptr)) return at::Tensor();
  TORCH_CHECK(ptr->device() == device || ptr->device().is_cpu(), name, " must be on the CPU or on ", device,
              ", not on ", ptr->device());
  if (at::Tensor carried = carried_copy(*ptr, device); carried.defined()) return carried;
  return copy_to_device(*ptr, device);
}

at::Tensor ptr_with_device_copy(const at::Tensor& ptr, const at::Tensor& copy) {
  TORCH_CHECK(ptr.device().is_cpu(), "ptr must be on the CPU, not on ", ptr.device());
  TORCH_CHECK(copy.scalar_type() == ptr.scalar_type() && copy.sizes() == ptr.sizes(), "copy must be ",
              ptr.scalar_type(), " ", ptr.sizes(), " as ptr is, got ", copy.scalar_type(), " ", copy.sizes());
  at::Tensor carrier = ptr.detach();
  carrier.unsafeGetTensorImpl()->set_backend_meta(
      c10::make_intrusive<OffsetsCopy>(copy.contiguous(), version_of(carrier)));
  return carrier;
}

at::Tensor item_of_row_on_device(const std::optional<at::Tensor>& ptr, int64_t rows, at::Device device) {
  if (device.is_cpu()) return item_of_row(packed_offsets(ptr, rows, "ptr"));
  const at::Tensor row = at::arange(rows, at::TensorOptions().dtype(at::kLong).device(device));
  if (!given(ptr)) return at::zeros_like(row);
  TORCH_CHECK(rows == 0 || ptr->size(0) > 1, "ptr must have an item for the ", rows, " rows, got shape ", ptr->sizes());
  const at::Tensor item = at::searchsorted(ptr_on_device(ptr, device, "ptr"), row, /*out_int32=*/false, /*right=*/true);
  return (item - 1).clamp(0, ptr->size(0) - 2);
}

// Copies to a GPU through a pinned buffer that nothing else writes. LibTorch's caching allocator keeps the buffer until
// the copy is done or, in a capture, as long as the CUDA graph, which reads it in every replay.
at::Tensor copy_to_device(const at::Tensor& values, at::Device device) {
  if (!device.is_cuda() || !values.is_cpu()) return values.to(device, /*non_blocking=*/true).contiguous();
  const at::Tensor locked = at::empty(values.sizes(), values.options().pinned_memory(true)).copy_(values);
  return locked.to(device, /*non_blocking=*/true);
}

}  // namespace geosft
