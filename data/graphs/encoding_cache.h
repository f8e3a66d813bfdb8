// SPDX-License-Identifier: Apache-2.0
// Caches node encodings on disk, so that training, resuming, evaluating and predicting compute them once.
#pragma once

#include <filesystem>
#include <optional>

#include "graph/node_encoding.h"

namespace geosft {

// Returns the file in `folder` for an encoding. Its name depends on the graphs (structure, weights and items), the kind
// of encoding and its options.
std::filesystem::path encoding_file(const std::filesystem::path& folder, const GraphBatch& batch,
                                    const NodeEncodingOptions& options);

// Loads that file. Returns nothing if it is absent, damaged, or belongs to another encoding.
std::optional<EncodedNodes> stored_encoding(const std::filesystem::path& folder, const GraphBatch& batch,
                                            const NodeEncodingOptions& options);

// Loads encoded_nodes from that file or, if it is absent or damaged, computes and stores them. A result that cannot be
// stored (no folder, full disk) is computed again next time.
EncodedNodes cached_encoding(const std::filesystem::path& folder, const GraphBatch& batch,
                             const NodeEncodingOptions& options);

}  // namespace geosft
