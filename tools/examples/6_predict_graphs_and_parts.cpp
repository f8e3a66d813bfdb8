// SPDX-License-Identifier: Apache-2.0
// Trained models of graphs and of parts in a program of your own: 6_predict_graphs_and_parts GRAPH_RUN DATASET PART_RUN
// FILE CLASS prints the most probable class of every graph, and how many points of the file are of which part.
#include <exception>
#include <iostream>

#include "data/graphs/graph_dataset.h"
#include "tools/experiment/graph_prediction.h"
#include "tools/segment/segment_prediction.h"

namespace {

void predict_graphs_of(const char* run, const char* dataset) {
  geosft::GraphRun trained = geosft::load_graph_run(run);
  const at::Tensor predictions =
      geosft::predict_graphs(trained, geosft::open_graph_dataset(dataset, trained.settings.reading()));
  if (!predictions.allclose(geosft::predict_dataset(trained, dataset)))
    throw std::runtime_error("two ways, two results");
  for (int64_t graph = 0; graph < predictions.size(0); ++graph) {
    const auto best = predictions[graph].argmax().item<int64_t>();
    std::cout << "graph " << graph << ": " << trained.schema.output_names.at(static_cast<size_t>(best)) << "\n";
  }
}

void count_parts(const char* run, const char* file, const char* category) {
  geosft::SegmentRun trained = geosft::load_segment_run(run);
  const geosft::PartPrediction found = geosft::predict_parts(trained, file, category, geosft::BlockKind::spread);
  const at::Tensor& parts = found.labels;
  // A cloud in memory: float32 or float64 [n, 3], with normals [n, 3] or without.
  const at::Tensor again = geosft::predict_parts(trained, found.points, {}, category).labels;
  if (again.sizes() != parts.sizes()) throw std::runtime_error("two ways, two numbers of parts");
  for (size_t part = 0; part < trained.parts.size(); ++part) {
    const auto count = parts.eq(static_cast<int64_t>(part)).sum().item<int64_t>();
    std::cout << trained.part_name(static_cast<int64_t>(part)) << ": " << count << " points\n";
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 6) throw std::runtime_error("usage: 6_predict_graphs_and_parts GRAPH_RUN DATASET PART_RUN FILE CLASS");
  predict_graphs_of(argv[1], argv[2]);
  count_parts(argv[3], argv[4], argv[5]);
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
