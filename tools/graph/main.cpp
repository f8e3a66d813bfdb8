// SPDX-License-Identifier: Apache-2.0
#include "tools/graph/graph_experiment.h"
#include "tools/graph/report_command.h"

int main(int argc, char** argv) {
  geosft::run_trainer<geosft::GraphExperiment>(
      {geosft::graph_report_subcommand<geosft::GraphExperiment>,
       {"encode", "encodings of the nodes of a graph dataset, to a file", geosft::add_encode_command},
       geosft::sweep_subcommand<geosft::GraphExperiment>},
      argc, argv);
}
