// SPDX-License-Identifier: Apache-2.0
#include "tools/graph/graph_experiment.h"

int main(int argc, char** argv) {
  return geosft::run_trainer<geosft::GraphExperiment>(
      {{"encode", "encodings of the nodes of a graph dataset, to a file", geosft::add_encode_command},
       geosft::sweep_subcommand<geosft::GraphExperiment>},
      argc, argv);
}
