// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace geosft::bench {

// Bandwidth in bytes per second, read and written, of copying `bytes` (more than any cache holds) with `threads`
// threads: the best of several tries.
double measure_bandwidth(int64_t threads, int64_t bytes = int64_t{256} << 20);

}  // namespace geosft::bench
