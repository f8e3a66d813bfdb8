// SPDX-License-Identifier: Apache-2.0
// Predicts outputs for graphs and sequences.
#pragma once

#include <ATen/ATen.h>

#include <filesystem>
#include <string>

#include "tools/experiment/graph_learning.h"

namespace geosft {

// Returns predictions averaged over the votes of the run: float [B, outputs], or [N, outputs] for node tasks; columns
// are trained.schema.output_names. These are probabilities of classes and labels, or regression values in the dataset's
// units. Features must match trained.schema, on the CPU; node_encoding is computed here. If the run estimates it, the
// standard error is printed to stderr; the random walks are sampled by row of the batch, so that a graph's estimate
// depends on the graphs before it. Throws DataError naming the invalid member, c10::Error for invalid graphs.
// Thread-safe for a shared `trained`.
at::Tensor predict_graphs(GraphRun& trained, const FeaturedGraphs& graphs);

// Returns predictions for all items of a dataset, read with the settings of the run: encodings come from the cache, and
// sequences are truncated and split into patches as in training. Throws DataError for an invalid dataset, or one with
// other features or outputs.
at::Tensor predict_dataset(GraphRun& trained, const std::filesystem::path& dataset);

// Returns unlabelled graphs as dataset items, encoded for the model, with unknown targets. Throws as
// predict_graphs.
PackedItems unlabelled_items(const GraphRun& trained, const FeaturedGraphs& graphs);

}  // namespace geosft
