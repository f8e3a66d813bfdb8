// SPDX-License-Identifier: Apache-2.0
#include "tools/graph/graph_experiment.h"

int main(int argc, char** argv) {
  using namespace geosft;
  return run_trainer<GraphExperiment>(
      {.description = "Learning on graphs by the Sampling Foundational Transformer",
       .train = "train a model on a graph dataset and leave it in a RUN folder",
       .eval = "metrics of a trained model on a part of a dataset",
       .predict = "what a trained model says of each graph of a dataset",
       .info = "what a RUN folder, a checkpoint or a graph dataset holds",
       .fetch = "download a published dataset, such as MUTAG"},
      {{"encode", "encodings of the nodes of a graph dataset, to a file", add_encode_command},
       {"sweep", "train several configurations and tabulate their results", add_sweep_command<GraphExperiment>}},
      argc, argv);
}
