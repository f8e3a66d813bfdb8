// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/main_guard.h"
#include "tools/graph/commands.h"
#include "tools/sequence/commands.h"

namespace {

// Adds a subcommand of geosft-graph with the words for sequences.
template <geosft::Command (*kAdd)(CLI::App&, const geosft::ItemWords&)>
geosft::Command of_sequences(CLI::App& subcommand) {
  return kAdd(subcommand, geosft::sequence_words());
}

const std::vector<geosft::Subcommand> subcommands = {
    {"train", "train a model on a dataset of sequences and leave it in a RUN folder",
     of_sequences<geosft::add_graph_train_command>},
    {"eval", "metrics of a trained model on a part of a dataset", of_sequences<geosft::add_graph_eval_command>},
    {"predict", "what a trained model says of each sequence of a dataset",
     of_sequences<geosft::add_graph_predict_command>},
    {"info", "what a RUN folder, a checkpoint or a dataset holds", of_sequences<geosft::add_graph_info_command>},
    {"generate", "write a synthetic dataset: ListOps or Pathfinder", geosft::add_generate_command},
    {"sweep", "train several configurations and tabulate their results", of_sequences<geosft::add_graph_sweep_command>},
};

constexpr const char* description =
    "Learning on sequences by the Sampling Foundational Transformer and the primal-dual attentions";

}  // namespace

int main(int argc, char** argv) {
  return geosft::run_tool("geosft-sequence",
                          [&] { return geosft::run_subcommands(description, subcommands, argc, argv); });
}
