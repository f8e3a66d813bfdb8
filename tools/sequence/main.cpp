// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/main_guard.h"
#include "tools/graph/graph_experiment.h"

namespace geosft {

Command add_generate_command(CLI::App& subcommand);  // generate_command.cpp

}  // namespace geosft

namespace {

using geosft::SequenceExperiment;

const std::vector<geosft::Subcommand> subcommands = {
    {"train", "train a model on a dataset of sequences and leave it in a RUN folder",
     geosft::add_train_command<SequenceExperiment>},
    {"eval", "metrics of a trained model on a part of a dataset", geosft::add_eval_command<SequenceExperiment>},
    {"predict", "what a trained model says of each sequence of a dataset",
     geosft::add_predict_command<SequenceExperiment>},
    {"info", "what a RUN folder, a checkpoint or a dataset holds", geosft::add_info_command<SequenceExperiment>},
    {"generate", "write a synthetic dataset: ListOps, Pathfinder or pictures of shapes", geosft::add_generate_command},
    {"sweep", "train several configurations and tabulate their results", geosft::add_sweep_command<SequenceExperiment>},
    {"list", "pretrained models: their names may stand for a RUN folder", geosft::add_list_command<SequenceExperiment>},
    {"fetch", "download a published dataset, such as BasicMotions", geosft::add_fetch_command<SequenceExperiment>},
};

constexpr const char* description =
    "Learning on sequences by the Sampling Foundational Transformer and the primal-dual attentions";

}  // namespace

int main(int argc, char** argv) {
  return geosft::run_tool(SequenceExperiment::program,
                          [&] { return geosft::run_subcommands(description, subcommands, argc, argv); });
}
