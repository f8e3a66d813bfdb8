// SPDX-License-Identifier: Apache-2.0
// Runs copies on a CUDA stream of their own.
#pragma once

#include <ATen/ATen.h>

#include <functional>

namespace geosft {

// Calls `copy`, which creates a tensor on `device`, on the copy stream of the device: what it enqueues overlaps with
// earlier work of the current stream. The current stream waits for it before later work, and may use the tensor like
// its own. Must not be called during a capture.
at::Tensor on_copy_stream(at::Device device, const std::function<at::Tensor()>& copy);

}  // namespace geosft
