// SPDX-License-Identifier: Apache-2.0
// Lists all benchmarks by name. Each kind has its own source file.
#pragma once

#include <string>
#include <vector>

#include "tools/bench/benchmark.h"

namespace geosft::bench {

using Entries = std::vector<Entry>;

// Makes a benchmark of this name.
using MakeBenchmark = Benchmark (*)(const Sizes& sizes, int64_t keys, Pass pass, const std::string& name);

// Appends an entry "<what>/k<keys>/<pass>" for each pass.
void append_passes(Entries& entries, const Sizes& sizes, int64_t keys, const std::string& what,
                   const std::string& about, MakeBenchmark make);
// Returns these entries for all numbers of keys.
Entries entries_by_keys(const Sizes& sizes, const std::string& what, const std::string& about, MakeBenchmark make);

Entries attention_entries(const Sizes& sizes);       // maxout_attention
Entries polynomial_entries(const Sizes& sizes);      // polynomial_attention
Entries relative_entries(const Sizes& sizes);        // point_attention, sequence_attention
Entries graph_entries(const Sizes& sizes);           // graph_attention
Entries primal_entries(const Sizes& sizes);          // primal_attention and its layers
Entries sampling_entries(const Sizes& sizes);        // sample_pairs, softmax pooling
Entries layer_entries(const Sizes& sizes);           // a whole layer
Entries model_entries(const Sizes& sizes);           // inference of whole encoders
Entries neighbour_entries(const Sizes& sizes);       // farthest point sampling, nearest neighbours
Entries encoding_entries(const Sizes& sizes);        // surface normals, sinusoids
Entries graph_encoding_entries(const Sizes& sizes);  // random walks, Laplacian eigenvectors
Entries training_entries(const Sizes& sizes);        // steps of the point classifier

Entries all_entries(const Sizes& sizes);

// Selects entries by `names`: a name, or a prefix of names up to a slash; all if empty. Throws UsageError with the
// nearest name if a name selects nothing.
Entries chosen_entries(const Entries& all, const std::vector<std::string>& names);

}  // namespace geosft::bench
