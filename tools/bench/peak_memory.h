// SPDX-License-Identifier: Apache-2.0
// Peak memory of a computation.
#pragma once

#include <cstdint>
#include <functional>

namespace geosft::bench {

// The maximum number of bytes of tensors alive at any moment of `body`, beyond those that existed before, on all
// threads: temporaries, results and gradients. It is counted in LibTorch's CPU allocator, so it is exact and does not
// depend on what malloc keeps. Scratch memory that kernels get from malloc (a constant per thread) is not included. The
// peak resident size of the process would include it, but also pages that malloc keeps between calls, and it never
// falls.
int64_t peak_tensor_bytes(const std::function<void()>& body);

}  // namespace geosft::bench
