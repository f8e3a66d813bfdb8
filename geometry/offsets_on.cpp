// SPDX-License-Identifier: Apache-2.0
#include "geometry/offsets_on.h"

#include "geometry/packed.h"

namespace geosft {

at::Tensor offsets_on(const std::optional<at::Tensor>& ptr, at::Device device, const char* name) {
  if (!given(ptr)) return at::Tensor();
  TORCH_CHECK(ptr->device() == device || ptr->device().is_cpu(), name, " must be on the CPU or on ", device,
              ", not on ", ptr->device());
  return ptr->to(device, /*non_blocking=*/true).contiguous();
}

}  // namespace geosft
