// SPDX-License-Identifier: Apache-2.0
// What a trained model answers to graphs and sequences, for programs that are not a tool of this project.
#pragma once

#include <ATen/ATen.h>

#include <filesystem>

#include "tools/graph/graph_run_model.h"

namespace geosft {

// Answers to graphs, averaged over the votes of the run: float [B, outputs], or [N, outputs] where answers are
// of nodes; columns are trained.schema.output_names. Of classes and labels they are probabilities, of a regression
// values in the units of the dataset. Features must be those of trained.schema, on the CPU; node_encoding is computed
// here. Where the run estimates it that is said on stderr, with the standard error; an estimate's draws follow the rows
// of the batch, so that a graph's depends on what stands before it. Throws DataError naming the member that is wrong,
// c10::Error for graphs that are none. Threads may share `trained`.
at::Tensor graph_answers(GraphRunModel& trained, const FeaturedGraphs& graphs);

// Such graphs as items of a dataset, encoded as the model takes them, with targets that say nothing. Throws as above.
PackedItems without_answers(const GraphRunModel& trained, const FeaturedGraphs& graphs);

// Answers to all items of a dataset, read as the one that the run was trained on: encodings come from the cache, and
// sequences are cut short and put into patches as they were. Throws DataError for a broken dataset, or one with other
// features or outputs.
at::Tensor dataset_answers(GraphRunModel& trained, const std::filesystem::path& dataset);

}  // namespace geosft
