// SPDX-License-Identifier: Apache-2.0
#include "tools/graph/graph_experiment.h"
#include "tools/graph/report_command.h"

namespace geosft {

AddCommand add_generate_command;  // generate_command.cpp

}  // namespace geosft

int main(int argc, char** argv) {
  geosft::run_trainer<geosft::SequenceExperiment>(
      {geosft::graph_report_subcommand<geosft::SequenceExperiment>,
       {"generate", "write a synthetic dataset: ListOps, Pathfinder, pictures of shapes or pairs of documents",
        geosft::add_generate_command},
       geosft::sweep_subcommand<geosft::SequenceExperiment>},
      argc, argv);
}
