// SPDX-License-Identifier: Apache-2.0
// Detects out-of-memory errors and describes them.
#pragma once

#include <exception>
#include <optional>
#include <string>

namespace geosft {

// Returns "out of memory" with the requested size if known; nullopt for other errors. Recognises errors of LibTorch's
// CPU and GPU allocators, of C++ allocation, and of CUDA and its libraries.
std::optional<std::string> memory_error(const std::exception_ptr& error);

// General advice, appended to the message.
inline constexpr const char* smaller_batches =
    ". A smaller --batch-size (when evaluating: --evaluation-batch) needs less in proportion; of one large cloud, "
    "geosft-segment's --block N.";
inline constexpr const char* one_large_cloud = "; of one large cloud, geosft-segment's --block N needs less";

}  // namespace geosft
