// SPDX-License-Identifier: Apache-2.0
// Applies dropout whose mask is a function of a seed.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

namespace geosft {

// Inverted dropout of x (any shape; float32, float64, or float16 and bfloat16): every element is 0 with the given
// probability (in [0, 1), in steps of 2^-16), otherwise divided by the share that is kept. The mask is a function of
// (seed, place) alone, so it is never stored: the backward pass recomputes it. `seed`, int64 with one
// element, is on the device of x, and never read by the host there. The same bits on any number of threads, and the
// same mask on every device. `first` (0 or more) is the place of the first element, for an x that is a part of a larger
// tensor: parts lose the elements that the whole would lose.
at::Tensor seeded_dropout(const at::Tensor& x, double probability, const at::Tensor& seed, int64_t first = 0);

// Throws unless the arguments are as above; used by the kernels of each device.
void check_dropout(const at::Tensor& x, double probability, const at::Tensor& seed, int64_t first);

}  // namespace geosft
