// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/main_guard.h"
#include "tools/graph/graph_experiment.h"

namespace {

using geosft::GraphExperiment;

const std::vector<geosft::Subcommand> subcommands = {
    {"train", "train a model on a graph dataset and leave it in a RUN folder",
     geosft::add_train_command<GraphExperiment>},
    {"eval", "metrics of a trained model on a part of a dataset", geosft::add_eval_command<GraphExperiment>},
    {"predict", "what a trained model says of each graph of a dataset", geosft::add_predict_command<GraphExperiment>},
    {"info", "what a RUN folder, a checkpoint or a graph dataset holds", geosft::add_info_command<GraphExperiment>},
    {"encode", "encodings of the nodes of a graph dataset, to a file", geosft::add_encode_command},
    {"sweep", "train several configurations and tabulate their results", geosft::add_sweep_command<GraphExperiment>},
    {"list", "pretrained models: their names may stand for a RUN folder", geosft::add_list_command<GraphExperiment>},
    {"fetch", "download a published dataset, such as MUTAG", geosft::add_fetch_command<GraphExperiment>},
};

constexpr const char* description = "Learning on graphs by the Sampling Foundational Transformer";

}  // namespace

int main(int argc, char** argv) {
  geosft::end_tool(geosft::run_tool(GraphExperiment::program,
                                    [&] { return geosft::run_subcommands(description, subcommands, argc, argv); }));
}
