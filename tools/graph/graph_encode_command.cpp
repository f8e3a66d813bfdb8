// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "data/hdf5_file.h"
#include "graph/laplacian_pe.h"
#include "graph/node_encoding.h"
#include "graph/random_walk_pe_estimate.h"
#include "tools/common/arguments.h"
#include "tools/common/runtime_options.h"
#include "tools/graph/commands.h"
#include "tools/graph/graph_data.h"

namespace geosft {
namespace {

// Which encodings of which data go where; see the footer of the verb for what is written.
struct GraphEncodeCommand {
  std::string data, out;
  int64_t steps = 20, vectors = 0, walks = 0;
  uint64_t seed = 0;
  RuntimeOptions runtime;

  void add_walks(std::map<std::string, at::Tensor>& file, const GraphBatch& batch) const {
    if (steps == 0) return;
    if (walks == 0) {
      file["random_walk"] = encoded_nodes(batch, NodeEncoding::random_walk, steps);
      return;
    }
    const auto weight = batch.graph.weight.defined() ? std::optional(batch.graph.weight) : std::nullopt;
    const RandomWalkEstimate found =
        random_walk_pe_estimate(batch.graph.rowptr, batch.graph.col, steps, walks, seed, weight);
    file["random_walk"] = found.mean.to(at::kFloat);
    file["random_walk_error"] = found.standard_error.to(at::kFloat);
  }

  void add_vectors(std::map<std::string, at::Tensor>& file, const GraphBatch& batch) const {
    if (vectors == 0) return;
    const CsrGraph graph = symmetrized(batch.graph);
    const auto weight = graph.weight.defined() ? std::optional(graph.weight) : std::nullopt;
    const LaplacianEncoding found = laplacian_pe(graph.rowptr, graph.col, vectors, batch.ptr, weight);
    file["laplacian"] = found.vectors.to(at::kFloat);
    file["laplacian_values"] = found.values.to(at::kFloat);
  }

  int execute() const {
    if (steps == 0 && vectors == 0) throw UsageError("nothing to encode: --steps and --vectors are both 0");
    if (steps == 0 && walks > 0) throw UsageError("--walks estimates random walks, of which --steps says 0");
    if (walks == 1) throw UsageError("--walks must be 0 or at least 2: one walk a node has no standard error");
    runtime.apply();
    const PackedGraphs graphs = open_graphs(data);
    std::map<std::string, at::Tensor> file = {{"ptr", graphs.graphs.ptr}};
    add_walks(file, graphs.graphs);
    add_vectors(file, graphs.graphs);
    write_hdf5(out, file);
    std::cout << out << ": " << graphs.size() << " graphs, " << graphs.graphs.graph.nodes() << " nodes";
    for (const auto& [name, tensor] : file) {
      if (tensor.dim() == 2) std::cout << ", " << name << ' ' << tensor.size(1);
    }
    std::cout << '\n';
    return 0;
  }
};

constexpr const char* encode_footer =
    "The HDF5 file holds ptr [B + 1] int64 (graph b owns the nodes ptr[b] to ptr[b + 1] - 1) and float32 random_walk "
    "[N, "
    "STEPS] (probabilities of being back after 1, 2, ... steps), with --walks random_walk_error (their standard "
    "errors), "
    "with --vectors laplacian [N, VECTORS] and laplacian_values [B, VECTORS].";

}  // namespace

Command add_graph_encode_command(CLI::App& verb) {
  auto command = std::make_shared<GraphEncodeCommand>();
  const auto size = CLI::Range(0, 1000000);
  verb.add_option("DATA", command->data, "graph dataset")->required();
  verb.add_option("--out", command->out, "HDF5 file to write")->required();
  verb.add_option("--steps", command->steps, "steps of random walks; 0: none")->check(size)->capture_default_str();
  verb.add_option("--vectors", command->vectors, "eigenvectors of the Laplacian; 0: none")
      ->check(size)
      ->capture_default_str();
  verb.add_option("--walks", command->walks, "estimate from so many walks a node; 0: exact")
      ->check(size)
      ->capture_default_str();
  verb.add_option("--seed", command->seed, "of the estimate")->check(CLI::NonNegativeNumber)->capture_default_str();
  command->runtime.add_to(verb);
  verb.footer(encode_footer);
  return [command] { return command->execute(); };
}

}  // namespace geosft
