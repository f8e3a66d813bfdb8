// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include <optional>

namespace geosft {

// `ptr` (argument `name`) of a packed batch, contiguous and on `device`; undefined where there is none. Offsets may
// stay on the CPU while the rows are on a GPU: how many rows there are can then be told without waiting for it, and the
// copy waits for nothing either. On any other device: an error. Offsets of what an operator makes (sample_ptr of
// sample_pairs) are on the device of the ptr that was given.
at::Tensor offsets_on(const std::optional<at::Tensor>& ptr, at::Device device, const char* name);

}  // namespace geosft
