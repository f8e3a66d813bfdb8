// SPDX-License-Identifier: Apache-2.0
// Measures the peak memory of a computation.
#pragma once

#include <cstdint>
#include <functional>

namespace geosft::bench {

// Returns the peak bytes of tensors alive during `body` on all threads, beyond those that existed before: temporaries,
// results and gradients. It is counted in LibTorch's CPU allocator, so it is exact and independent of malloc's caching.
// Scratch memory that kernels allocate with malloc (a constant per thread) is not included. The peak resident set size
// would include it, but also pages cached by malloc, and it never decreases.
int64_t peak_tensor_bytes(const std::function<void()>& body);

}  // namespace geosft::bench
