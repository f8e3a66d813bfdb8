// SPDX-License-Identifier: Apache-2.0
// Caches node encodings on disk, so that training, resuming, evaluating and predicting compute them once.
#pragma once

#include <filesystem>
#include <optional>

#include "graph/node_encoding.h"

namespace geosft {

// Which file of `folder` an encoding lies in: told from others by the graphs (their structure, weights and items), the
// kind and its options.
std::filesystem::path encoding_file(const std::filesystem::path& folder, const GraphBatch& batch,
                                    const NodeEncodingOptions& options);

// What that file holds: nothing where it is absent, damaged, or of something else.
std::optional<EncodedNodes> stored_encoding(const std::filesystem::path& folder, const GraphBatch& batch,
                                            const NodeEncodingOptions& options);

// encoded_nodes from that file, or, where it is absent or damaged, computed and stored. What cannot be kept (an empty
// folder, a full disk) is computed the next time again.
EncodedNodes cached_encoding(const std::filesystem::path& folder, const GraphBatch& batch,
                             const NodeEncodingOptions& options);

}  // namespace geosft
