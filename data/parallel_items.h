// SPDX-License-Identifier: Apache-2.0
// Loops over items of very different cost, such as files.
#pragma once

#include <cstdint>
#include <functional>

namespace geosft {

// Calls work(0) … work(count - 1) from at most `threads` threads, each taking the next item when it is free. After a
// call has thrown no further item is begun, and the exception of the lowest item is rethrown.
void parallel_items(int64_t count, int64_t threads, const std::function<void(int64_t)>& work);

// Keeps LibTorch's own parallel loops off the calling thread: to be called once by a thread that is one of many.
void run_torch_single_threaded_here();

}  // namespace geosft
