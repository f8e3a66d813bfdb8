// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include <functional>

namespace geosft {

// The tensor on `device` that `copy` makes, on a stream that is for copies alone, one for each device: what it enqueues
// there happens beside what the device computes so far. The current stream waits for it before what comes next, and has
// the tensor as if it were its own. No part of a capture.
at::Tensor on_copy_stream(at::Device device, const std::function<at::Tensor()>& copy);

}  // namespace geosft
