// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "data/formats/hdf5_file.h"
#include "graph/laplacian_pe.h"
#include "graph/node_encoding.h"
#include "tools/experiment/arguments.h"
#include "tools/experiment/output_files.h"
#include "tools/graph/graph_experiment.h"

namespace geosft {
namespace {

// Encodes the nodes of a dataset; the footer of the subcommand describes the output file.
struct EncodeCommand {
  std::string data, out;
  int64_t steps = 20, vectors = 0, walks = 0;
  uint64_t seed = 0;
  GraphReadOptions reading;
  RuntimeOptions runtime;

  void add_walks(std::map<std::string, at::Tensor>& file, const GraphBatch& batch) const {
    if (steps == 0) return;
    const EncodedNodes found = encoded_nodes(batch, {NodeEncoding::random_walk, steps, walks, seed});
    file["random_walk"] = found.values;
    if (found.standard_error.defined()) file["random_walk_error"] = found.standard_error;
  }

  void add_vectors(std::map<std::string, at::Tensor>& file, const GraphBatch& batch) const {
    if (vectors == 0) return;
    const LaplacianEncoding found = undirected_laplacian_pe(batch, vectors);
    file["laplacian"] = found.vectors.to(at::kFloat);
    file["laplacian_values"] = found.values.to(at::kFloat);
  }

  int execute() const {
    if (steps == 0 && vectors == 0) throw UsageError("nothing to encode: --steps and --vectors are both 0");
    if (steps == 0 && walks > 0) throw UsageError("--walks estimates random walks, of which --steps says 0");
    if (walks == 1) throw UsageError("--walks must be 0 or at least 2: one walk a node has no standard error");
    if (!runtime.apply().is_cpu() && runtime.device != "auto") {
      throw UsageError("--device " + runtime.device + ": encodings are computed on the CPU");
    }
    const OpenedStructure opened = open_structure(data, reading);
    const GraphBatch& graphs = opened.graphs;
    std::map<std::string, at::Tensor> file = {{"ptr", graphs.ptr}};
    if (opened.ids.defined()) file["ids"] = opened.ids;
    add_walks(file, graphs);
    add_vectors(file, graphs);
    write_hdf5(out, file);
    std::cout << out << ": " << counted_items(graphs.items(), "graphs") << ", " << graphs.graph.nodes() << " nodes";
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
    "with --vectors laplacian [N, VECTORS] and laplacian_values [B, VECTORS]; of a single graph also ids [N] int64 "
    "(the numbers of its nodes in the file).";

}  // namespace

Command add_encode_command(CLI::App& subcommand) {
  auto command = std::make_shared<EncodeCommand>();
  const auto size = CLI::Range(0, 1000000);
  subcommand.add_option("DATA", command->data, "graph dataset, or one graph: a list of edges, or Matrix Market")
      ->required();
  as_output_file(subcommand.add_option("--out", command->out, "HDF5 file to write")->required());
  subcommand.add_option("--steps", command->steps, "steps of random walks; 0: none")
      ->check(size)
      ->capture_default_str();
  subcommand.add_option("--vectors", command->vectors, "eigenvectors of the Laplacian; 0: none")
      ->check(size)
      ->capture_default_str();
  subcommand.add_option("--walks", command->walks, "estimate from so many walks a node; 0: exact")
      ->check(size)
      ->capture_default_str();
  subcommand.add_option("--seed", command->seed, "of the estimate")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  add_read_options(subcommand, command->reading);
  command->runtime.add_to(subcommand);
  subcommand.footer(encode_footer);
  return [command] { return command->execute(); };
}

}  // namespace geosft
