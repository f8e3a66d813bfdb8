// SPDX-License-Identifier: Apache-2.0
// How much memory a computation needs at its peak.
#pragma once

#include <cstdint>
#include <functional>

namespace geosft::bench {

// The most bytes of tensors that existed at any moment of `body` beyond those that existed before it, on all threads:
// temporaries, results and gradients. Counted in LibTorch's CPU allocator, so the number is exact and does not depend
// on what malloc keeps; scratch that kernels take from malloc themselves (a constant a thread) is not in it. The
// process's peak resident size would be, but also pages that malloc holds on to from one call to the next, and it does
// not fall.
int64_t peak_tensor_bytes(const std::function<void()>& body);

}  // namespace geosft::bench
