// SPDX-License-Identifier: Apache-2.0
#include "tools/experiment/main_guard.h"
#include "tools/experiment/zoo.h"
#include "tools/segment/commands.h"

namespace {

geosft::Command add_list_command(CLI::App& subcommand) {
  return geosft::list_command(subcommand, "geosft-segment");
}

const std::vector<geosft::Subcommand> subcommands = {
    {"train", "train a model of the parts of shapes and leave it in a RUN folder", geosft::add_segment_train_command},
    {"eval", "how well a trained model finds the parts, upright or rotated", geosft::add_segment_eval_command},
    {"predict", "the part of every point of some files", geosft::add_segment_predict_command},
    {"info", "what a RUN folder, a checkpoint, a dataset or a shape file holds", geosft::add_segment_info_command},
    {"list", "pretrained models: their names may stand for a RUN folder", add_list_command},
};

constexpr const char* description = "Parts of 3D shapes by the Sampling Foundational Transformer";

}  // namespace

int main(int argc, char** argv) {
  return geosft::run_tool("geosft-segment",
                          [&] { return geosft::run_subcommands(description, subcommands, argc, argv); });
}
