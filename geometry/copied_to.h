// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

namespace geosft {

// `values`, which the host made for an operator, contiguous and on `device`. Nothing waits for a copy, and one on
// another device has the values of this call, whatever becomes of `values` then.
at::Tensor copied_to(const at::Tensor& values, at::Device device);

}  // namespace geosft
