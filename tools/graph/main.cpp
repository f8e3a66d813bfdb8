// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/list_command.h"
#include "tools/experiment/main_guard.h"
#include "tools/graph/commands.h"

namespace {

// Adds a subcommand with the words for graphs.
template <geosft::Command (*kAdd)(CLI::App&, const geosft::ItemWords&)>
geosft::Command of_graphs(CLI::App& subcommand) {
  return kAdd(subcommand, geosft::graph_words());
}

geosft::Command add_list_command(CLI::App& subcommand) {
  return geosft::list_command(subcommand, "geosft-graph");
}

const std::vector<geosft::Subcommand> subcommands = {
    {"train", "train a model on a graph dataset and leave it in a RUN folder",
     of_graphs<geosft::add_graph_train_command>},
    {"eval", "metrics of a trained model on a part of a dataset", of_graphs<geosft::add_graph_eval_command>},
    {"predict", "what a trained model says of each graph of a dataset", of_graphs<geosft::add_graph_predict_command>},
    {"info", "what a RUN folder, a checkpoint or a graph dataset holds", of_graphs<geosft::add_graph_info_command>},
    {"encode", "encodings of the nodes of a graph dataset, to a file", geosft::add_graph_encode_command},
    {"sweep", "train several configurations and tabulate their results", of_graphs<geosft::add_graph_sweep_command>},
    {"list", "pretrained models: their names may stand for a RUN folder", add_list_command},
};

constexpr const char* description = "Learning on graphs by the Sampling Foundational Transformer";

}  // namespace

int main(int argc, char** argv) {
  return geosft::run_tool("geosft-graph",
                          [&] { return geosft::run_subcommands(description, subcommands, argc, argv); });
}
