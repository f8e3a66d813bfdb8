// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace geosft::bench {

// Returns the copy bandwidth in bytes per second, reads plus writes, of `bytes` (larger than any cache) with `threads`
// threads: the best of several tries.
double measure_bandwidth(int64_t threads, int64_t bytes = int64_t{256} << 20);

}  // namespace geosft::bench
