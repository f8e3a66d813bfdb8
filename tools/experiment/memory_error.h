// SPDX-License-Identifier: Apache-2.0
// What can be said when there is too little memory.
#pragma once

#include <exception>
#include <optional>
#include <string>

namespace geosft {

// "out of memory", and how much was wanted where that is known; nothing for other errors. LibTorch's allocators, on the
// CPU and on a GPU, and C++'s are understood, and what CUDA and its libraries say of memory that they want themselves.
std::optional<std::string> memory_error(const std::exception_ptr& error);

// What helps against it, in general.
inline constexpr const char* smaller_batches =
    ". A smaller --batch-size (when evaluating: --evaluation-batch) needs less in proportion; of one large cloud, "
    "geosft-segment's --block N.";
inline constexpr const char* one_large_cloud = "; of one large cloud, geosft-segment's --block N needs less";

}  // namespace geosft
