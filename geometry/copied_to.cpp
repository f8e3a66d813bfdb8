// SPDX-License-Identifier: Apache-2.0
#include "geometry/copied_to.h"

namespace geosft {

// To a GPU through page-locked memory of the copy's own, which nothing else writes before it is read. LibTorch's
// allocator keeps it until then; of a capture, as long as there is the graph, which reads it in every replay.
at::Tensor copied_to(const at::Tensor& values, at::Device device) {
  if (!device.is_cuda() || !values.is_cpu()) return values.to(device, /*non_blocking=*/true).contiguous();
  const at::Tensor locked = at::empty(values.sizes(), values.options().pinned_memory(true)).copy_(values);
  return locked.to(device, /*non_blocking=*/true);
}

}  // namespace geosft
