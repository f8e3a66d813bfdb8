// SPDX-License-Identifier: Apache-2.0
#include "tools/segment/segment_experiment.h"

namespace {

using geosft::SegmentExperiment;

const std::vector<geosft::Subcommand> subcommands = {
    {"train", "train a model of the parts of shapes and leave it in a RUN folder",
     geosft::add_cloud_train_command<SegmentExperiment>},
    {"eval", "how well a trained model finds the parts, upright or rotated",
     geosft::add_cloud_eval_command<SegmentExperiment>},
    {"predict", "the part of every point of some files", geosft::add_cloud_predict_command<SegmentExperiment>},
    {"info", "what a RUN folder, a checkpoint, a dataset or a shape file holds",
     geosft::add_cloud_info_command<SegmentExperiment>},
    {"list", "pretrained models: their names may stand for a RUN folder",
     geosft::add_cloud_list_command<SegmentExperiment>},
};

constexpr const char* description = "Parts of 3D shapes by the Sampling Foundational Transformer";

}  // namespace

int main(int argc, char** argv) {
  return geosft::run_tool(SegmentExperiment::Task::program,
                          [&] { return geosft::run_subcommands(description, subcommands, argc, argv); });
}
