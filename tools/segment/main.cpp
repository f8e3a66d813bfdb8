// SPDX-License-Identifier: Apache-2.0
#include "tools/segment/segment_experiment.h"

namespace {

using geosft::SegmentExperiment;

const std::vector<geosft::Subcommand> subcommands = {
    {"train", "train a model of the parts of shapes and leave it in a RUN folder",
     geosft::add_train_command<SegmentExperiment>},
    {"eval", "how well a trained model finds the parts, upright or rotated",
     geosft::add_eval_command<SegmentExperiment>},
    {"predict", "the part of every point of some files", geosft::add_predict_command<SegmentExperiment>},
    {"info", "what a RUN folder, a checkpoint, a dataset or a shape file holds",
     geosft::add_info_command<SegmentExperiment>},
    {"list", "pretrained models: their names may stand for a RUN folder", geosft::add_list_command<SegmentExperiment>},
    {"report", "one HTML page on a run: curves, tables, and its worst mistakes, drawn",
     geosft::add_report_command<SegmentExperiment>},
    {"fetch", "download a published dataset", geosft::add_fetch_command<SegmentExperiment>},
};

constexpr const char* description = "Parts of 3D shapes by the Sampling Foundational Transformer";

}  // namespace

int main(int argc, char** argv) {
  geosft::end_tool(geosft::run_tool(SegmentExperiment::program,
                                    [&] { return geosft::run_subcommands(description, subcommands, argc, argv); }));
}
