// SPDX-License-Identifier: Apache-2.0
#include "tools/graph/graph_experiment.h"

namespace geosft {

AddCommand add_generate_command;  // generate_command.cpp

}  // namespace geosft

int main(int argc, char** argv) {
  using namespace geosft;
  return run_trainer<SequenceExperiment>(
      {.description = "Learning on sequences by the Sampling Foundational Transformer and the primal-dual attentions",
       .train = "train a model on a dataset of sequences and leave it in a RUN folder",
       .eval = "metrics of a trained model on a part of a dataset",
       .predict = "what a trained model says of each sequence of a dataset",
       .info = "what a RUN folder, a checkpoint or a dataset holds",
       .fetch = "download a published dataset, such as BasicMotions"},
      {{"generate", "write a synthetic dataset: ListOps or Pathfinder", add_generate_command},
       {"sweep", "train several configurations and tabulate their results", add_sweep_command<SequenceExperiment>}},
      argc, argv);
}
