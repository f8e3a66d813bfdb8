// SPDX-License-Identifier: Apache-2.0
#include "tools/classify/commands.h"
#include "tools/experiment/main_guard.h"
#include "tools/experiment/zoo.h"

namespace {

geosft::Command add_list_command(CLI::App& subcommand) {
  return geosft::list_command(subcommand, "geosft-classify");
}

const std::vector<geosft::Subcommand> subcommands = {
    {"train", "train a classifier on a dataset and leave it in a RUN folder", geosft::add_train_command},
    {"eval", "accuracy of a trained classifier, upright or rotated", geosft::add_eval_command},
    {"predict", "class of each of some files", geosft::add_predict_command},
    {"info", "what a RUN folder, a checkpoint or a shape file holds", geosft::add_info_command},
    {"export", "write a dataset as arrays, in the HDF5 form of ModelNet40", geosft::add_export_command},
    {"list", "pretrained models: their names may stand for a RUN folder", add_list_command},
};

constexpr const char* description = "Classification of 3D shapes by the Sampling Foundational Transformer";

}  // namespace

int main(int argc, char** argv) {
  return geosft::run_tool("geosft-classify",
                          [&] { return geosft::run_subcommands(description, subcommands, argc, argv); });
}
